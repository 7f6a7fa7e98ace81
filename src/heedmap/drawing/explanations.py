"""The four steps of a real head as a teacher would write them: compare, scale, softmax, blend, and the check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import encodable, isolate, pad, shorten, visible
from heedmap.drawing.palette import BLUE_BAR, SAND_BAR
from heedmap.drawing.terminal import glyphs_for, line, to_text
from heedmap.reading.explanation import Explanation
from heedmap.reading.projection import Projection
from heedmap.reading.word_row import Floats

MOST_LINES = 40
"""How many tokens are shown; of a longer row those with the largest weights."""

_SHOWN_NUMBERS = 6
_SHOWN_PRODUCTS = 5
_COLUMN = 10
_LARGEST_LABEL = 18
_SMALLEST_BAR = 4


def explanation_text(explanation: Explanation) -> str:
    """The four steps in plain text."""
    return to_text(explanation_table(explanation), width=100)


def explanation_table(explanation: Explanation) -> RenderableType:
    """The four steps: one line a token for compare, scale and softmax, then the blend and the check."""
    return _Steps(explanation)


@dataclass(frozen=True)
class _Steps:
    """The picture, drawn when the width is known."""

    explanation: Explanation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding = options.encoding
        one = self.explanation
        place = f"layer {one.layer}, head {one.head} (key-value head {one.key_value_head}) of {one.model['name']}"
        yield line(f"how “{one.word}” looks: {place}", encoding, "bold")
        yield Text("")
        for projection in one.projections:
            for sentence in _projection(projection, one):
                yield _sentence(sentence, encoding)
            yield Text("")
        yield Text("1 compare   2 scale   3 softmax", "bold")
        yield from _table(one, options.max_width, encoding)
        yield Text("")
        for sentence in _products(one):
            yield _sentence(sentence, encoding)
        yield Text("")
        yield Text("4 blend", "bold")
        for sentence in _blend(one):
            yield _sentence(sentence, encoding)
        yield Text("")
        for sentence in _check(one):
            yield _sentence(sentence, encoding)


def _sentence(text: str, encoding: str) -> Text:
    """A line of the calculation; the token labels in it are safe to print as they are."""
    return Text(encodable(text, encoding), overflow="fold")


def _table(one: Explanation, width: int, encoding: str) -> Iterator[Text]:
    """One line a token: q · k, scaled, e to that power, weight."""
    glyphs = glyphs_for(encoding)
    trace, weights, exponentials = one.trace, one.trace.weights[0], one.exponentials
    places = np.sort(np.argsort(-weights, kind="stable")[:MOST_LINES])
    cells = len(str(one.keys[-1]))
    labels = [f"{one.keys[place]:{cells}} {encodable(visible(trace.key_tokens[place]), encoding)}" for place in places]
    label_cells = min(max(cell_len(label) for label in labels), _LARGEST_LABEL)
    bar_cells = min(width - label_cells - 4 * _COLUMN - 2, 24)
    heads = ("q·k", _scaling(one), "e^(s-max)", "weight")
    yield Text(pad("token", label_cells) + "".join(head.rjust(_COLUMN) for head in heads), "dim", no_wrap=True)
    for place, label in zip(places, labels, strict=True):
        numbers = (trace.products[0, place], trace.scores[0, place], exponentials[place], weights[place])
        text = Text(pad(isolate(shorten(label, label_cells, glyphs.ellipsis)), label_cells), no_wrap=True)
        for number, digits in zip(numbers, (2, 2, 3, 3), strict=True):
            text.append(f"{number:.{digits}f}".rjust(_COLUMN))
        if bar_cells >= _SMALLEST_BAR:
            colour = SAND_BAR if one.keys[place] == 0 else BLUE_BAR
            text.append(f"  {glyphs.drawn_bar(bar_cells * weights[place] / weights.max())}", colour)
        yield text
    total = f"{exponentials.sum():.3f}".rjust(_COLUMN) + f"{weights.sum():.3f}".rjust(_COLUMN)
    yield Text(pad("total", label_cells) + " " * 2 * _COLUMN + total, "dim", no_wrap=True)
    if len(places) < len(weights):
        rest = weights.sum() - weights[places].sum()
        hidden = len(weights) - len(places)
        yield Text(f"left out: {hidden} tokens with smaller weights, together {rest:.3f}", "dim")


def _scaling(one: Explanation) -> str:
    """What the products are divided or multiplied by.

    A scale of 1/√d is written as the division it is in the lessons.
    """
    dim = one.trace.query.shape[-1]
    if math.isclose(one.trace.scale, dim**-0.5):
        return f"÷ {math.sqrt(dim):.3g}"
    return f"× {one.trace.scale:.3g}"


def _products(one: Explanation) -> Iterator[str]:
    """Which single products make up the largest weight's q · k."""
    contributions = one.contributions()
    place = one.largest
    label = one.trace.key_tokens[place]
    query, key = one.trace.query[0], one.trace.key[place]
    yield (
        f"q·k with “{label}” is {contributions.sum():.2f}, the sum of {len(contributions)} products. "
        "Those that move it most:"
    )
    for dim in np.argsort(-np.abs(contributions), kind="stable")[:_SHOWN_PRODUCTS]:
        yield f"  dimension {dim}: {query[dim]:.2f} x {key[dim]:.2f} = {contributions[dim]:.2f}"


def _blend(one: Explanation) -> Iterator[str]:
    """The weighted sum of the values."""
    weights = one.trace.weights[0]
    order = np.argsort(-weights, kind="stable")[:3]
    terms = " + ".join(f"{weights[place]:.3f} x value of “{one.trace.key_tokens[place]}”" for place in order)
    more = " + ..." if len(weights) > len(order) else ""
    yield f"{terms}{more}"
    yield f"= {_numbers(one.trace.output[0])}"


def _check(one: Explanation) -> Iterator[str]:
    """What the model itself computed, and the difference."""
    yield f"the model's own output of this head: {_numbers(one.model_output)}"
    yield (
        f"largest difference: {one.output_difference:.1e} in the output, {one.weight_difference:.1e} in the weights "
        "(the steps here are worked in float64)"
    )


def _projection(projection: Projection, one: Explanation) -> Iterator[str]:
    """How a query or key came from its word's vector."""
    label = one.tokens.labels[projection.token]
    head = one.head if projection.role == "query" else one.key_value_head
    yield (
        f"the {projection.role} of “{label}”: its vector of {len(projection.vector)} numbers, as layer {one.layer} "
        f"gets it: {_numbers(projection.vector)}"
    )
    yield f"  by the learned table {projection.table}, head {head}: {_numbers(projection.projected)}"
    if projection.normalised is not None:
        yield f"  normalised: {_numbers(projection.normalised)}"
    if projection.rotation is not None:
        angles = ", ".join(f"{angle:.1f}°" for angle in projection.rotation[:3])
        yield (
            f"  each pair of dimensions turned for position {projection.token} (by {angles}, ...): "
            f"{_numbers(projection.final)}"
        )
        yield f"  largest difference from the model's own {projection.role}: {projection.difference:.1e}"


def _numbers(vector: Floats) -> str:
    """The first numbers of a vector.

    Example:
        >>> _numbers(np.array([0.5, -1.0]))
        '[0.500, -1.000]'
    """
    shown = ", ".join(f"{number:.3f}" for number in vector[:_SHOWN_NUMBERS])
    return f"[{shown}]" if len(vector) <= _SHOWN_NUMBERS else f"[{shown}, ... {len(vector)} numbers]"
