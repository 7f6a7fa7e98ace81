"""P-values of many tests at once, corrected for how many there were."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values such that below 0.05 there is any false one in 5 of 100 families of tests at most.

    Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 65 to
    70. It holds however the tests depend on each other.

    Args:
        p_values: [test]; those that are NaN (a test that could not be done) stay NaN and are not counted.

    Returns:
        [test], in the order given.

    Example:
        >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
        [0.03, 0.06, 0.06, nan]
    """
    given = np.asarray(p_values, dtype=float)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    adjusted = given.copy()
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
