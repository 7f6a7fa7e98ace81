"""How much the word, and the tokens after the words that decide, look at noun A and at noun B, in every head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedmap.lab.data import Pair
from heedmap.lab.data.difference import difference
from heedmap.lab.data.places import exchanged, noun_place, place_of
from heedmap.lab.passes import listen_to_batch
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import AttentionLayer

if TYPE_CHECKING:
    from heedmap.lab.heads import HeadsSettings
    from heedmap.lab.rows import Row
    from heedmap.reading.model import Model
    from heedmap.text.labels import Span

Numbers = NDArray[np.float32]

ORDERS = VERSIONS = NOUNS = 2
WORD, AFTER = 0, 1
"""Who looks: the word, or the tokens after the words that decide."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One text, and which tokens look at which.

    Attributes:
        ids: the tokens that run.
        looking: the tokens of the word, and those after the words that decide (none, where nothing comes after them).
        nouns: the tokens of noun A and of noun B.
        first: which noun stands first, 0 or 1.
        decided_after: whether the words that decide come after the word, so that a causal model cannot have seen them.
    """

    ids: list[int]
    looking: tuple[tuple[int, ...], tuple[int, ...]]
    nouns: tuple[tuple[int, ...], tuple[int, ...]]
    first: int
    decided_after: bool


def measure(model: Model, pairs: Sequence[Pair], settings: HeadsSettings) -> Iterator[Row]:
    """One row a pair.

    `weights` is [looking, order, version, head, noun], with all heads of all layers in one axis; `layer` and `head`
    [head] are their numbers. `left_out` says why a pair cannot be used, and is empty where it can.
    """
    asked = [_texts_of(model, pair, settings) for pair in pairs]
    texts = [text for one in asked if not isinstance(one, str) for text in one]
    found = _weights(model, texts) if texts else np.zeros((0, 2, 0, NOUNS), np.float32)
    numbers = [(layer.number, head) for layer in model.layers for head in range(layer.heads)]
    reached = 0
    for pair, one in zip(pairs, asked, strict=True):
        row: dict[str, Any] = {
            "family": pair.family,
            "text": pair.texts[0],
            "answers": np.array(pair.answers, np.int8),
            "layer": np.array([layer for layer, _ in numbers], np.int16),
            "head": np.array([head for _, head in numbers], np.int16),
            "exchanged": pair.other_order is None,
            "dtype": str(model.module.dtype).removeprefix("torch."),
        }
        if isinstance(one, str):
            shape = (2, ORDERS, VERSIONS, len(numbers), NOUNS)
            yield {**row, **_unused(one), "weights": np.full(shape, np.nan, np.float32)}
            continue
        own = found[reached : reached + len(one)].reshape(ORDERS, VERSIONS, 2, len(numbers), NOUNS)
        reached += len(one)
        yield {
            **row,
            "left_out": "",
            "first": np.array([one[0].first, one[VERSIONS].first], np.int8),
            "noun_tokens": np.array([[len(noun) for noun in text.nouns] for text in one], np.int16).reshape(2, 2, 2),
            "decided_after": all(text.decided_after for text in one),
            "weights": np.moveaxis(own, 2, 0),
        }


def _unused(reason: str) -> dict[str, Any]:
    """What a row says of a pair that cannot be used."""
    return {
        "left_out": reason,
        "first": np.full(ORDERS, -1, np.int8),
        "noun_tokens": np.zeros((ORDERS, VERSIONS, NOUNS), np.int16),
        "decided_after": False,
    }


def _texts_of(model: Model, pair: Pair, settings: HeadsSettings) -> list[Asked] | str:
    """The texts of a pair, both versions in the order given and then in the other, or why it cannot be used."""
    if pair.blank:
        return "its word is a blank"
    orders = [pair.texts, other_order(pair, settings.exchange)]
    found: list[Asked] = []
    for texts in orders:
        if texts is None:
            return "the other noun order is not known, and its nouns cannot be exchanged"
        for text, word, changed in zip(texts, pair.words, difference(*texts), strict=True):
            asked = _asked(model, text, word, pair, changed, settings)
            if isinstance(asked, str):
                return asked
            found.append(asked)
    if found[0].first == found[VERSIONS].first:
        return "its nouns stand in the same order in both noun orders"
    return found


def other_order(pair: Pair, exchange: bool) -> tuple[str, str] | None:
    """Both versions in the other noun order: as given, or with the nouns exchanged; None where that cannot be.

    Example:
        >>> pair = Pair("1", "f", ("The cat saw the dog as it ran.", "The cat saw the dog as it sat."), ("it", "it"),
        ...             ("the cat", "the dog"), (0, 1))
        >>> other_order(pair, exchange=True)[0]
        'The dog saw the cat as it ran.'
    """
    if pair.other_order is not None or not exchange:
        return pair.other_order
    first, second = (exchanged(text, pair.candidates) for text in pair.texts)
    return None if first is None or second is None else (first, second)


def _asked(model: Model, text: str, word: str, pair: Pair, changed: Span, settings: HeadsSettings) -> Asked | str:
    """Which tokens of one text look at which, or why that is not known."""
    tokens = model.tokenize(text, special_tokens=settings.special_tokens)
    place = place_of(text, word)
    nouns = [noun_place(text, candidate) for candidate in pair.candidates]
    if place is None:
        return f"the word {word!r} does not stand once in its other noun order"
    for candidate, span in zip(pair.candidates, nouns, strict=True):
        if span is None or not tokens.covering(*span):
            return f"{candidate!r} does not stand in its text word for word"
    first, second = (tokens.covering(*span) for span in nouns if span is not None)
    looking = tokens.covering(*place)
    if set(first) & set(second) or not looking:
        return "its nouns share a token, or its word has none"
    after = tuple(
        token.index for token in tokens if token.start is not None and token.start >= changed[1] and not token.special
    )
    return Asked(
        ids=tokens.ids,
        looking=(looking if settings.query_rule == "mean" else looking[-1:], after[: settings.after]),
        nouns=(first, second),
        first=int(second < first),
        decided_after=place[1] <= changed[0],
    )


def _weights(model: Model, texts: Sequence[Asked]) -> Numbers:
    """[text, looking, head, noun]: the mean over the tokens that look of the sum over the noun's tokens.

    NaN where no token looks.
    """
    layers: list[list[Numbers]] = [[] for _ in texts]

    def listen(_: AttentionLayer, call: AttentionCall, here: range) -> None:
        exact = call.made_exact()
        rows = _rows(exact, [texts[text] for text in here])
        for place, text in enumerate(here):
            layers[text].append(_looks(rows, place, texts[text], exact.heads))

    listen_to_batch(model, [text.ids for text in texts], listen)
    return np.stack([np.concatenate(one, 1) for one in layers])


def _rows(call: AttentionCall, texts: Sequence[Asked]) -> dict[int, Numbers]:
    """The rows [text, head, key] of all tokens that look in any of the texts; neighbours are computed together."""
    wanted = sorted({token for text in texts for tokens in text.looking for token in tokens})
    rows: dict[int, Numbers] = {}
    for _, run in groupby(enumerate(wanted), lambda pair: pair[1] - pair[0]):
        tokens = [token for _, token in run]
        found = call.weights(slice(tokens[0], tokens[-1] + 1), slice(None)).float().cpu().numpy()
        rows |= {token: found[:, :, place] for place, token in enumerate(tokens)}
    return rows


def _looks(rows: dict[int, Numbers], place: int, text: Asked, heads: int) -> Numbers:
    """[looking, head, noun] of one text."""
    looks = np.full((2, heads, NOUNS), np.nan, np.float32)
    for who, tokens in enumerate(text.looking):
        for noun, keys in enumerate(text.nouns):
            if tokens:
                on_noun = sum(rows[token][place, :, list(keys)].sum(0) for token in tokens)
                looks[who, :, noun] = on_noun / len(tokens)
    return looks
