"""The exact sign test, against counting every outcome."""

from __future__ import annotations

import itertools

import pytest

from heedmap.errors import NumbersError
from heedmap.lab.sign_test import sign_test


@pytest.mark.parametrize("one", range(9))
@pytest.mark.parametrize("other", range(6))
def test_it_counts_every_outcome(one: int, other: int) -> None:
    n = one + other
    if n == 0:
        assert sign_test(one, other) is None
        return
    uneven = [abs(2 * sum(ways) - n) >= abs(one - other) for ways in itertools.product((0, 1), repeat=n)]
    assert sign_test(one, other) == pytest.approx(sum(uneven) / 2**n, abs=1e-12)
    assert sign_test(one, other) == sign_test(other, one)


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(NumbersError, match="expected counts from 0"):
        sign_test(-1, 3)
