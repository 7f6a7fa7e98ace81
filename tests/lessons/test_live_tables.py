"""Tables and worked lines that lessons 4 to 6 print: every number in them against NumPy and SciPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import softmax

import heedmap.lessons.computations  # noqa: F401 - brings every computation into the registry
from heedmap.lessons.live import compute
from heedmap.lessons.live_layer import LAYER
from tests.lessons.test_exercises import numbers_of

SCORES = [2.0, 1.0, 0.0]

THREE, TWO = 5.1e-4, 5.1e-3
"""Half of the last digit that is shown."""


def lines_of(call: str) -> list[list[float]]:
    """The numbers of a table, without its head."""
    return [numbers for line in compute(call).text.splitlines()[1:] if (numbers := numbers_of(line))]


def test_softmax_is_written_out() -> None:
    for scores in (SCORES, [8.0, 0.0, -8.0], [0.125, 0.0, -0.125], [16.0, 8.0]):
        typed = ",".join(map(str, scores))
        np.testing.assert_allclose(numbers_of(compute(f"softmax-weights {typed}").text), softmax(scores), atol=THREE)
        *lines, total = compute(f"softmax-table {typed}").text.splitlines()
        powers = np.exp(scores)
        wanted = np.stack([scores, powers, powers / powers.sum()], axis=1)
        np.testing.assert_allclose([numbers_of(line) for line in lines[1:]], wanted, atol=TWO)
        np.testing.assert_allclose(numbers_of(total), [*powers, powers.sum()], atol=TWO)


def test_slopes_as_scores_grow_are_those_of_a_small_change() -> None:
    step = 1e-6 * np.eye(3)[0]
    for factor, *weights, slope in lines_of("slope-table 2,1,0 0.5,1,2,4,8"):
        scores = factor * np.array(SCORES)
        np.testing.assert_allclose(weights, softmax(scores), atol=THREE)
        change = (softmax(scores + step) - softmax(scores - step))[0] / 2e-6
        assert slope == pytest.approx(change, abs=6e-5)


def test_spreads_of_random_products_are_about_the_root_and_one() -> None:
    for width, plain, root, scaled in lines_of("spread-table 2,16,64,256"):
        assert root == pytest.approx(width**0.5, abs=TWO)
        assert plain == pytest.approx(root, rel=0.04)  # 10,000 products tell a spread to about a percent
        assert scaled == pytest.approx(plain / root, abs=2 * TWO)


def test_the_best_of_eight_is_that_of_products_drawn_here() -> None:
    random, queries = np.random.default_rng(7), 4_000
    for line in compute("peak-table 2,16,64,256").text.splitlines()[2:]:
        width, *shown = numbers_of(line)
        query = random.standard_normal((queries, 1, int(width)))
        products = (query * random.standard_normal((queries, 8, int(width)))).sum(axis=-1)
        for root, (peak, slope) in zip((1, width**0.5), (shown[:2], shown[2:]), strict=True):
            weights = softmax(products / root, axis=1).max(axis=1)
            # Means of 1,000 and of 4,000 largest weights, which spread by 0.25 at most: 0.035 is four standard errors.
            assert peak == pytest.approx(weights.mean(), abs=0.035)
            assert slope == pytest.approx((weights * (1 - weights)).mean(), abs=0.015)


X = np.array(LAYER.x)
TABLES = {name: np.array(LAYER.tables[f"{name}_table"]) for name in ("query", "key", "value", "output")}


def worked(line: str) -> float:
    """What a line such as `1.0·0.0 + 0.5·2.0 = 1.00` adds up to; its own sum must be that, up to the last digit."""
    terms, _, total = line.rpartition("=")
    found = sum(float(a) * float(b) for a, b in re.findall(r"(-?[\d.]+)·(-?[\d.]+)", terms))
    assert found == pytest.approx(float(total), abs=0.021)  # four terms, each of a factor rounded to two digits
    return found


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_every_word_meets_every_column_of_a_learned_table(name: str) -> None:
    wanted = X @ TABLES[name]
    lines = [line for line in compute(f"layer-steps {name}").text.splitlines() if "=" in line]
    assert [worked(line) for line in lines] == pytest.approx(wanted.ravel().tolist())
    np.testing.assert_array_equal([row[-len(wanted[0]) :] for row in lines_of(f"layer-table {name}")], TABLES[name])
    for token, vector, made in zip(("The", "cat", "sat", "it"), X, wanted, strict=True):
        assert numbers_of(compute(f"layer-x {token}").text) == vector.tolist()
        assert [worked(compute(f"layer-work {name} {token} {column}").text) for column in range(len(made))] == (
            pytest.approx(made.tolist())
        )


def test_the_way_out_is_worked_line_by_line_also_when_the_heads_are_joined_wrongly() -> None:
    rows = [row[-3:] for row in lines_of("layer-table output")]
    np.testing.assert_array_equal(rows, TABLES["output"])
    for join in ("", " join=swapped"):
        lines = [line for line in compute(f"layer-steps output{join}").text.splitlines() if "=" in line]
        wanted = [
            compute(f"layer-vector output {token} {column}{join}").value
            for token in ("The", "cat", "sat", "it")
            for column in range(3)
        ]
        np.testing.assert_allclose([worked(line) for line in lines], np.array(wanted, dtype=float), atol=0.021)


def test_a_dot_product_is_written_out() -> None:
    for left, right in (([3, 4], [3, 4]), ([2, 1, 0], [3, 1, 4]), ([1, 0], [-1, 0])):
        text = compute(f"work-dot {','.join(map(str, left))} {','.join(map(str, right))}").text
        assert numbers_of(text.replace("·", " ")) == [
            *(float(one) for pair in zip(left, right, strict=True) for one in pair),
            float(np.dot(left, right)),
        ]
    assert compute("power 1.03 digits=1").text == "2.8"
    assert [compute(f"root {d} digits=0").text for d in (16, 64, 100)] == ["4", "8", "10"]


def test_heads_of_a_group_are_neighbours() -> None:
    for heads, groups in ((9, 3), (32, 8), (4, 4), (6, 1)):
        shared = np.repeat(np.arange(groups), heads // groups)
        assert [compute(f"key-head {head} {heads} {groups}").value for head in range(heads)] == shared.tolist()
