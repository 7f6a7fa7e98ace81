"""Live numbers of a real model from inside: what attention and feed-forward add to a word, layer after layer.

The first guess after a layer is what the model would say if it stopped there: its last step (norm and table of words)
taken early, the "logit lens" of nostalgebraist 2020.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

if TYPE_CHECKING:
    import torch

PARTS = ("none", "attention", "feed-forward")
"""What may be left out, in every layer."""

WITHOUT = "[without=attention|feed-forward]"


@dataclass(frozen=True, eq=False)
class Stream:
    """The last word's vector on its way through the model.

    Attributes:
        before: [layer, dim], the vector as it comes into each layer.
        attention: [layer, dim], what attention adds.
        feed_forward: [layer, dim], what feed-forward adds.
        guesses: after each layer, the likeliest next token and its probability.
        logits: [vocabulary], the scores of every token in the end.
    """

    before: Array
    attention: Array
    feed_forward: Array
    guesses: tuple[tuple[str, float], ...]
    logits: Array

    def odds(self, temperature: float = 1.0) -> list[tuple[str, float]]:
        """The likeliest next tokens in the end, with their probabilities."""
        import torch

        return _named(torch.from_numpy(self.logits / temperature))


def _named(row: torch.Tensor) -> list[tuple[str, float]]:
    """The likeliest tokens of a row of scores, [vocabulary]."""
    from heedmap.reading.odds import most_likely

    return [(one.text, one.probability) for one in most_likely(row, model_named(DEFAULT_MODEL).tokenizer)]


def stream(text: str, without: str = "none") -> Stream:
    """What each part of each layer of the default model adds to the last token of a text."""
    return stream_of(tuple(model_named(DEFAULT_MODEL).tokenize(text).ids), without)


@functools.cache
def stream_of(ids: tuple[int, ...], without: str = "none") -> Stream:
    """One forward pass of the default model, with what each part of each layer adds to the last token.

    Args:
        ids: the tokens that are read.
        without: one of `PARTS`: add nothing from there.
    """
    import torch

    module: Any = model_named(DEFAULT_MODEL).module
    kept: dict[str, list[torch.Tensor]] = {"before": [], "attention": [], "feed-forward": []}

    def adds(part: str) -> Callable[..., Any]:
        """A hook that keeps what a part adds, or makes it nothing."""

        def hook(_module: Any, _given: Any, result: Any) -> Any:
            added = result[0] if isinstance(result, tuple) else result
            added = torch.zeros_like(added) if part == without else added
            kept[part].append(added[0, -1])
            return (added, *result[1:]) if isinstance(result, tuple) else added

        return hook

    def comes_in(_module: Any, given: Any) -> None:
        kept["before"].append(given[0][0, -1])

    hooks = []
    for layer in module.model.layers:
        hooks += [layer.register_forward_pre_hook(comes_in), layer.self_attn.register_forward_hook(adds("attention"))]
        hooks.append(layer.mlp.register_forward_hook(adds("feed-forward")))
    try:
        with torch.no_grad():
            logits = module(input_ids=torch.tensor([list(ids)], device=module.device)).logits
            before, attention, forward = (torch.stack(kept[name]) for name in ("before", *PARTS[1:]))
            early = module.lm_head(module.model.norm(before + attention + forward))
    finally:
        for one in hooks:
            one.remove()

    before, attention, forward = (one.float().cpu() for one in (before, attention, forward))
    guesses = tuple(_named(row)[0] for row in early)
    return Stream(before.numpy(), attention.numpy(), forward.numpy(), guesses, logits[0, -1].double().cpu().numpy())


def asked_stream(arguments: Arguments) -> Stream:
    """The stream that a call asks for."""
    text, without = arguments.word("a text"), arguments.option("without", "none") or ""
    if without not in PARTS:
        raise LessonError(f"option without: expected one of {', '.join(PARTS)}, found {without!r}")
    return stream(text, without)


def _length(vectors: Array) -> Array:
    """The length of each vector."""
    lengths: Array = np.linalg.norm(vectors, axis=-1)
    return lengths


@REGISTRY.add(
    "stream", f"TEXT {WITHOUT}", "what each layer adds to the last word, and its guess there", block=True, model=True
)
def _stream(arguments: Arguments) -> Figure:
    found = asked_stream(arguments)
    rows = [["layer", "comes in", "attention adds", "feed-forward adds", "would say", "odds"]]
    lengths = [_length(one) for one in (found.before, found.attention, found.feed_forward)]
    for layer, (token, odds) in enumerate(found.guesses):
        rows.append([str(layer), *(number(one[layer], 1) for one in lengths), token, number(odds, 3)])
    return Figure("\n".join(columns(rows, left=0)))


@REGISTRY.add("stream-guess", f"TEXT LAYER {WITHOUT}", "what a model would say if it stopped after a layer", model=True)
def _guess(arguments: Arguments) -> Figure:
    found, layer = asked_stream(arguments), arguments.whole("a layer")
    if layer >= len(found.guesses):
        raise LessonError(f"expected a layer from 0 to {len(found.guesses) - 1}, found {layer}")
    return Figure(found.guesses[layer][0])


@REGISTRY.add("stream-first-right", "TEXT TOKEN", "the first layer after which a token leads to the end", model=True)
def _first_right(arguments: Arguments) -> Figure:
    found, token = asked_stream(arguments), arguments.word("a token")
    wrong = [layer for layer, (guess, _) in enumerate(found.guesses) if guess.lstrip("␣") != token]
    first = max(wrong, default=-1) + 1
    if first == len(found.guesses):
        raise LessonError(f"{token!r} is not what the model says in the end")
    return Figure(str(first), float(first))
