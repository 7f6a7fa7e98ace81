"""Quantiles of values that come in units (the positions of sentences), with intervals that resample the units."""

from __future__ import annotations

import numpy as np

from heedmap.lab.bootstrap import expanded_level
from heedmap.lab.rounding import slack

LEVELS = (0.25, 0.5, 0.75)
"""Lower quartile, median, upper quartile."""


def samples_of_units(units: int, draws: int, seed: int) -> np.ndarray:
    """How often each unit is in each sample, [sample, unit], as `interval_of` needs them.

    First the draws: as many units as there are, with replacement. Then the samples that leave out one unit each.

    Example:
        >>> samples_of_units(3, 100, seed=0)[-3:].tolist()
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    drawn = np.random.default_rng(seed).multinomial(units, np.full(units, 1 / units), size=draws)
    return np.concatenate([drawn, 1 - np.eye(units, dtype=drawn.dtype)])


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


def interval_of(found: np.ndarray, value: float, units: int) -> tuple[float, float] | None:
    """A 95 percent interval of one number: BCa, expanded for few units, as `heedmap.lab.bootstrap.interval`.

    Args:
        found: [sample], the number in each sample of `samples_of_units`.
        value: the number in all units.
        units: how many there are.

    Returns:
        lowest and highest; None with less than two units, where `value` is no number, or most of the draws are none.

    Example:
        >>> shares = np.array([0.1, 0.2, 0.4, 0.5, 0.3, 0.2])
        >>> counts = samples_of_units(6, 2000, seed=0)
        >>> [round(end, 2) for end in interval_of(counts @ shares / counts.sum(1), shares.mean(), 6)]
        [0.15, 0.43]
    """
    from scipy.stats import norm

    drawn, left_out = found[:-units], found[-units:]
    known = drawn[~np.isnan(drawn)]
    if units < 2 or not np.isfinite(value) or len(known) <= len(drawn) / 2:
        return None
    # A value beyond all draws is beyond half a draw.
    near = slack(value)
    below = ((known < value - near).mean() + (known <= value + near).mean()) / 2
    bias = norm.ppf(np.clip(below, 0.5 / len(known), 1 - 0.5 / len(known)))
    away = np.nanmean(left_out) - left_out[~np.isnan(left_out)]
    spread = (away**2).sum()
    skew = (away**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    level = expanded_level(units)
    # With two units the level is 1 in float64; beyond 8 standard deviations nothing is left of a normal distribution.
    ends = bias + np.clip(norm.ppf([(1 - level) / 2, (1 + level) / 2]), -8, 8)
    low, high = np.quantile(known, norm.cdf(bias + ends / (1 - skew * ends)))
    return float(low), float(high)
