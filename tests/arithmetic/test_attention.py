"""`attend` against torch's attention, and the properties that attention has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heedmap.arithmetic import attend
from heedmap.errors import NumbersError

# Both sides calculate in float64; sums of up to 64 products of size 10, then exp: some 1e-14.
CLOSE: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}

elements = st.floats(-3, 3, width=32)


@st.composite
def problems(draw: st.DrawFn, *, heads: int | None = None) -> tuple[Any, Any, Any, int]:
    """Query, key and value with a head axis, and how many query heads share a key-value head."""
    groups = draw(st.integers(1, 3)) if heads is None else heads
    sharing = draw(st.integers(1, 3)) if heads is None else 1
    queries, keys, dim, width = (draw(st.integers(1, 5)) for _ in range(4))
    keys = max(keys, queries)
    query = draw(arrays(np.float64, (groups * sharing, queries, dim), elements=elements))
    key = draw(arrays(np.float64, (groups, keys, dim), elements=elements))
    value = draw(arrays(np.float64, (groups, keys, width), elements=elements))
    return query, key, value, sharing


def torch_attention(query: Any, key: Any, value: Any, **settings: Any) -> Any:
    """torch's own attention in float64."""
    q, k, v = (torch.from_numpy(np.ascontiguousarray(array))[None] for array in (query, key, value))
    result = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, **settings)
    return result[0].numpy()


@given(problems(), st.data())
def test_output_is_that_of_torch(problem: tuple[Any, Any, Any, int], data: st.DataObject) -> None:
    query, key, value, _ = problem
    shape = (len(query), query.shape[1], key.shape[1])
    mask = data.draw(arrays(np.bool_, shape))
    mask[..., 0] = True  # a row that may look at nothing is tested by itself: torch gives such rows a value
    scale = data.draw(st.sampled_from([None, 1.0, 0.3]))
    trace = attend(query, key, value, mask=mask, scale=scale)
    expected = torch_attention(query, key, value, attn_mask=torch.from_numpy(mask), scale=scale)
    np.testing.assert_allclose(trace.output, expected, **CLOSE)


@given(problems())
def test_causal_is_that_of_torch_for_square_maps(problem: tuple[Any, Any, Any, int]) -> None:
    query, key, value, _ = problem
    count = query.shape[1]
    trace = attend(query, key[:, :count], value[:, :count], causal=True)
    expected = torch_attention(query, key[:, :count], value[:, :count], is_causal=True)
    np.testing.assert_allclose(trace.output, expected, **CLOSE)


@given(problems())
def test_weights_are_torch_softmax_of_the_products(problem: tuple[Any, Any, Any, int]) -> None:
    query, key, value, sharing = problem
    trace = attend(query, key, value)
    repeated = torch.from_numpy(key).repeat_interleave(sharing, dim=0)
    scores = torch.from_numpy(query) @ repeated.transpose(1, 2) / math.sqrt(query.shape[-1])
    np.testing.assert_allclose(trace.weights, scores.softmax(-1).numpy(), **CLOSE)
    np.testing.assert_allclose(trace.scores, scores.numpy(), **CLOSE)


@given(problems())
def test_rows_sum_to_one_and_every_step_follows_from_the_one_before(problem: tuple[Any, Any, Any, int]) -> None:
    trace = attend(*problem[:3], multiply=2.5)
    assert trace.exponentials is not None
    assert trace.totals is not None
    np.testing.assert_allclose(trace.weights.sum(-1), 1, atol=1e-14)
    np.testing.assert_array_equal(trace.scores, trace.products * trace.scale * trace.multiply)
    np.testing.assert_allclose(trace.exponentials, np.exp(trace.scores - trace.shift[..., None]), rtol=1e-15)
    np.testing.assert_array_equal(trace.weights, trace.exponentials / trace.totals[..., None])


@given(problems(heads=1), st.randoms(use_true_random=False))
def test_exchanging_keys_exchanges_weights(problem: tuple[Any, Any, Any, int], random: Any) -> None:
    query, key, value, _ = problem
    order = list(range(key.shape[1]))
    random.shuffle(order)
    before, after = attend(query, key, value), attend(query, key[:, order], value[:, order])
    np.testing.assert_allclose(after.weights, before.weights[..., order], **CLOSE)
    np.testing.assert_allclose(after.output, before.output, **CLOSE)


@given(problems(heads=2), st.floats(-300, 300))
def test_a_constant_on_all_scores_changes_nothing(problem: tuple[Any, Any, Any, int], constant: float) -> None:
    query, key, value, _ = problem
    # One more number, 1 in each query and the constant in each key, adds the constant to every product.
    longer_query = np.concatenate([query, np.ones((*query.shape[:2], 1))], axis=-1)
    longer_key = np.concatenate([key, np.full((*key.shape[:2], 1), constant)], axis=-1)
    before = attend(query, key, value, scale=1.0)
    after = attend(longer_query, longer_key, value, scale=1.0)
    # Scores of 300 carry 6e-14 of rounding into the exponent.
    np.testing.assert_allclose(after.weights, before.weights, rtol=1e-11, atol=1e-13)


@given(problems(heads=1))
def test_sharpened_far_enough_only_the_largest_score_counts(problem: tuple[Any, Any, Any, int]) -> None:
    trace = attend(*problem[:3], multiply=1e6)
    for scores, weights in zip(trace.scores[0], trace.weights[0], strict=True):
        largest = scores == scores.max()
        if np.all(largest | (scores < scores.max() - 100)):
            np.testing.assert_allclose(weights, largest / largest.sum(), atol=1e-12)


def test_the_one_hot_limit() -> None:
    trace = attend([1.0, 0.6], [[0.1, 0.0], [1.0, 0.8], [0.2, 0.9]], np.eye(3), multiply=1e4)
    assert trace.weights.tolist() == [[0, 1, 0]]


@given(problems())
def test_grouped_heads_equal_repeated_heads(problem: tuple[Any, Any, Any, int]) -> None:
    query, key, value, sharing = problem
    grouped = attend(query, key, value)
    repeated = attend(query, np.repeat(key, sharing, axis=0), np.repeat(value, sharing, axis=0))
    np.testing.assert_array_equal(grouped.weights, repeated.weights)
    np.testing.assert_array_equal(grouped.output, repeated.output)


def test_fourteen_heads_on_two_share_them_seven_each() -> None:
    random = np.random.default_rng(1)
    query, key, value = (random.normal(size=size) for size in ((14, 3, 4), (2, 5, 4), (2, 5, 4)))
    trace = attend(query, key, value)
    for head in range(14):
        alone = attend(query[head], key[head // 7], value[head // 7])
        np.testing.assert_allclose(trace.weights[head], alone.weights, **CLOSE)
        np.testing.assert_allclose(trace.output[head], alone.output, **CLOSE)


@given(problems(heads=1), st.data())
def test_a_causal_row_knows_nothing_of_later_keys(problem: tuple[Any, Any, Any, int], data: st.DataObject) -> None:
    query, key, value, _ = problem
    count = query.shape[1]
    row = data.draw(st.integers(0, count - 1))
    before = attend(query, key[:, :count], value[:, :count], causal=True)
    key, value = key.copy(), value.copy()
    key[:, row + 1 :] += 7
    value[:, row + 1 :] -= 7
    after = attend(query, key[:, :count], value[:, :count], causal=True)
    np.testing.assert_array_equal(after.output[:, : row + 1], before.output[:, : row + 1])
    assert (after.weights[:, row, row + 1 :] == 0).all()


def test_causal_queries_are_the_last_ones_unless_said_otherwise() -> None:
    key = np.ones((4, 2))
    assert attend(key[:2], key, key, causal=True).allowed.tolist() == [[True, True, True, False], [True] * 4]
    first = attend(key[:2], key, key, causal=True, query_positions=[0, 2])
    assert first.allowed.tolist() == [[True, False, False, False], [True, True, True, False]]


def test_a_row_that_may_look_at_nothing_is_absent() -> None:
    for softmax in (True, False):
        trace = attend(
            np.ones((2, 2)), np.ones((3, 2)), np.ones((3, 2)), softmax=softmax, mask=[[False] * 3, [True] * 3]
        )
        assert np.isnan(trace.weights[0]).all()
        assert np.isnan(trace.output[0]).all()
        assert np.isfinite(trace.output[1]).all()


def test_forbidden_is_exactly_zero() -> None:
    trace = attend([1.0], [[1.0], [2.0], [3.0]], np.eye(3), mask=[True, False, True])
    assert trace.weights[0, 1] == 0
    assert trace.scores[0, 1] == -np.inf
    assert trace.products[0, 1] == 2
    assert trace.output[0, 1] == 0


@pytest.mark.parametrize("size", [500, 501, 709, 900, 5000, 1e100])
@pytest.mark.parametrize("sign", [1, -1])
def test_weights_are_right_however_large_the_scores(size: float, sign: int) -> None:
    """Two keys whose scores differ by exactly ln 3 (or by what the numbers' spacing leaves of it)."""
    difference = (size + math.log(3)) - size
    trace = attend([1.0], [[sign * size], [sign * size + difference]], np.eye(2), scale=1.0)
    assert trace.weights[0] == pytest.approx(
        [1 / (1 + math.exp(difference)), 1 / (1 + math.exp(-difference))], rel=1e-12
    )
    assert trace.exponentials is not None
    assert np.isfinite(trace.exponentials).all()
    assert (trace.exponentials.max() > 0).all()
    assert bool(trace.shift.any()) == (max(trace.scores[0] * sign) > 500 if sign > 0 else trace.scores.max() < -500)


def test_exponentials_are_not_shifted_where_they_need_not_be() -> None:
    trace = attend([1.0], [[400.0], [-400.0]], np.eye(2), scale=1.0)
    assert trace.exponentials is not None
    assert trace.exponentials[0, 0] == pytest.approx(math.exp(400), rel=1e-15)  # NumPy's exp may be its own


def test_only_the_row_that_needs_it_is_shifted() -> None:
    trace = attend([[900.0], [1.0]], [[1.0], [0.5]], np.eye(2), scale=1.0)
    assert trace.shift.tolist() == [900, 0]


def test_without_softmax_the_weights_are_the_scores() -> None:
    trace = attend([1.0, 0.6], [[1.0, 0.8], [0.2, 0.9]], np.eye(2), softmax=False)
    np.testing.assert_array_equal(trace.weights, trace.scores)
    np.testing.assert_array_equal(trace.output, trace.scores)
    assert trace.exponentials is None
    assert trace.totals is None


def test_one_query_one_head_and_many_agree() -> None:
    random = np.random.default_rng(2)
    query, key, value = random.normal(size=(3, 4)), random.normal(size=(5, 4)), random.normal(size=(5, 2))
    many = attend(query, key, value)
    assert many.output.shape == (3, 2)
    assert attend(query[None], key[None], value[None]).output.shape == (1, 3, 2)
    for row in range(3):
        np.testing.assert_allclose(attend(query[row], key, value).output[0], many.output[row], **CLOSE)


def test_keys_without_a_head_axis_serve_all_heads() -> None:
    random = np.random.default_rng(3)
    query, key, value = random.normal(size=(4, 3, 2)), random.normal(size=(5, 2)), random.normal(size=(5, 2))
    trace = attend(query, key, value)
    np.testing.assert_array_equal(trace.output, attend(query, key[None], value[None]).output)


def test_names() -> None:
    key = np.ones((3, 1))
    assert attend([1], key, key).key_tokens == ("k0", "k1", "k2")
    assert attend([1], key, key).query_tokens == ("q0",)
    assert attend([1], key, key, key_tokens=["a", "b", "c"]).query_tokens == ("c",)
    assert attend([1], key, key, key_tokens=["a", "b", "c"], query_positions=[0]).query_tokens == ("a",)
    assert attend(np.ones((4, 1)), key, key, key_tokens=["a", "b", "c"]).query_tokens == ("q0", "q1", "q2", "q3")


def test_what_was_given_is_not_changed() -> None:
    key = np.arange(6, dtype=np.float32).reshape(3, 2)
    copy = key.copy()
    trace = attend(key, key, key, causal=True)
    np.testing.assert_array_equal(key, copy)
    assert trace.output.dtype == np.float64


ONES = [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (([1.0], ONES, ONES), {}, "key: expected 1 numbers in each row, as many as a query has, found 2"),
        ((ONES, ONES, [[1.0]]), {}, "value: expected 2 rows, one for each key, found 1"),
        (([ONES] * 2, [ONES] * 2, ONES), {}, "value: expected 2 heads, as many as the key has, found 1"),
        (
            ([ONES] * 3, [ONES] * 2, [ONES] * 2),
            {},
            "query: expected a multiple of 2 heads, so that they share the 2 key-value heads equally, found 3",
        ),
        ((ONES, ONES, ONES), {"scale": float("nan")}, "scale: expected a finite number, found nan"),
        ((ONES, ONES, ONES), {"multiply": "8"}, 'multiply: expected a number, found the text "8"'),
        ((ONES, ONES, ONES), {"mask": [[1, 0], [1, 1]]}, "mask row 0, number 0: expected true or false"),
        ((ONES, ONES, ONES), {"mask": np.ones((2, 2))}, "mask: expected booleans (True = may look), found float64"),
        (
            (ONES, ONES, ONES),
            {"mask": np.ones((3, 2), dtype=bool)},
            "mask: expected 2 rows (queries) of 2 (keys), or such rows for each of 1 heads, found the shape (3, 2)",
        ),
        ((ONES, ONES, ONES), {"key_tokens": ["a"]}, "key_tokens: expected 2, one for each key, found 1"),
        ((ONES, ONES, ONES), {"key_tokens": "ab"}, "key_tokens: expected a list of texts, one for each key"),
        ((ONES, ONES, ONES), {"query_tokens": [1, 2]}, "query_tokens row 0: expected a text, found the number 1"),
        (
            ([*ONES, *ONES], ONES, ONES),
            {"causal": True},
            "causal: expected at most 2 queries, one a key, found 4; say where each stands with query_positions",
        ),
        ((ONES, ONES, ONES), {"query_positions": [0]}, "query_positions: expected 2, one for each query, found 1"),
        (
            (ONES, ONES, ONES),
            {"query_positions": [0, 2]},
            "query_positions row 1: expected a whole number from 0 to 1, found 2",
        ),
        (([[1e200]], [[1e200]], [[1.0]]), {}, "query · key: too large for the machine's numbers"),
        (([[1e100]], [[1e100]], [[1.0]]), {"multiply": 1e200}, "the scores: too large for the machine's numbers"),
        (
            ([[1e100]], [[1e100]], [[1e200]]),
            {"softmax": False},
            "the output: too large for the machine's numbers",
        ),
    ],
)
def test_what_does_not_fit_is_named(arguments: Any, settings: Any, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        attend(*arguments, **settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
