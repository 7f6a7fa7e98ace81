"""The Wilson interval, against its formula."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import NumbersError
from heedmap.lab.wilson import wilson

Z = 1.959963984540054  # the normal distribution's 97.5th percentile


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_is_the_formula(counts: tuple[int, int]) -> None:
    count, n = counts
    share = count / n
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    assert wilson(count, n) == pytest.approx((middle - half, middle + half), abs=1e-9)


def test_the_ends() -> None:
    assert wilson(0, 0) is None
    low, high = wilson(10, 10) or (0, 0)
    assert low > 0.7
    assert high == pytest.approx(1)
    with pytest.raises(NumbersError, match="6 of 5 units were given: expected a count from 0 to 5"):
        wilson(6, 5)
