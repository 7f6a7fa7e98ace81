"""Merging tokens into words, against sums written out and against the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import NumbersError
from heedmap.text.merge import merge


@st.composite
def partitions(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """A number of tokens, and a way to put each into one word."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    tokens = draw(st.permutations(range(sum(sizes))))
    ends = np.cumsum(sizes)
    return sum(sizes), [sorted(tokens[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def causal(*leading: int, tokens: int, seed: int = 0) -> Any:
    weights = np.tril(np.random.default_rng(seed).random((*leading, tokens, tokens)) + 0.01)
    return weights / weights.sum(-1, keepdims=True)


@given(partitions(), st.sampled_from(["mean", "last"]), st.sampled_from([(), (2,), (2, 3)]))
def test_rows_keep_summing_to_one_and_cells_are_the_sums(
    words: tuple[int, list[list[int]]], rule: Any, leading: tuple[int, ...]
) -> None:
    tokens, groups = words
    weights = causal(*leading, tokens=tokens)
    merged = merge(weights, groups, groups, query_rule=rule)
    assert merged.shape == (*leading, len(groups), len(groups))
    # float64 sums of at most 24 numbers below 1
    np.testing.assert_allclose(merged.sum(-1), 1.0, atol=1e-14)
    for q, query in enumerate(groups):
        rows = weights[..., query, :].sum(-2) / len(query) if rule == "mean" else weights[..., query[-1], :]
        for k, key in enumerate(groups):
            np.testing.assert_allclose(merged[..., q, k], rows[..., key].sum(-1), atol=1e-14)


def test_words_of_one_token_change_nothing() -> None:
    weights = causal(9, tokens=6).astype(np.float32)
    alone = [[position] for position in range(6)]
    np.testing.assert_array_equal(merge(weights, alone, alone), weights)


def test_axes_before_query_and_key_are_kept() -> None:
    groups = [[0], [1, 2], [3, 4, 5]]
    assert merge(causal(9, tokens=6), groups, groups).shape == (9, 3, 3)
    stacked = causal(30, 9, tokens=6)
    merged = merge(stacked, groups, groups[:2])
    assert merged.shape == (30, 9, 3, 2)
    np.testing.assert_allclose(merged[4, 7], merge(stacked[4, 7], groups, groups[:2]), atol=1e-15)


def test_an_absent_row_makes_only_its_own_word_absent() -> None:
    weights = causal(tokens=4)
    weights[1] = np.nan
    merged = merge(weights, [[0, 1], [2], [3]], [[0, 1], [2, 3]])
    assert np.isnan(merged[0]).all()
    assert np.isfinite(merged[1:]).all()
    assert np.isfinite(merge(weights, [[1, 2]], [[0]], query_rule="last")).all()


def test_half_precision_is_added_in_single() -> None:
    weights = np.full((1, 2048), 1 / 2048, dtype=np.float16)
    merged = merge(weights, [[0]], [list(range(2048))])
    assert merged.dtype == np.float32
    assert merged.item() == 1.0


@pytest.mark.parametrize(
    ("queries", "keys", "rule", "message"),
    [
        ([[0]], [[0], [0]], "mean", "key token 0 is in two groups, so that its weight would count twice"),
        ([[]], [[0]], "mean", "query group 0 has no tokens"),
        ([], [[0]], "mean", "no query groups were given: name at least one word"),
        ([[0]], [[1], [3]], "mean", "key group 1 names token 3, and there are 3, counted from 0 to 2"),
        ([[-1]], [[1]], "mean", "query group 0 names token -1, and there are 3, counted from 0 to 2"),
        ([[0]], [[0]], "first", "the query rule is 'mean' or 'last', not 'first'"),
    ],
)
def test_groups_that_do_not_fit_are_named(queries: Any, keys: Any, rule: Any, message: str) -> None:
    with pytest.raises(NumbersError) as caught:
        merge(np.eye(3), queries, keys, query_rule=rule)
    assert str(caught.value) == message


def test_a_single_row_is_not_a_map() -> None:
    with pytest.raises(NumbersError, match=r"two axes at least, and these have the shape \(3,\)"):
        merge([0.2, 0.3, 0.5], [[0]], [[0]])
