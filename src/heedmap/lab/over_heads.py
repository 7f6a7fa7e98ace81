"""Many heads at once: the best of them chosen on one half and measured on the other, and how they are called."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def halves(units: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every other unit, and the rest: one half to choose on, one to measure on.

    Example:
        >>> [half.tolist() for half in halves(5)]
        [[0, 2, 4], [1, 3]]
    """
    return np.arange(0, units, 2), np.arange(1, units, 2)


def head_name(layer: int, head: int) -> str:
    """A head in words.

    Example:
        >>> head_name(18, 6)
        'layer 18 head 6'
    """
    return f"layer {layer} head {head}"
