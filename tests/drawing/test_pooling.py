"""Pooling against plain loops."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.drawing.pooling import pool


@given(
    st.integers(1, 13), st.integers(1, 13), st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6),
    st.sampled_from(["mean", "largest"]),
)  # fmt: skip
def test_blocks_agree_with_loops(
    queries: int, keys: int, query_step: int, key_step: int, seed: int, how: Literal["mean", "largest"]
) -> None:
    random = np.random.default_rng(seed)
    weights = random.random((queries, keys))
    allowed = random.random((queries, keys)) < 0.6
    weights[~allowed] = np.nan  # never read
    blocks, some = pool(weights, allowed, (query_step, key_step), how)
    for row, query in enumerate(range(0, queries, query_step)):
        for column, key in enumerate(range(0, keys, key_step)):
            inside = (slice(query, query + query_step), slice(key, key + key_step))
            values = weights[inside][allowed[inside]]
            assert some[row, column] == (len(values) > 0)
            expected = 0.0 if not len(values) else values.mean() if how == "mean" else values.max()
            # Sums of at most 25 numbers below 1, in another order: some units of the last digit.
            assert blocks[row, column] == pytest.approx(expected, abs=1e-14)
    assert blocks.shape == some.shape == (-(-queries // query_step), -(-keys // key_step))


@pytest.mark.parametrize("how", ["mean", "largest"])
def test_what_is_not_a_number_does_not_drown_in_a_block(how: Literal["mean", "largest"]) -> None:
    weights = np.full((4, 4), 0.25)
    weights[1, 1] = np.nan
    blocks, _ = pool(weights, np.ones((4, 4), dtype=bool), (2, 2), how)
    assert np.isnan(blocks).tolist() == [[True, False], [False, False]]


def test_half_precision_is_summed_in_double() -> None:
    weights = np.full((64, 64), 0.1, dtype=np.float16)
    blocks, _ = pool(weights, np.ones((64, 64), dtype=bool), (64, 64), "mean")
    assert blocks[0, 0] == float(np.float16(0.1))


def test_steps_of_one_change_nothing() -> None:
    weights = np.random.default_rng(0).random((5, 3))
    blocks, some = pool(weights, np.ones((5, 3), dtype=bool), (1, 1), "largest")
    assert (blocks == weights).all()
    assert some.all()
