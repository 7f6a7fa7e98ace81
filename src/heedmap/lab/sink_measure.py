"""The share of attention on the first token: of a batch of sentences, and of their controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.lab.passes import listen_to_batch
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import AttentionLayer
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_allowed import keys_allowed
from heedmap.reading.statistics_cells import allowed_cells
from heedmap.reading.statistics_summary import mean, median

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Tokens

CONTROLS = ("other", "marker", "shifted")
"""Another first word; a begin-of-text token (or none, where the tokenizer adds one); words put before."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A sentence, or a changed one.

    Attributes:
        ids: the tokens that run.
        word: the token with which the sentence's own first word begins.
    """

    ids: list[int]
    word: int


def sentence_and_controls(
    model: Model, text: str, special_tokens: bool | None, other_word: str, before: str
) -> dict[str, Variant]:
    """The sentence as it is ("itself") and as each control has it; a control that cannot be made is left out."""
    tokens = model.tokenize(text, special_tokens=special_tokens)
    word = next((token.index for token in tokens if not token.special), 0)
    found = {"itself": Variant(tokens.ids, word)}
    words = tokens.words()
    if words:
        first = words[0]
        assert first.start is not None, "words stand in the text"
        changed = f"{text[: first.start]}{other_word}{text[first.end :]}"
        found["other"] = Variant(model.tokenize(changed, special_tokens=special_tokens).ids, word)
        shifted = model.tokenize(f"{before} {text}", special_tokens=special_tokens)
        moved = len(before) + 1 + first.start
        place = next((token.index for token in shifted if token.end is not None and token.end > moved), None)
        if place is not None:
            found["shifted"] = Variant(shifted.ids, place)
    marked = _with_or_without_marker(model, tokens, text)
    if marked is not None:
        found["marker"] = marked
    return found


def _with_or_without_marker(model: Model, tokens: Tokens, text: str) -> Variant | None:
    """The sentence behind a begin-of-text token where it had none, and without special tokens where it had some."""
    if tokens.special_tokens_added:
        plain = model.tokenize(text, special_tokens=False)
        return Variant(plain.ids, 0)
    for name in ("bos_token_id", "cls_token_id", "eos_token_id"):
        marker = getattr(model.tokenizer, name, None)
        if isinstance(marker, int):
            return Variant([marker, *tokens.ids], 1)
    return None


def measure_sentences(model: Model, variants: Sequence[Variant], most: int) -> list[dict[str, Any]]:
    """For each sentence the share on its first token, at no more than `most` positions after the first.

    Returns:
        a row each: `positions` [position]; `share` [layer, position], the mean over heads; `even` [layer, position],
        what an even look would give; `head_mean` and `head_median` [layer, head], over the positions.
    """
    places = [_places(len(variant.ids), most) for variant in variants]
    layers: list[list[dict[str, np.ndarray]]] = [[] for _ in variants]
    even: dict[Any, np.ndarray] = {}

    def listen(layer: AttentionLayer, call: AttentionCall, texts: range) -> None:
        shares = call.made_exact().weights(slice(None), slice(0, 1))[..., 0].cpu().numpy()
        for row, text in enumerate(texts):
            key = (text, call.rule.back, call.rule.ahead) if call.rule.is_band_and_padding else (text, layer)
            if key not in even:
                even[key] = _even_share(call.rule.for_text(row), call.query.device)
            here = shares[row][:, places[text]]
            layers[text].append(
                {
                    "share": mean(here.T).astype(np.float32),
                    "even": even[key][places[text]].astype(np.float32),
                    "head_mean": mean(here).astype(np.float32),
                    "head_median": median(here).astype(np.float32),
                }
            )

    listen_to_batch(model, [variant.ids for variant in variants], listen)
    return [
        {
            "positions": place.astype(np.int32),
            "tokens": len(variant.ids),
            **{name: np.stack([layer[name] for layer in measured]) for name in measured[0]},
        }
        for variant, place, measured in zip(variants, places, layers, strict=True)
    ]


def measure_controls(model: Model, variants: Sequence[Variant]) -> list[dict[str, np.ndarray]]:
    """For each changed sentence the mean share on place 0 and on its own first word, each [layer].

    Both are means over heads and over the tokens after that word. What begins with its own word has one place for both.
    """
    layers: list[dict[str, list[float]]] = [{"place": [], "word": []} for _ in variants]
    reach = max(variant.word for variant in variants) + 1

    def listen(layer: AttentionLayer, call: AttentionCall, texts: range) -> None:
        shares = call.made_exact().weights(slice(None), slice(0, reach)).mean(1).cpu().numpy()
        for row, text in enumerate(texts):
            variant = variants[text]
            after = shares[row, variant.word + 1 : len(variant.ids)]
            for name, key in (("place", 0), ("word", variant.word)):
                layers[text][name].append(float(mean(after[:, key])) if len(after) else np.nan)

    listen_to_batch(model, [variant.ids for variant in variants], listen)
    return [{name: np.array(values, np.float32) for name, values in one.items()} for one in layers]


def _places(tokens: int, most: int) -> np.ndarray:
    """The positions that count: all after the first, or `most` of them evenly spread.

    Example:
        >>> _places(4, 100).tolist(), _places(101, 3).tolist()
        ([1, 2, 3], [1, 50, 100])
    """
    if tokens - 1 <= most:
        return np.arange(1, tokens)
    return np.unique(np.linspace(1, tokens - 1, most).astype(int))


def _even_share(rule: MaskRule, device: torch.device) -> np.ndarray:
    """What each query would give the first token if it looked at all it may evenly, [query]."""
    rows = torch.arange(rule.queries, device=device)
    may = allowed_cells(rule, rows, torch.zeros_like(rows))
    shares = may / keys_allowed(rule, device).clamp(min=1)
    found: np.ndarray = shares.to(torch.float64).mean(0).cpu().numpy()
    return found
