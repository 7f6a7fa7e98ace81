"""Quartiles of values whose units are drawn again, against NumPy on the values written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from heedmap.lab.bootstrap import interval
from heedmap.lab.resampled_quantiles import LEVELS, interval_of, resampled_quantiles, samples_of_units


@given(some.integers(0, 10_000), some.integers(1, 40), some.integers(1, 8))
def test_they_are_those_of_the_values_repeated(seed: int, values: int, units: int) -> None:
    random = np.random.default_rng(seed)
    numbers = random.choice([0.0, 0.25, 0.5, 1.0], values) if seed % 2 else random.normal(size=values)
    unit = random.integers(0, units, values)
    counts = random.integers(0, 4, (5, units))
    found = resampled_quantiles(numbers, unit, counts)
    for draw, count in zip(found, counts, strict=True):
        repeated = np.repeat(numbers, count[unit])
        if len(repeated):
            np.testing.assert_allclose(draw, np.quantile(repeated, LEVELS), rtol=1e-12, atol=1e-12)
        else:
            assert np.isnan(draw).all()


def test_draws_take_as_many_units_as_there_are_evenly() -> None:
    counts = samples_of_units(10, 4000, seed=1)
    drawn, left_out = counts[:-10], counts[-10:]
    assert len(drawn) == 4000
    assert (drawn.sum(1) == 10).all()
    np.testing.assert_allclose(drawn.mean(0), 1.0, atol=0.08)  # five standard errors of 4,000 draws
    assert (left_out == 1 - np.eye(10)).all()
    assert (counts == samples_of_units(10, 4000, seed=1)).all()


def test_an_interval_needs_most_of_the_draws() -> None:
    nothing = [np.nan]
    assert interval_of(np.array(nothing * 5 + [1.0] * 5 + [1.0] * 3), 1.0, 3) is None
    assert interval_of(np.array(nothing * 2 + [1.0] * 5 + [1.0] * 3), 1.0, 3) == (1.0, 1.0)
    assert interval_of(np.array([1.0] * 9), np.nan, 3) is None
    assert interval_of(np.array([1.0] * 9), 1.0, 1) is None


@pytest.mark.parametrize("units", [4, 12, 60])
@pytest.mark.parametrize("skewed", [False, True])
def test_an_interval_is_the_one_of_scipy(units: int, skewed: bool) -> None:
    """BCa of a mean and of a median; the draws are others, so that the ends lie apart by their own scatter."""
    random = np.random.default_rng(units)
    values = random.lognormal(size=units) if skewed else random.normal(size=units)
    counts = samples_of_units(units, 20_000, seed=1)
    expected = interval(lambda drawn: float(values[drawn].mean()), units, draws=20_000)
    found = interval_of(counts @ values / counts.sum(1), float(values.mean()), units)
    assert expected is not None
    assert found is not None
    # 20,000 draws scatter an end by about 1 in 100 of the interval, far out (few units, skewed) by a few.
    np.testing.assert_allclose(np.array(found), np.array(expected), atol=0.06 * (expected[1] - expected[0]))
    plain = np.quantile(counts[:-units] @ values / units, (0.025, 0.975))
    if units == 4:
        assert expected[1] - expected[0] > 1.2 * (plain[1] - plain[0])
