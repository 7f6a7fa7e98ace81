"""How far rounding may move a number from one machine to another, and how to decide so that it decides nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

ROUNDING = {"float64": 1e-5, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}
"""How far two machines' shares and log-odds may lie apart, by the model's dtype, relative to the larger or absolutely.

The step of float32 is 1e-7, and a pass through tens of layers makes up to tens of steps of it; float16 and bfloat16
have steps of 1e-3 and 8e-3, and give what their weights agree to with transformers' own.
"""

TIE = 1e-5
"""Means and log-odds that lie no further apart are tied, and none of them is the largest by itself: `ROUNDING` of
float32, in shares and nats, relative to numbers above 1."""


def rounding_of(dtype: str | None) -> float:
    """`ROUNDING` of a dtype as a report names it; that of float32 where it is not known.

    Example:
        >>> rounding_of("bfloat16"), rounding_of(None)
        (0.04, 1e-05)
    """
    return ROUNDING.get(str(dtype), ROUNDING["float32"])


def slack(value: float) -> float:
    """How much less than a number still counts as equal to it.

    Example:
        >>> slack(0.2), slack(-300.0)
        (1e-05, 0.003)
    """
    return TIE * max(1.0, abs(value))


def first_largest(values: Numbers) -> int:
    """The place of the largest number, and of several that are tied the first: the same on every machine.

    Args:
        values: [place]; NaN is no candidate.

    Example:
        >>> first_largest(np.array([0.1, 0.7, 0.7000001]))
        1
    """
    largest = float(np.nanmax(values))
    return int(np.flatnonzero(values >= largest - slack(largest))[0])


def largest_first(values: Numbers) -> NDArray[np.int64]:
    """The places of all numbers, the largest first; tied ones in their order.

    Each tie is settled as in `first_largest`, again for what is left.

    Example:
        >>> largest_first(np.array([0.1, 0.7, 0.7000001, 0.9])).tolist()
        [3, 1, 2, 0]
    """
    order = np.argsort(-values, kind="stable")
    ties = np.concatenate([[0], np.cumsum(-np.diff(values[order]) > TIE * np.maximum(1.0, np.abs(values[order][:-1])))])
    return order[np.lexsort((order, ties))]


def beyond_rounding(differences: Numbers, size: Numbers | float = 1.0) -> Numbers:
    """Differences, with 0 in place of those that rounding alone may make.

    Args:
        differences: of any shape.
        size: of what they are differences of; counts where it is above 1.

    Example:
        >>> beyond_rounding(np.array([3e-7, -0.2, 4e-4]), np.array([1.0, 1.0, 100.0])).tolist()
        [0.0, -0.2, 0.0]
    """
    return np.where(np.abs(differences) <= TIE * np.maximum(1.0, size), 0.0, differences)


def exact_sums(values: Numbers) -> Numbers:
    """Values on so fine a grid that float64 adds them up without rounding, in whatever order.

    A bootstrap draws the units of the data themselves in another order now and then. Its sum must then be that of the
    data, or the last bit would decide which side of it a draw falls on. The grid has 2**42 steps up to the largest
    value (2e-13 of it), so that the sum of 2,048 values is exact; of more no draw is the data in another order.

    Example:
        >>> values = exact_sums(np.array([0.1, 0.2, 0.3]))
        >>> bool(values.sum() == values[::-1].sum()), bool(np.abs(values - [0.1, 0.2, 0.3]).max() < 1e-8)
        (True, True)
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return values
    step = 2.0 ** (np.ceil(np.log2(largest)) - 42)
    return np.asarray(np.round(values / step) * step)
