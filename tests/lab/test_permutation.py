"""The best of many heads against chance, against listing every flip there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from heedmap.errors import NumbersError
from heedmap.lab import permutation
from heedmap.lab.permutation import best_head


def exact_p(effects: np.ndarray, *, two_sided: bool = False) -> float:
    """The share of all flips whose best head is at least as good; all of them, so no 1 is added."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(effects))))
    means = np.concatenate([effects.mean(0)[None], signs @ effects / len(effects)])
    best = (np.abs(means) if two_sided else means).max(-1)
    return float((best[1:] >= best[0] - 1e-12).mean())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("two_sided", [False, True])
def test_p_is_that_of_all_flips(seed: int, two_sided: bool) -> None:
    effects = np.random.default_rng(seed).normal(0.3, 1, size=(9, 13))
    found = best_head(effects, draws=20_000, seed=seed, two_sided=two_sided)
    assert found is not None
    # Three standard deviations of a share of 20,000 draws are 0.011 at most.
    assert found.p == pytest.approx(exact_p(effects, two_sided=two_sided), abs=0.011)
    size = np.abs(effects.mean(0)) if two_sided else effects.mean(0)
    assert found.head == size.argmax()
    assert found.mean == pytest.approx(effects.mean(0)[found.head])


def test_p_counts_the_data_as_one_of_the_draws() -> None:
    effects = np.full((30, 4), 1.0)
    found = best_head(effects, draws=999)
    assert found is not None
    assert found.p == 1 / 1000


def test_a_draw_that_is_the_data_counts_whatever_its_rounding() -> None:
    """Two units: a quarter of the flips are the data themselves, and none is better."""
    effects = np.array([[0.1, 0.2], [0.30000000000000004, 0.1]])
    found = best_head(effects, draws=4000)
    assert found is not None
    assert found.p == pytest.approx(0.25, abs=0.03)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    effects = np.random.default_rng(5).normal(size=(10, 33))
    whole = best_head(effects, draws=500)
    monkeypatch.setattr(permutation, "_CELLS", 100)
    assert best_head(effects, draws=500) == whole


def test_one_flip_is_for_all_heads() -> None:
    """Heads that are copies of one another cost nothing: p is that of one of them alone."""
    one = np.random.default_rng(6).normal(0.4, 1, size=(14, 1))
    alone, copies = best_head(one, draws=3000), best_head(np.repeat(one, 200, 1), draws=3000)
    assert alone is not None
    assert copies is not None
    assert copies.p == alone.p


def test_nothing_to_search_and_numbers_that_are_none() -> None:
    assert best_head(np.zeros((0, 3))) is None
    assert best_head(np.zeros((3, 0))) is None
    with pytest.raises(NumbersError, match="leave out those units or heads first"):
        best_head(np.array([[np.nan, 1.0]]))
