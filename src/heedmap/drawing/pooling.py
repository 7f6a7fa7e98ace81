"""Making a large map small enough to be looked at, without hiding what cannot be seen or is not a number."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedmap.drawing.shapes import Flags, Weights


def pool(
    weights: Weights, allowed: Flags, steps: tuple[int, int], how: Literal["mean", "largest"]
) -> tuple[NDArray[np.float64], Flags]:
    """One cell for each block of cells: their mean or the largest, over those that are allowed.

    A block with no allowed cell is not allowed. A block with an allowed cell that is not a number is not one either.

    Args:
        weights: [query, key]; forbidden places are not read.
        allowed: [query, key].
        steps: rows and columns of a block; the last blocks may be smaller.
        how: what stands for a block.

    Returns:
        The blocks' weights (0 where not allowed) and whether they are allowed.

    Example:
        >>> weights = np.array([[1.0, 9.0], [0.25, 0.75]])
        >>> blocks, allowed = pool(weights, np.tri(2, dtype=bool), (2, 2), "largest")
        >>> blocks.tolist(), allowed.tolist()
        ([[1.0]], [[True]])
        >>> pool(weights, np.tri(2, dtype=bool), (2, 1), "mean")[0].tolist()
        [[0.625, 0.75]]
    """
    counts = _blocks(allowed.astype(np.int64), steps, np.add)
    some = counts > 0
    if how == "mean":
        totals = _blocks(np.where(allowed, weights, 0.0).astype(np.float64), steps, np.add)
        return np.divide(totals, counts, out=np.zeros(counts.shape), where=some), some
    largest = _blocks(np.where(allowed, weights, -np.inf).astype(np.float64), steps, np.maximum)
    return np.where(some, largest, 0.0), some


def _blocks(values: NDArray[np.float64], steps: tuple[int, int], reduce: np.ufunc) -> NDArray[np.float64]:
    """The values reduced over blocks of rows and columns."""
    for axis, step in enumerate(steps):
        values = reduce.reduceat(values, np.arange(0, values.shape[axis], step), axis=axis)
    return values
