"""Rows: what was measured of each item, and all rows of a run as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from heedmap.errors import ReadingError

Row = Mapping[str, Any]
"""What was measured of one item: by name a number, bool, string, None or NumPy array (of any shape).

A column keeps its kind and number of axes in all rows. NaN stands for a number that is absent; the item's id is added
by whoever runs the experiment, under `ITEM`.
"""

ITEM = "item"
"""The column that holds the item's id."""


class Rows:
    """All rows of a run, sorted by item id, as columns.

    Example:
        >>> rows = Rows([{"item": "b", "share": 0.5}, {"item": "a", "share": None}])
        >>> rows.ids, rows["share"].tolist()
        (['a', 'b'], [nan, 0.5])
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: list[Row] = sorted(rows, key=lambda row: row[ITEM])

    @property
    def ids(self) -> list[str]:
        """The items' ids, in the order of the rows."""
        return [row[ITEM] for row in self._rows]

    @property
    def names(self) -> list[str]:
        """The columns there are."""
        return [] if not self._rows else list(self._rows[0])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """One column: [row] for numbers, bools and strings, [row, ...] for arrays of one shape.

        Absent numbers are NaN, absent strings None.

        Raises:
            ReadingError: there is no such column, or its arrays differ in shape (then use `arrays`).
        """
        values = self.arrays(name)
        if values and isinstance(values[0], np.ndarray):
            if len({value.shape for value in values}) > 1:
                raise ReadingError(f"the arrays of column {name!r} differ in shape: take them one by one")
            return np.stack(values)
        return _column(values)

    def arrays(self, name: str) -> list[Any]:
        """One column, value by value, for arrays that differ in shape.

        Raises:
            ReadingError: there is no such column.
        """
        if name not in self.names:
            raise ReadingError(f"the rows have no column {name!r}: they have {', '.join(self.names)}")
        return [row.get(name) for row in self._rows]


def _column(values: Sequence[Any]) -> np.ndarray:
    """Plain values as one array."""
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if any(value is None for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.array(values)
