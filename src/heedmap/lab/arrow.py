"""Rows as Arrow tables and back: arrays become nested lists, which every program that reads parquet knows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import MissingExtra
from heedmap.lab.rows import Row

if TYPE_CHECKING:
    import pyarrow as arrow


def pyarrow() -> ModuleType:
    """The package pyarrow.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("the lab keeps its rows with the package pyarrow: pip install 'heedmap[parquet]'") from None
    return pyarrow  # type: ignore[no-any-return]


def to_table(rows: Sequence[Row]) -> arrow.Table:
    """Rows of one experiment as a table, a column for each name.

    Example:
        >>> table = to_table([{"item": "a", "share": np.ones((2, 3))}])
        >>> str(table.schema.field("share").type)
        'list<item: list<item: double>>'
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pyarrow().table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> arrow.Array:
    """One column."""
    if any(isinstance(value, np.ndarray) for value in values):
        return _nested(values)
    return pyarrow().array([value.item() if isinstance(value, np.generic) else value for value in values])


def _nested(arrays: list[np.ndarray | None]) -> arrow.Array:
    """Arrays of one number of axes as lists in lists; None stays absent."""
    library = pyarrow()
    present = [array for array in arrays if array is not None]
    lengths = [0 if array is None else len(array) for array in arrays]
    offsets = library.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    if present[0].ndim > 1:
        # Where there is nothing at all, an empty array still says how many axes follow.
        parts = [part for array in present for part in array] or [np.empty_like(present[0], shape=present[0].shape[1:])]
        inside = _nested(parts)
    else:
        inside = library.array(np.concatenate([array.reshape(-1) for array in present]))
    absent = library.array([array is None for array in arrays]) if len(present) < len(arrays) else None
    return library.ListArray.from_arrays(offsets, inside, mask=absent)


def values_of(column: arrow.ChunkedArray) -> list[Any]:
    """The values of a column, one a row; lists as NumPy arrays.

    Example:
        >>> [value.shape for value in values_of(to_table([{"x": np.ones((2, 3))}, {"x": np.ones((2, 1))}])["x"])]
        [(2, 3), (2, 1)]
    """
    return [value for chunk in column.chunks for value in _values_of_chunk(chunk)]


def _values_of_chunk(chunk: arrow.Array) -> list[Any]:
    """The values of one chunk."""
    library = pyarrow()
    if not library.types.is_list(chunk.type):
        plain: list[Any] = chunk.to_pylist()
        return plain
    absent = chunk.is_null().to_numpy(zero_copy_only=False)
    offsets = []
    while library.types.is_list(chunk.type):
        offsets.append(chunk.offsets.to_numpy())
        chunk = chunk.values
    numbers = chunk.to_numpy(zero_copy_only=False)
    return [None if missing else _one(numbers, offsets, row) for row, missing in enumerate(absent)]


def _one(numbers: np.ndarray, offsets: list[np.ndarray], row: int) -> np.ndarray:
    """One row's array, cut out of all numbers and brought to its shape."""
    shape, low, high = [], row, row + 1
    for starts in offsets:
        lengths = {stop - start for start, stop in pairwise(starts[low : high + 1].tolist())}
        assert len(lengths) <= 1, "an array has one shape"
        shape.append(lengths.pop() if lengths else 0)
        low, high = int(starts[low]), int(starts[high])
    return numbers[low:high].reshape(shape)
