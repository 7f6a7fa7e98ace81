"""Which layers a page will have room for, before the text is read: the others need not be kept."""

from __future__ import annotations

from heedmap.drawing.page.view import View
from heedmap.reading.model import Model

_LEAST = 0.7 * 4 / 3
"""Characters of HTML that a byte of queries and keys takes at the very least: well compressed, then as base64."""


def layers_to_read(model: Model, tokens: int, view: View) -> list[int]:
    """The layers to keep when a text is read for a page: those asked for, or those nearest to the one shown first.

    Args:
        model: the model.
        tokens: how many tokens will run.
        view: what the page shows and carries.

    Raises:
        OutOfRange: the model has no such layer.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> len(layers_to_read(model, 200, View())), layers_to_read(model, 4000, View(layer=16))
        (30, [15, 16, 17])
    """
    middle = model.layers[len(model.layers) // 2].number
    first = middle if view.layer is None else next(iter(model.wanted(view.layer)))
    carried = view.carried()
    steps = set(carried.steps or ())
    if carried.layers is not None:
        return sorted(model.wanted([*carried.layers, *steps, first]))
    every = sorted({layer.number for layer in model.layers}, key=lambda number: abs(number - first))
    if carried.budget is None:
        return sorted(every)
    bytes_each = model.cost(tokens, layers=[first]).kept / (model.module.dtype.itemsize) * _bytes(view.precision)
    # A map of a short text is smaller than its queries and keys.
    cells = 0.5 * tokens * tokens * model.layers[0].heads * _bytes(view.precision)
    fits = int(carried.budget / (_LEAST * min(bytes_each, cells)))
    return sorted({first, *steps, *every[: max(fits, 1)]})


def _bytes(precision: str) -> int:
    return 2 if precision == "float16" else 4
