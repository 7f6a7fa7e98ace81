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


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values such that of all below 0.05, 5 of 100 are false ones in the long run, by SciPy.

    Benjamini and Hochberg 1995, JRSS B 57, 289 to 300; for tests that are independent or go together.

    Args:
        p_values: [test]; those that are NaN stay NaN and are not counted.

    Returns:
        [test], in the order given.

    Example:
        >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
        [0.03, 0.04, 0.04, nan]
    """
    from scipy.stats import false_discovery_control

    given = np.asarray(p_values, dtype=float)
    known = ~np.isnan(given)
    adjusted = given.copy()
    if known.any():
        adjusted[known] = false_discovery_control(given[known])
    return adjusted
