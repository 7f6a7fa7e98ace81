"""The small tools: published figures, NumPy and SciPy-free oracles, printed work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.arithmetic import dot_product, matrix_product, softmax, transpose, weighted_average
from heedmap.errors import NumbersError

numbers = st.floats(-50, 50)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ([2, 1, 0], [3, 1, 4], 7),
        ([1, 2, 1], [2, 0, 3], 5),
        ([1, 0], [1, 0], 1),
        ([1, 0], [0, 1], 0),
        ([1, 0], [-1, 0], -1),
    ],
)
def test_dot_product(left: list[float], right: list[float], result: float) -> None:
    assert dot_product(left, right).result == result


@pytest.mark.parametrize(
    ("scores", "digits", "weights"),
    [
        ([2, 1, 0], 3, [0.665, 0.245, 0.090]),
        ([3, 1, 1], 3, [0.787, 0.107, 0.107]),
        ([1, 2, 3], 4, [0.0900, 0.2447, 0.6652]),
    ],
)
def test_softmax(scores: list[float], digits: int, weights: list[float]) -> None:
    done = softmax(scores)
    assert done.weights.round(digits).tolist() == weights
    assert done.weights.sum() == pytest.approx(1, abs=1e-15)


def test_softmax_keeps_its_steps() -> None:
    done = softmax([2, 1, 0])
    assert done.exponentials.round(2).tolist() == [7.39, 2.72, 1.0]
    assert round(done.total, 2) == 11.11
    assert done.shift == 0


def test_matrix_product() -> None:
    product = matrix_product([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert product.result.tolist() == [[19, 22], [43, 50]]
    assert product.cell(0, 1).result == 22


def test_a_matrix_by_its_transpose() -> None:
    key = [[1, 0], [0, 1], [2, 3]]
    turned = transpose(key).result
    assert turned.tolist() == [[1, 0, 2], [0, 1, 3]]
    assert matrix_product(key, turned).result.tolist() == [[1, 0, 2], [0, 1, 3], [2, 3, 13]]


def test_weighted_average() -> None:
    assert weighted_average([10, 20, 40], [0.5, 0.25, 0.25]).result == 20
    assert weighted_average([[1, 0], [0, 2]], [0.25, 0.75]).result.tolist() == [0.25, 1.5]


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_dot_product_is_the_exact_sum(pairs: list[tuple[float, float]]) -> None:
    left, right = zip(*pairs, strict=True)
    # fsum adds without rounding; the tolerance is the rounding of 8 products and sums of up to 2,500.
    exact = math.fsum(a * b for a, b in pairs)
    assert dot_product(left, right).result == pytest.approx(exact, abs=1e-11)


@given(st.lists(st.floats(-2000, 2000), min_size=1, max_size=8))
def test_softmax_of_any_scores(scores: list[float]) -> None:
    done = softmax(scores)
    shifted = [math.exp(score - max(scores)) for score in scores]
    assert done.weights == pytest.approx([one / math.fsum(shifted) for one in shifted], rel=1e-12, abs=1e-300)
    assert done.weights.sum() == pytest.approx(1, abs=1e-12)


def test_softmax_of_scores_of_900_says_what_it_took_off() -> None:
    done = softmax([900, 899])
    assert done.shift == 900
    assert done.weights == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e)], rel=1e-15)
    assert "e^(score − 900.00)" in str(done)


def test_softmax_of_nothing_is_absent() -> None:
    done = softmax([1, 2], mask=[False, False])
    assert np.isnan(done.weights).all()
    assert math.isnan(done.total)
    assert str(done) == "nothing may be looked at: there are no weights"


def test_softmax_of_some() -> None:
    done = softmax([1, 2], mask=[False, True])
    assert done.weights.tolist() == [0, 1]
    assert str(done).splitlines()[1].split() == ["1.0", "—", "—"]


def test_the_printed_work() -> None:
    assert str(dot_product([1.0, 0.6], [0.1, -0.5])) == "1.0·0.1 + 0.6·(-0.5) = -0.20"
    assert str(weighted_average([1, 2], [0.5, 0.4])).splitlines() == [
        "0.5·1.0 + 0.4·2.0 = 1.30",
        "the weights sum to 0.90, not to 1, so this is not quite an average",
    ]
    large = str(matrix_product(np.ones((6, 30)), np.ones((30, 6))))
    assert large.splitlines()[0] == "result"
    assert str(dot_product(range_vector(64), range_vector(64))) == "0·0 + 1·1 + … 62 more = 85344"
    assert "… and so on for 6 more" in str(transpose(np.ones((30, 2))))


def range_vector(count: int) -> Any:
    return np.arange(count)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dot_product([1, 2], [1]), "right: expected 2 numbers, as many as the left has, found 1"),
        (
            lambda: matrix_product([[1, 2]], [[1, 2]]),
            "right: expected 2 rows, as many as the left has columns, found 1",
        ),
        (lambda: weighted_average([1, 2], [1]), "weights: expected 2 numbers, one for each value, found 1"),
        (lambda: softmax([]), "scores: expected at least one number, found an empty list"),
        (lambda: softmax([[1]]), "scores: expected a list of numbers, found 2 axes, of the shape (1, 1)"),
        (lambda: transpose([1, 2]), "values: expected a list of rows of numbers, found 1 axes, of the shape (2,)"),
        (lambda: dot_product([1e200], [1e200]), "left · right: too large for the machine's numbers (beyond 1e308)"),
    ],
)
def test_what_does_not_fit_is_named(call: Any, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        call()
    assert str(error.value).startswith(message)
