"""Corrections for many tests, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.lab.correction import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values)
def test_holm_is_the_largest_step_so_far(given_values: list[float]) -> None:
    found = holm(given_values)
    for place, value in enumerate(given_values):
        steps = [
            one * sum(other > one or (other == one and at >= where) for at, other in enumerate(given_values))
            for where, one in enumerate(given_values)
            if one < value or (one == value and where <= place)
        ]
        assert found[place] == pytest.approx(min(1.0, max(steps)))


@given(p_values)
def test_corrected_is_never_smaller_and_bonferroni_never_less_strict(given_values: list[float]) -> None:
    found, given_array = holm(given_values), np.array(given_values)
    assert (found >= given_array - 1e-15).all()
    assert (found <= np.minimum(given_array * len(given_values), 1) + 1e-12).all()


def test_a_test_that_could_not_be_done_is_not_counted() -> None:
    assert np.isnan(holm([float("nan")])).all()
    with_nan = holm([0.01, float("nan"), 0.2])
    assert np.isnan(with_nan[1])
    assert with_nan[[0, 2]].tolist() == holm([0.01, 0.2]).tolist()
