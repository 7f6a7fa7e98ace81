"""Means and medians that leave out what is absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heedmap.reading.statistics_measure import Measured
from heedmap.reading.statistics_summary import mean, median, summarise

values = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-1000, 1000, width=32) | st.just(float("nan")),
)


@given(values)
def test_mean_and_median_are_those_of_what_is_a_number(drawn: Any) -> None:
    for row, found_mean, found_median in zip(drawn, mean(drawn), median(drawn), strict=True):
        known = row[~np.isnan(row)].astype(np.float64)
        if len(known) == 0:
            assert np.isnan(found_mean)
            assert np.isnan(found_median)
        else:
            np.testing.assert_allclose(found_mean, known.mean(), rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(found_median, np.median(known), rtol=1e-12, atol=1e-12)


def test_no_values_have_no_mean() -> None:
    nothing = np.empty((3, 0), dtype=np.float32)
    assert np.isnan(mean(nothing)).all()
    assert np.isnan(median(nothing)).all()


def test_the_first_token_padding_and_dead_rows_do_not_count() -> None:
    """Of seven positions: two of padding, the first token, a dead row, a row of no numbers, and two that count."""
    absent = torch.nan
    measured = Measured(
        values={"first": torch.tensor([[absent, absent, 1.0, absent, absent, 0.25, 0.75]])},
        after_first=torch.tensor([False, False, False, True, True, True, True]),
        padding=torch.tensor([True, True, False, False, False, False, False]),
        dead=torch.tensor([[False, False, False, True, False, False, False]]),
        not_a_number=torch.tensor([[False, False, False, False, True, False, False]]),
    )
    found = {name: column.tolist() for name, column in summarise(measured).items()}
    assert found == {
        "first": [0.5],
        "first_median": [0.5],
        "counted": [2],
        "dead": [1],
        "padding": [2],
        "not_a_number": [1],
    }
