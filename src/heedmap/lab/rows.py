"""Rows: what was measured of each item, and all rows of a run as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import ReadingError

if TYPE_CHECKING:
    import pyarrow as arrow

Row = Mapping[str, Any]
"""What was measured of one item: by name a number, bool, string, None or NumPy array (of any shape).

A column keeps its kind and number of axes in all rows. NaN stands for a number that is absent; the item's id is added
by whoever runs the experiment, under `ITEM`.
"""

ITEM = "item"
"""The column that holds the item's id."""


class Rows:
    """All rows of a run, sorted by item id, as columns.

    Args:
        rows: each with its item's id under `ITEM`.

    Example:
        >>> rows = Rows([{"item": "b", "share": 0.5}, {"item": "a", "share": None}])
        >>> rows.ids, rows["share"].tolist()
        (['a', 'b'], [nan, 0.5])
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        from heedmap.lab.arrow import to_table

        self._table = to_table(list(rows)).sort_by(ITEM)

    @classmethod
    def from_table(cls, table: arrow.Table) -> Rows:
        """The rows of an Arrow table."""
        rows = cls.__new__(cls)
        rows._table = table.sort_by(ITEM)
        return rows

    @property
    def ids(self) -> list[str]:
        """The items' ids, in the order of the rows."""
        found: list[str] = self._table.column(ITEM).to_pylist()
        return found

    @property
    def names(self) -> list[str]:
        """The columns there are."""
        names: list[str] = self._table.column_names
        return names

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """One column: [row] for numbers, bools and strings, [row, ...] for arrays of one shape.

        Absent numbers are NaN, absent strings None.

        Raises:
            ReadingError: there is no such column, or its arrays differ in shape (then use `arrays`).
        """
        values = self.arrays(name)
        if values and isinstance(values[0], np.ndarray):
            if len({np.shape(value) for value in values}) > 1:
                raise ReadingError(f"the arrays of column {name!r} differ in shape: take them one by one")
            return np.stack(values)
        if all(value is None for value in values):
            return np.full(len(values), np.nan)
        plain: np.ndarray = self._table.column(name).to_numpy(zero_copy_only=False)
        return plain

    def arrays(self, name: str) -> list[Any]:
        """One column, value by value, for arrays that differ in shape.

        Raises:
            ReadingError: there is no such column.
        """
        from heedmap.lab.arrow import values_of

        if name not in self.names:
            raise ReadingError(f"the rows have no column {name!r}: they have {', '.join(self.names)}")
        return values_of(self._table.column(name))
