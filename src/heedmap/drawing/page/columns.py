"""Statistics of all heads as the page shows them: one number a layer and head, with a title and a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_table import Table


def columns_json(table: Table, layers: Sequence[int]) -> list[dict[str, Any]]:
    """The statistics of a table as grids.

    Args:
        table: one row a head.
        layers: the numbers of the page's layers, in their order; a layer that the table lacks is absent.

    Returns:
        for each statistic its name, title, unit and "values", a list [head] a layer: seven digits, null where absent.
    """
    places = {(int(table["layer"][row]), int(table["head"][row])): row for row in range(len(table))}
    heads = max((head for _, head in places), default=-1) + 1
    grids = []
    for name in table.statistics:
        numbers = table[name]
        grid = [
            [
                _rounded(float(numbers[places[layer, head]])) if (layer, head) in places else None
                for head in range(heads)
            ]
            for layer in layers
        ]
        column = COLUMNS[name]
        grids.append({"name": name, "title": column.title, "unit": column.unit, "values": grid})
    return grids


def _rounded(number: float) -> float | None:
    """A number with as many digits as float32 holds; None for what is none."""
    return float(f"{number:.7g}") if math.isfinite(number) else None
