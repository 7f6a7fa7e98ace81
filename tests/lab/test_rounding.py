"""Choices, signs and sums that the last bits of float32 must not decide."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.lab.held_out import held_out
from heedmap.lab.max_t import max_t
from heedmap.lab.permutation import best_head
from heedmap.lab.reference_summary import summarise
from heedmap.lab.rounding import TIE, beyond_rounding, exact_sums, first_largest, largest_first, rounding_of, slack

shares = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=12)
seeds = st.integers(0, 2**32 - 1)


def moved(values: np.ndarray, seed: int) -> np.ndarray:
    """As another machine has them."""
    return np.asarray(values + np.random.default_rng(seed).uniform(-1e-6, 1e-6, values.shape))


@given(shares, seeds)
def test_ties_are_settled_as_without_rounding(values: list[float], seed: int) -> None:
    exact = np.array(values)
    assert first_largest(moved(exact, seed)) == int(exact.argmax())
    assert largest_first(moved(exact, seed)).tolist() == np.argsort(-exact, kind="stable").tolist()


def test_what_is_ahead_by_more_than_rounding_is_first() -> None:
    assert first_largest(np.array([0.5, 0.5 + 3 * TIE])) == 1
    assert first_largest(np.array([np.nan, -0.5, -0.2])) == 2
    assert first_largest(np.array([3000.0, 3000.0 + slack(3000) / 2])) == 0


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6))
def test_sums_do_not_depend_on_the_order(values: list[float]) -> None:
    on_a_grid = exact_sums(np.array(values))
    assert len({float(np.sum(order)) for order in itertools.permutations(on_a_grid)}) == 1
    assert np.abs(on_a_grid - values).max() <= 2**-42 * max(np.abs(values).max(), 1e-300)


def test_differences_of_rounding_are_none() -> None:
    found = beyond_rounding(np.array([TIE / 2, -TIE / 2, 2 * TIE, np.nan]))
    assert found[:3].tolist() == [0.0, 0.0, 2 * TIE]
    assert np.isnan(found[3])
    assert rounding_of("float16") > rounding_of("float32")


@pytest.mark.parametrize("seed", range(5))
def test_units_without_an_effect_flip_no_p_value(seed: int) -> None:
    """Two of eight units have none: a flip of theirs leaves the sum, and counts as the data."""
    exact = np.random.default_rng(9).uniform(0.1, 0.3, (8, 1)) * [[1.0, 0.9, 0.8]]
    exact[[2, 5]] = 0.0
    expected = best_head(exact, draws=500)
    found = best_head(moved(exact, seed), draws=500)
    assert expected is not None
    assert found is not None
    assert (found.head, found.p) == (expected.head, expected.p)


def test_heads_that_are_tied_are_as_good_as_the_chosen_one() -> None:
    effects = np.repeat(np.random.default_rng(0).uniform(0.1, 0.2, (12, 1)), 4, 1)
    halves = np.arange(12) < 6
    for seed in range(5):
        found = held_out(moved(effects, seed), halves, draws=200)
        assert found is not None
        assert (found.head, found.as_good) == (0, 1.0)


def test_differences_that_are_rounding_are_not_found() -> None:
    """Rounding that leans one way in every unit has a tiny spread; without a floor it would be the surest of all."""
    rng = np.random.default_rng(3)
    differences = rng.normal(size=(10, 20))
    differences[:, 4] = 3e-7 * (1 + 0.01 * rng.normal(size=10))
    assert max_t(differences, draws=500)[4] < 0.05
    assert max_t(beyond_rounding(differences), draws=500)[4] == 1.0


def test_log_odds_that_are_tied_are_half_right() -> None:
    odds, answers = np.array([[1.0, -1.0], [3e-7, -2e-7], [-4e-7, 1e-7]]), np.array([[0, 1]] * 3, np.int8)
    found = summarise(odds, answers, seed=0, draws=100)
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert (found.right_way, found.wrong_way) == (1, 0)
