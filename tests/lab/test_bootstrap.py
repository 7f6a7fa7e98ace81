"""Bootstrap intervals, against SciPy, an exhaustive oracle, and how often they hold the truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heedmap.errors import NumbersError
from heedmap.lab.bootstrap import interval, mean_interval
from heedmap.lab.rounding import exact_sums

numbers = st.lists(st.floats(-1, 1), min_size=3, max_size=12)


def scipy_interval(values: np.ndarray, seed: int, draws: int) -> tuple[float, float]:
    """The same by SciPy alone, with the wider level worked out anew."""
    n = len(values)
    level = 1 - 2 * stats.norm.sf(stats.t.isf(0.025, n - 1) * (n / (n - 1)) ** 0.5)
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=draws, confidence_level=level, rng=np.random.default_rng(seed)
    ).confidence_interval
    return float(found.low), float(found.high)


@pytest.mark.parametrize("units", [5, 12, 40])
def test_a_mean_of_single_items_is_scipys(units: int) -> None:
    values = exact_sums(np.random.default_rng(units).exponential(size=units))
    assert mean_interval(values, seed=4, draws=500) == pytest.approx(scipy_interval(values, 4, 500), abs=1e-12)


@pytest.mark.parametrize("units", [5, 6, 8])
def test_the_last_bit_of_a_value_decides_nothing(units: int) -> None:
    """Of few units many draws are the data in another order: their sum is that of the data, however it is rounded."""
    rng = np.random.default_rng(units)
    values = rng.exponential(size=units)
    expected = mean_interval(values, draws=500)
    for _ in range(20):
        moved = values * (1 + rng.uniform(-1e-7, 1e-7, units))
        assert mean_interval(moved, draws=500) == pytest.approx(expected, abs=1e-6)


def test_items_of_one_unit_are_drawn_together() -> None:
    """Units with as many items each are the same as their means, whatever order the items stand in."""
    rng = np.random.default_rng(0)
    values, units = rng.normal(size=60), np.repeat(np.arange(20), 3)
    expected = mean_interval(values.reshape(20, 3).mean(1), seed=2)
    shuffled = rng.permutation(60)
    assert mean_interval(values, units, seed=2) == pytest.approx(expected, abs=1e-12)
    assert mean_interval(values[shuffled], units[shuffled], seed=2) == pytest.approx(expected, abs=1e-12)


def test_any_statistic_may_be_asked() -> None:
    values = np.random.default_rng(3).normal(size=25)
    by_index = interval(lambda drawn: float(values[drawn].mean()), 25, seed=6, draws=400)
    assert by_index == pytest.approx(mean_interval(values, seed=6, draws=400), abs=1e-12)


def test_the_ends_are_those_of_all_resamples_there_are() -> None:
    """With 5 units all 3,125 resamples can be listed: BCa by hand over them (Efron 1987) is what is found."""
    values = np.array([0.0, 0.1, 0.5, 0.2, 1.0])
    means = np.sort(np.array([np.mean(drawn) for drawn in itertools.product(values, repeat=5)]))
    n, mean = 5, values.mean()
    below, same = (means < mean - 1e-12).mean(), (np.abs(means - mean) <= 1e-12).mean()
    bias = stats.norm.ppf(below + same / 2)
    left_out = np.array([np.delete(values, one).mean() for one in range(n)])
    away = left_out.mean() - left_out
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    reach = stats.t.isf(0.025, n - 1) * (n / (n - 1)) ** 0.5
    ends = [
        np.quantile(means, stats.norm.cdf(bias + (bias + side) / (1 - acceleration * (bias + side))))
        for side in (-reach, reach)
    ]
    found = mean_interval(values, seed=1, draws=20_000)
    assert found == pytest.approx(ends, abs=0.021), "one step of the mean of these 5 units is 0.02"


@given(numbers)
def test_an_interval_lies_among_the_values_and_is_the_same_every_time(values: list[float]) -> None:
    found = mean_interval(values, draws=100)
    assert found is not None
    assert min(values) - 1e-12 <= found[0] <= found[1] <= max(values) + 1e-12
    assert found == mean_interval(values, draws=100)


def test_where_nothing_differs_there_is_no_width() -> None:
    assert mean_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)
    assert interval(lambda drawn: 1.0, 4) == (1.0, 1.0)


def test_one_unit_or_none_has_no_interval() -> None:
    assert mean_interval([0.5]) is None
    assert mean_interval([]) is None
    assert mean_interval([0.2, 0.4, 0.9], ["a", "a", "a"]) is None
    assert interval(lambda drawn: 1.0, 1) is None
    assert interval(lambda drawn: float("nan"), 5) is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(NumbersError, match="of which some are no numbers: leave them out first"):
        mean_interval([0.1, float("nan")])
    with pytest.raises(NumbersError, match="3 values were given and 2 units"):
        mean_interval([1, 2, 3], [1, 2])
