"""A map seen from further away: one cell for each block of cells, exact, computed by tiles that are then forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedmap.errors import NumbersError, OutOfRange
from heedmap.reading.word_row import Bools, Floats

if TYPE_CHECKING:
    from heedmap.reading.map import Map

_TILE_CELLS = 1 << 21
"""Weights of all heads that are computed at once."""

_SMALLEST_TILE = 16
"""Queries of a tile at least: with fewer, the calls cost more than what they compute."""

HOW = ("mean", "max")


class Pooled(NamedTuple):
    """A zoomed-out map.

    Attributes:
        weights: [row, column] the mean or the largest weight of each block, over the cells that the mask allows; 0
            where there is none.
        allowed: [row, column] whether the block holds an allowed cell.
    """

    weights: Floats
    allowed: Bools


def block_edges(size: int, count: int) -> list[int]:
    """Where the blocks of an axis begin, and its end: `count` blocks as even as can be, at most one a token.

    Example:
        >>> block_edges(10, 4)
        [0, 2, 5, 7, 10]
    """
    count = min(count, size)
    return [size * block // count for block in range(count + 1)]


def pool_map(source: Map, height: int, width: int, how: str) -> Pooled:
    """The body of `Map.pool`."""
    if how not in HOW:
        raise NumbersError(f"a block's cells are pooled by their 'mean' or their 'max', not {how!r}")
    if height < 1 or width < 1:
        raise OutOfRange(f"a map of {height} x {width} cells has no cell: take 1 x 1 or more")
    queries, keys = source.shape
    return pool_by_edges(source, block_edges(queries, height), block_edges(keys, width), how)


def pool_by_edges(source: Map, row_edges: Sequence[int], column_edges: Sequence[int], how: str) -> Pooled:
    """A map, or the part of it between the outermost edges, pooled into blocks; `how` is "mean" or "max".

    Args:
        source: the map.
        row_edges: where the blocks of queries begin, rising, and where the last one ends; see `block_edges`.
        column_edges: the same for the keys.
        how: "mean" or "max".
    """
    shape = len(row_edges) - 1, len(column_edges) - 1
    row_block = np.repeat(np.arange(shape[0]), np.diff(row_edges))
    column_block = np.repeat(np.arange(shape[1]), np.diff(column_edges))
    counts = np.zeros(shape, dtype=np.int64)
    values = np.zeros(shape) if how == "mean" else np.full(shape, -np.inf)
    join, blank = (np.add, 0.0) if how == "mean" else (np.maximum, -np.inf)
    top, left = row_edges[0], column_edges[0]
    for start, stop, low, high in _tiles(source, (top, row_edges[-1]), (left, column_edges[-1])):
        rows, columns = slice(start, stop), slice(low, high)
        weights = source.call.weights(rows, columns, source.heads)[0].double().mean(0).cpu().numpy()
        allowed = source.allowed(rows, columns)
        row_blocks, row_begins = np.unique(row_block[start - top : stop - top], return_index=True)
        column_blocks, column_begins = np.unique(column_block[low - left : high - left], return_index=True)
        place, begins = np.ix_(row_blocks, column_blocks), (row_begins, column_begins)
        values[place] = join(values[place], _reduced(np.where(allowed, weights, blank), join, begins))
        counts[place] += _reduced(allowed.astype(np.int64), np.add, begins)
    some = counts > 0
    if how == "mean":
        values = np.divide(values, counts, out=np.zeros(shape), where=some)
    return Pooled(np.where(some, values, 0.0), some)


def _reduced(tile: NDArray[Any], join: np.ufunc, begins: tuple[NDArray[np.intp], NDArray[np.intp]]) -> NDArray[Any]:
    """A tile's cells joined block by block; `begins` says where the blocks of rows and of columns begin."""
    return np.asarray(join.reduceat(join.reduceat(tile, begins[1], axis=1), begins[0], axis=0))


def _tiles(source: Map, rows: tuple[int, int], columns: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Blocks of queries over the slice of the keys they can reach: (first query, past it, first key, past it)."""
    rule = source.call.rule
    heads = source.heads.stop - source.heads.start
    tiles, start = [], rows[0]
    while start < rows[1]:
        low, high = rule.key_range(start, start + _SMALLEST_TILE)
        step = max(_TILE_CELLS // max(heads * (high - low), 1), _SMALLEST_TILE)
        stop = min(start + step, rows[1])
        low, high = rule.key_range(start, stop)
        low, high = max(low, columns[0]), min(high, columns[1])
        width = max(_TILE_CELLS // (heads * (stop - start)), 1)
        tiles += [(start, stop, left, min(left + width, high)) for left in range(low, high, width)]
        start = stop
    return tiles
