"""Statistics of all heads as the page shows them: one number a layer and head, with a title and a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from heedmap.reading.statistics_table import Table


class Column(NamedTuple):
    """How a statistic is called on the page."""

    title: str
    unit: str


TITLES = {
    "first": Column("Share on the first token", "share"),
    "itself": Column("Share on the token itself", "share"),
    "previous": Column("Share on the token before", "share"),
    "special": Column("Share on special tokens", "share"),
    "sink": Column("Share on the learned sink", "share"),
    "entropy": Column("Entropy", "nats"),
    "normalised_entropy": Column("Entropy, of the largest possible", "share"),
    "effective_tokens": Column("Tokens it looks at, effectively", "tokens"),
    "distance": Column("Mean distance looked back", "tokens"),
    "largest": Column("Largest weight of a row", "share"),
}
"""Every statistic that a table may hold; a test keeps the names those of the table."""


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
        grids.append({"name": name, **TITLES[name]._asdict(), "values": grid})
    return grids


def _rounded(number: float) -> float | None:
    """A number with as many digits as float32 holds; None for what is none."""
    return float(f"{number:.7g}") if math.isfinite(number) else None
