"""How the steps around attention are written: projections before it, joining and output table after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.names import label
from heedmap.arithmetic.writing import columns, given, matrix, number, products_sum, vector

if TYPE_CHECKING:
    from heedmap.arithmetic.trace import Projection, Trace

MOST_CELLS = 24
"""A product with more cells than this is shown by its result only."""


def before_attention(trace: Trace, digits: int) -> list[str]:
    """The three projections of a layer, one block of text each."""
    layer = trace.layer
    assert layer is not None
    named = {"query": ("q", layer.query), "key": ("k", layer.key), "value": ("v", layer.value)}
    return [
        projection(name, f"x · W_{letter}", letter, layer.x, step, trace.key_tokens, digits)
        for name, (letter, step) in named.items()
    ]


def after_attention(trace: Trace, digits: int) -> list[str]:
    """The joined heads, and what the output table makes of them."""
    layer = trace.layer
    assert layer is not None
    parts = []
    if trace.heads > 1:
        rows = matrix(trace.joined, digits, trace.query_tokens)
        parts.append("\n".join([f"joined: the {trace.heads} heads' outputs side by side", *rows]))
    if layer.output is not None:
        parts.append(projection("final", "joined · W_o", "o", trace.joined, layer.output, trace.query_tokens, digits))
    return parts


def projection(
    name: str, formula: str, letter: str, x: Array, step: Projection, tokens: Sequence[str], digits: int
) -> str:
    """Vectors by a table: each cell as a sum of products when they are few, and the result."""
    bias = "" if step.bias is None else f" + b_{letter} {vector(step.bias, digits)}"
    lines = [f"{name}: {formula}{bias}"]
    if step.result.size > MOST_CELLS:
        return "\n".join([*lines, *matrix(step.result, digits, tokens)])
    cells = []
    for row, token in enumerate(tokens):
        for column in range(step.result.shape[1]):
            name_of_row = label(token) if column == 0 else ""
            left = [given(one, digits) for one in x[row]]
            right = [given(one, digits) for one in step.table[:, column]]
            added = "" if step.bias is None else f" + {given(step.bias[column], digits)}"
            result = number(step.result[row, column], digits)
            cells.append([name_of_row, f"{products_sum(left, right)}{added} = {result}"])
    return "\n".join([*lines, *columns(cells, left=2)])
