"""What goes with the place and what with the document: fits with known answers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.reading.permute import PermutedSpans
from heedmap.reading.span_shares import LayerShares
from heedmap.reading.spans import SpanShares
from heedmap.text.asking import Asking
from heedmap.text.reorder import orders
from heedmap.text.spans import partition
from tests.text.spans_making import tokens_of

CYCLIC = tuple(orders(4, None, 0))


def permuted(
    times: np.ndarray, of_left: np.ndarray | None = None, runs: tuple[tuple[int, ...], ...] = CYCLIC
) -> PermutedSpans:
    parts = partition(tokens_of("The cat sat on the mat"), {"a": "4:7"})
    blank = np.zeros((1, 3))
    own = SpanShares(
        parts, Asking("its last token", (5,)), (LayerShares(0, blank, blank, blank, np.zeros(1)),), {"name": "mine"}
    )
    names = tuple("abcd"[: times.shape[1]])
    return PermutedSpans(names, runs, times / 10 if of_left is None else of_left, times, own)


def by_sum(document: list[float], place: list[float], runs: tuple[tuple[int, ...], ...] = CYCLIC) -> PermutedSpans:
    """Shares that are a sum of a number for the document and one for its place."""
    places = np.argsort(np.array(runs), axis=1)
    return permuted(np.array(document)[None, :] + np.array(place)[places], runs=runs)


def test_places_invert_orders() -> None:
    found = permuted(np.ones((2, 4)), runs=((0, 1, 2, 3), (2, 0, 3, 1)))
    assert found.places.tolist() == [[0, 1, 2, 3], [1, 3, 0, 2]]


def test_all_place_or_all_document() -> None:
    owed = by_sum([0, 0, 0, 0], [1, 2, 4, 3]).owed()
    assert owed is not None
    assert (owed.place, owed.document, owed.neither) == pytest.approx((1, 0, 0), abs=1e-9)
    owed = by_sum([1, 2, 4, 3], [0, 0, 0, 0]).owed()
    assert owed is not None
    assert (owed.place, owed.document, owed.neither) == pytest.approx((0, 1, 0), abs=1e-9)


def test_random_orders_leave_to_neither_what_they_cannot_tell_apart() -> None:
    # A document that happens to stand early more often shares what goes with the place: that is nobody's alone.
    runs = tuple(orders(4, 9, 3))
    owed = by_sum([0, 0, 0, 0], [1, 2, 4, 3], runs).owed()
    assert owed is not None
    assert owed.document == pytest.approx(0, abs=1e-9)
    assert 0.9 < owed.place < 1
    assert owed.place + owed.neither == pytest.approx(1)


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=4), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_with_cyclic_shifts_it_is_the_analysis_of_variance(document: list[float], place: list[float]) -> None:
    found = by_sum(document, place)
    owed = found.owed()
    spread = np.var(document), np.var(place)
    if owed is None:
        assert sum(spread) == pytest.approx(0, abs=1e-6)
        return
    assert owed.place == pytest.approx(spread[1] / sum(spread), abs=1e-6)
    assert owed.document == pytest.approx(spread[0] / sum(spread), abs=1e-6)
    assert owed.place + owed.document + owed.neither == pytest.approx(1)


def test_noise_goes_with_neither() -> None:
    values = np.random.default_rng(0).normal(size=(4, 4))
    owed = permuted(values).owed()
    assert owed is not None
    # Of 15 degrees of freedom, 3 are places, 3 documents and 9 neither.
    assert owed.neither > 0.3
    assert owed.place + owed.document + owed.neither == pytest.approx(1)


def test_equal_shares_owe_nothing_to_anything() -> None:
    found = permuted(np.full((4, 4), 1.25))
    assert found.owed() is None
    assert found.to_json()["owed"] is None
    assert "No part gets more per token than another, whatever its place" in str(found)


def test_means_by_place_and_by_document() -> None:
    found = by_sum([1, 2, 4, 3], [0, 1, 0, 5])
    np.testing.assert_allclose(found.by_place(found.times), [2.5, 3.5, 2.5, 7.5])
    table = found.in_place(found.times)
    np.testing.assert_allclose(table, np.array([1, 2, 4, 3])[:, None] + np.array([0, 1, 0, 5]))
    few = by_sum([1, 2, 4, 3], [0, 1, 0, 5], ((0, 1, 2, 3), (1, 0, 2, 3)))
    assert np.isnan(few.in_place(few.times)[0, 2])
    np.testing.assert_allclose(few.by_place(few.times), [1.5, 2.5, 4.0, 8.0])


def test_the_json() -> None:
    found = by_sum([1, 2, 4, 3], [0, 1, 0, 5])
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["schema"] == "heedmap/permuted-spans/1"
    assert data["documents"][3] == {
        "name": "d", "place": 3, "own": {"of_left": 0.8, "times": 8.0},
        "mean": {"of_left": pytest.approx(0.45), "times": 4.5},
    }  # fmt: skip
    assert data["places"][1] == {"place": 1, "of_left": pytest.approx(0.35), "times": 3.5}
    assert data["orders"] == [list(order) for order in CYCLIC]
    assert data["rows"][5] == {"run": 1, "place": 0, "document": "b", "of_left": 0.2, "times": 2.0}
    assert len(data["rows"]) == 16


def test_the_tables_say_what_is_place() -> None:
    text = str(by_sum([1, 2, 4, 3], [0, 1, 0, 5]))
    assert text.startswith(
        "Mostly place: 77% of the differences between the parts' shares per token go with\nthe place"
    )
    lines = text.splitlines()
    row = next(line.split() for line in lines if line.startswith("d "))
    assert row == ["d", "4", "0.800", "0.450", "8.00", "4.50", "+3.50"]
    assert any(line.split() == ["4", "0.750", "7.50"] for line in lines)
    assert "each part stood once in each place" in text
