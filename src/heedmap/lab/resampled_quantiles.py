"""Quantiles of values that come in units (the positions of sentences), with intervals that resample the units."""

from __future__ import annotations

import numpy as np

LEVELS = (0.25, 0.5, 0.75)
"""Lower quartile, median, upper quartile."""


def draws_of_units(units: int, draws: int, seed: int) -> np.ndarray:
    """How often each unit is drawn, [draw, unit]: as many as there are, with replacement.

    Example:
        >>> draws_of_units(4, 100, seed=0).sum(1).tolist() == [4] * 100
        True
    """
    return np.random.default_rng(seed).multinomial(units, np.full(units, 1 / units), size=draws)


def resampled_quantiles(values: np.ndarray, unit: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The quartiles of the values, each as often as its unit was drawn, [draw, level].

    They are those that `numpy.quantile` gives for the values repeated so often.

    Args:
        values: [value], numbers without NaN.
        unit: [value], which unit each belongs to.
        counts: [draw, unit].

    Example:
        >>> resampled_quantiles(np.array([1.0, 2.0, 9.0]), np.array([0, 0, 1]), np.array([[2, 0], [1, 1]])).tolist()
        [[1.0, 1.5, 2.0], [1.5, 2.0, 5.5]]
    """
    order = np.argsort(values, kind="stable")
    ordered, unit_of = values[order].astype(np.float64), unit[order]
    found = np.full((len(counts), len(LEVELS)), np.nan)
    levels = np.array(LEVELS)
    for draw, count in enumerate(counts.astype(np.int32)):
        reached = count[unit_of].cumsum()
        total = int(reached[-1]) if len(reached) else 0
        if total:
            rank = levels * (total - 1)
            below = np.floor(rank)
            # The value of rank r is the first whose cumulative count exceeds r.
            low, high = ordered[reached.searchsorted((below, np.ceil(rank)), side="right")]
            found[draw] = low + (rank - below) * (high - low)
    return found


def interval_of(draws: np.ndarray) -> tuple[float, float] | None:
    """The middle 95 percent of the draws of one number; None where most of them are not numbers.

    Example:
        >>> interval_of(np.arange(1001.0))
        (25.0, 975.0)
    """
    known = draws[~np.isnan(draws)]
    if len(known) <= len(draws) / 2:
        return None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)
