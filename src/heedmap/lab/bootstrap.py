"""Intervals by the bootstrap: whole units (sentences, pairs) are drawn again, never the positions inside one."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedmap.errors import NumbersError
from heedmap.lab.rounding import exact_sums

CONFIDENCE = 0.95
"""How often an interval holds the truth, in the long run."""

METHOD = "bootstrap over units, BCa, expanded for few units"
"""What a report calls these intervals."""

Statistic = Callable[[NDArray[np.int64]], float]
"""From the units drawn, as indices [unit] with repeats, to a number."""


def interval(statistic: Statistic, units: int, *, seed: int = 0, draws: int = 2000) -> tuple[float, float] | None:
    """A 95 percent interval of any statistic of the units: BCa, by SciPy, expanded for few units.

    BCa (bias-corrected and accelerated) is Efron 1987, "Better bootstrap confidence intervals", JASA 82, 171 to 185.
    The bootstrap of few units is too narrow, as a normal interval with the variance divided by n is: it is asked for
    the wider level that makes up for that in a mean (Hesterberg 2015, "What teachers should know about the
    bootstrap", The American Statistician 69, 371 to 386, section 5.3).

    Args:
        statistic: is given which units were drawn, some of them several times.
        units: how many there are.
        seed: where the random numbers begin.
        draws: how often all units are drawn again.

    Returns:
        lowest and highest; None with less than two units or where the statistic is no number. Where no unit differs
        from another, both are the statistic itself.

    Example:
        >>> shares = np.array([0.1, 0.2, 0.4, 0.5, 0.3, 0.2])
        >>> [round(end, 2) for end in interval(lambda drawn: shares[drawn].mean(), 6)]
        [0.17, 0.45]
    """
    from scipy.stats import DegenerateDataWarning, bootstrap

    indices = np.arange(units)
    if units < 2:
        return None
    value = float(statistic(indices))
    if not np.isfinite(value):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
        found = bootstrap(
            (indices,),
            statistic,
            vectorized=False,
            n_resamples=draws,
            confidence_level=expanded_level(units),
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    return _ends(found, value)


def mean_interval(
    values: ArrayLike, units: ArrayLike | None = None, *, seed: int = 0, draws: int = 2000
) -> tuple[float, float] | None:
    """A 95 percent interval of a mean over items, some of which may belong to one unit: BCa, expanded as in `interval`.

    Args:
        values: [item], without NaN.
        units: [item], what each belongs to; all items of a unit are drawn together. None: each is its own.
        seed: where the random numbers begin.
        draws: how often all units are drawn again.

    Returns:
        as in `interval`.

    Raises:
        NumbersError: a value is no number, or there are not as many units as values.

    Example:
        >>> right = [1, 0, 1, 1, 1, 0, 1, 1]  # both versions of four pairs
        >>> mean_interval(right, [1, 1, 2, 2, 3, 3, 4, 4])
        (0.5, 1.0)
    """
    from scipy.stats import DegenerateDataWarning, bootstrap

    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise NumbersError("a mean was asked for of values of which some are no numbers: leave them out first")
    sums, counts = _by_unit(exact_sums(array), units)
    if len(sums) < 2:
        return None

    def mean(sums: NDArray[np.float64], counts: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(sums.sum(axis) / counts.sum(axis))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        warnings.filterwarnings("ignore", message="invalid value", category=RuntimeWarning)
        found = bootstrap(
            (sums, counts),
            mean,
            paired=True,
            vectorized=True,
            n_resamples=draws,
            confidence_level=expanded_level(len(sums)),
            method="BCa",
            rng=np.random.default_rng(seed),
            batch=max(1, 2**22 // len(sums)),
        )
    return _ends(found, float(array.mean()))


def _by_unit(values: NDArray[np.float64], units: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the number of items of each unit, [unit]."""
    if units is None:
        return values, np.ones(len(values))
    _, places = np.unique(np.asarray(units), return_inverse=True)
    if len(places) != len(values):
        raise NumbersError(f"{len(values)} values were given and {len(places)} units: each value belongs to one")
    return np.bincount(places, values).astype(float), np.bincount(places).astype(float)


def expanded_level(units: int) -> float:
    """The level of a bootstrap interval of so many units that covers as 95 percent of Student's t do.

    Example:
        >>> round(expanded_level(6), 3), round(expanded_level(1000), 3)
        (0.995, 0.95)
    """
    from scipy.stats import norm, t

    width = np.sqrt(units / (units - 1)) * t.ppf((1 + CONFIDENCE) / 2, units - 1)
    return float(2 * norm.cdf(width) - 1)


def _ends(found: object, value: float) -> tuple[float, float]:
    """The ends of an interval; the value itself where it is not defined, since every draw gave the same."""
    ends = found.confidence_interval  # type: ignore[attr-defined]
    low, high = float(ends.low), float(ends.high)
    return (low, high) if np.isfinite([low, high]).all() else (value, value)
