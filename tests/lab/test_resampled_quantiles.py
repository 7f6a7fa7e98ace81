"""Quartiles of values whose units are drawn again, against NumPy on the values written out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from heedmap.lab.resampled_quantiles import LEVELS, draws_of_units, interval_of, resampled_quantiles


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
    counts = draws_of_units(10, 4000, seed=1)
    assert (counts.sum(1) == 10).all()
    np.testing.assert_allclose(counts.mean(0), 1.0, atol=0.08)  # five standard errors of 4,000 draws
    assert (counts == draws_of_units(10, 4000, seed=1)).all()


def test_an_interval_needs_most_of_the_draws() -> None:
    assert interval_of(np.array([np.nan] * 5 + [1.0] * 5)) is None
    assert interval_of(np.array([np.nan] * 2 + [1.0] * 5)) == (1.0, 1.0)
