"""Live numbers of mixing: exchange one word, and see how far the vectors of the other words move.

A word that is the same in both texts comes into layer 0 with the same vector; what moves later came from others.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named


@functools.cache
def moved(text: str, other: str) -> tuple[tuple[str, ...], Array]:
    """By how much the vector at each place differs between two texts, as it comes into each layer.

    Formula: the length of the difference over the length of the vector in the first text.

    Returns:
        The labels, and [layer, token].

    Raises:
        LessonError: the texts are not equally many tokens.
    """
    import torch

    model = model_named(DEFAULT_MODEL)
    module: Any = model.module
    one, two = model.tokenize(text), model.tokenize(other)
    if len(one.ids) != len(two.ids):
        raise LessonError(f"expected texts of equally many tokens, found {len(one.ids)} and {len(two.ids)}")
    ids = torch.tensor([list(one.ids), list(two.ids)], device=module.device)
    with torch.no_grad():
        # The last state that transformers hands out has gone through the final norm: it enters no layer.
        states = torch.stack(module(input_ids=ids, output_hidden_states=True).hidden_states[:-1]).double().cpu().numpy()
    apart = np.linalg.norm(states[:, 0] - states[:, 1], axis=-1)
    labels = [
        here if here == there else f"{here} / {there}" for here, there in zip(one.labels, two.labels, strict=True)
    ]
    return tuple(labels), apart / np.linalg.norm(states[:, 0], axis=-1)


@REGISTRY.add(
    "moved",
    "TEXT OTHER PLACE LAYER [digits=2]",
    "how far the vector of a place (from 0) moves with the text, as it comes into a layer",
    model=True,
)
def _moved(arguments: Arguments) -> Figure:
    labels, found = moved(arguments.word("a text"), arguments.word("another text"))
    place, layer = arguments.whole("a place"), arguments.whole("a layer")
    if place >= len(labels) or layer >= len(found):
        raise LessonError(
            f"expected a place from 0 to {len(labels) - 1} and a layer from 0 to {len(found) - 1}, "
            f"found {place} and {layer}"
        )
    return rounded(float(found[layer, place]), arguments.digits(2))


@REGISTRY.add(
    "moved-most", "TEXT OTHER LAYER", "the token whose place has moved most, as it comes into a layer", model=True
)
def _moved_most(arguments: Arguments) -> Figure:
    labels, found = moved(arguments.word("a text"), arguments.word("another text"))
    layer = arguments.whole("a layer")
    if layer >= len(found):
        raise LessonError(f"expected a layer from 0 to {len(found) - 1}, found {layer}")
    return Figure(labels[int(found[layer].argmax())])


@REGISTRY.add(
    "moved-table",
    "TEXT OTHER LAYER,LAYER,...",
    "how far the vector of every place moves with the text, as it comes into some layers",
    block=True,
    model=True,
)
def _moved_table(arguments: Arguments) -> Figure:
    labels, found = moved(arguments.word("a text"), arguments.word("another text"))
    layers = [int(one) for one in arguments.numbers("layers")]
    if not all(0 <= layer < len(found) for layer in layers):
        raise LessonError(f"expected layers from 0 to {len(found) - 1}, found {layers}")
    rows = [["into layer", *map(str, layers)]]
    rows += [
        [label, *("0" if found[layer, place] == 0 else number(float(found[layer, place]), 2) for layer in layers)]
        for place, label in enumerate(labels)
    ]
    return Figure("\n".join(columns(rows)))
