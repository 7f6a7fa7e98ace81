"""Rows as Arrow tables: what goes in comes out, in whatever shape, sorted by item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from heedmap.errors import ReadingError
from heedmap.lab.arrow import to_table, values_of
from heedmap.lab.rows import Rows

shapes = some.integers(1, 3).flatmap(
    lambda axes: some.lists(
        arrays.array_shapes(min_dims=axes, max_dims=axes, min_side=0, max_side=3), min_size=1, max_size=5
    )
)
KINDS = [np.float32, np.float64, np.int32, np.bool_]


@given(shapes.flatmap(lambda them: some.tuples(*(arrays.arrays(np.float64, shape) for shape in them))))
def test_arrays_of_any_shapes_come_back_as_they_were(written: tuple[np.ndarray, ...]) -> None:
    read = values_of(to_table([{"x": array} for array in written]).column("x"))
    for before, after in zip(written, read, strict=True):
        if before.size:
            np.testing.assert_array_equal(before, after)
        else:
            assert after.size == 0
            assert after.ndim == before.ndim


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_keep_their_kind_and_may_be_absent(kind: Any) -> None:
    array = np.arange(6).reshape(2, 3).astype(kind)
    read = values_of(to_table([{"x": array}, {"x": None}, {"x": array[:1]}]).column("x"))
    assert read[1] is None
    assert read[0].dtype == kind
    np.testing.assert_array_equal(read[0], array)
    np.testing.assert_array_equal(read[2], array[:1])


def test_rows_are_sorted_by_item_and_told_by_column() -> None:
    rows = Rows(
        [
            {"item": "b", "share": np.float32(0.5), "word": "it", "seen": True, "map": np.ones((2, 2)), "count": 3},
            {"item": "a", "share": None, "word": None, "seen": False, "map": np.zeros((2, 2)), "count": 4},
        ]
    )
    assert rows.ids == ["a", "b"]
    assert rows.names == ["item", "share", "word", "seen", "map", "count"]
    np.testing.assert_array_equal(rows["share"], [np.nan, 0.5])
    assert rows["word"].tolist() == [None, "it"]
    assert rows["seen"].tolist() == [False, True]
    assert rows["count"].dtype == np.int64
    assert rows["map"].shape == (2, 2, 2)


def test_a_column_without_any_number_is_absent_everywhere() -> None:
    assert np.isnan(Rows([{"item": "a", "share": None}])["share"]).all()


def test_what_is_not_there_is_named() -> None:
    rows = Rows([{"item": "a", "x": np.ones(2)}, {"item": "b", "x": np.ones(3)}])
    with pytest.raises(ReadingError, match="the rows have no column 'y': they have item, x"):
        rows["y"]
    with pytest.raises(ReadingError, match="differ in shape"):
        rows["x"]
    assert [len(one) for one in rows.arrays("x")] == [2, 3]
