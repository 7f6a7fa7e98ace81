"""Reading a map that is computed rather than stored: an index in NumPy's form, and the tile it asks for."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import SupportsIndex, TypeAlias

import numpy as np
import torch

from heedmap.errors import OutOfRange
from heedmap.reading.memory import require_memory
from heedmap.reading.word_row import Floats

BLOCK_CELLS = 1 << 22
"""Cells, over all heads, that are computed at once when a large tile is asked for."""

_LARGE_CELLS = 1 << 24
"""From this size on a tile (128 MiB) is compared with the free memory before it is made."""

Part: TypeAlias = SupportsIndex | slice | EllipsisType
Index: TypeAlias = Part | tuple[Part, ...]


def index_tile(
    index: Index, shape: tuple[int, int], heads: int, cells: Callable[[slice, slice], torch.Tensor]
) -> float | Floats:
    """What an index asks for: a float for a cell, else an array of float64.

    Args:
        index: numbers and slices, query then key.
        shape: (queries, keys) of the map.
        heads: how many heads are computed for a cell.
        cells: computes a tile [query, key] of two slices of step 1.

    Raises:
        OutOfRange: the map has no such row or column.
        TooLarge: the tile does not fit the memory.
    """
    rows, columns, drop = _parts(index, shape)
    tile = _tile(range(*rows.indices(shape[0])), range(*columns.indices(shape[1])), heads, cells)
    picked = tile[tuple(0 if dropped else slice(None) for dropped in drop)]
    return float(picked) if picked.ndim == 0 else picked


def _parts(index: Index, shape: tuple[int, int]) -> tuple[slice, slice, tuple[bool, bool]]:
    """Two slices for an index of numpy's form, and which axes a plain number drops."""
    given = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in given:
        at = given.index(Ellipsis)
        given[at : at + 1] = [slice(None)] * (3 - len(given))
    given += [slice(None)] * (2 - len(given))
    if len(given) != 2:
        raise OutOfRange(f"a map has two axes, query and key, not {len(given)}")
    slices, drop = [], []
    for part, size, axis in zip(given, shape, ("query", "key"), strict=True):
        if isinstance(part, slice):
            slices.append(part)
            drop.append(False)
            continue
        if not isinstance(part, SupportsIndex):
            raise OutOfRange(f"a map is indexed by numbers and slices, not {type(part).__name__}: use np.asarray(map)")
        number = part.__index__()
        if not -size <= number < size:
            raise OutOfRange(f"{axis} {number} is out of range: the map has {size}, numbered 0 to {size - 1}")
        slices.append(slice(number % size, number % size + 1))
        drop.append(True)
    return slices[0], slices[1], (drop[0], drop[1])


def _tile(rows: range, columns: range, heads: int, cells: Callable[[slice, slice], torch.Tensor]) -> Floats:
    """A tile, by blocks of rows so that memory stays bounded by the result."""
    size = len(rows) * len(columns)
    if size > _LARGE_CELLS:
        what = f"a tile of {len(rows):,} x {len(columns):,} cells"
        require_memory(8 * size, "cpu", what, "ask for fewer rows (map[rows, columns]), or a zoomed-out map.pool()")
    tile = np.empty((len(rows), len(columns)), dtype=np.float64)
    if tile.size == 0:
        return tile
    left, right = min(columns), max(columns) + 1
    step = max(BLOCK_CELLS // ((right - left) * heads), 1)
    for first in range(0, len(rows), step):
        wanted = rows[first : first + step]
        top, bottom = min(wanted), max(wanted) + 1
        block = cells(slice(top, bottom), slice(left, right)).double().cpu().numpy()
        tile[first : first + step] = block[np.ix_([row - top for row in wanted], [one - left for one in columns])]
    return tile
