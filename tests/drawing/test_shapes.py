"""Pictures refuse labels and numbers that do not fit together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heedmap.drawing.shapes import MapPicture
from heedmap.errors import NumbersError
from tests.drawing.making import map_of, row_of


def test_a_row_counts_its_parts() -> None:
    row = row_of(["The", "cat", "sat"], 2)
    with pytest.raises(NumbersError, match=r"a row of 3 labels needs 3 weights, not an array of shape \(2,\)"):
        replace(row, weights=np.zeros(2))
    with pytest.raises(NumbersError, match="needs 3 special, not"):
        replace(row, special=np.zeros(4, dtype=bool))


def test_a_row_knows_where_its_word_can_stand() -> None:
    with pytest.raises(NumbersError, match=r"the asking word stands at \[3\], but the row has keys 0 to 2"):
        replace(row_of(["The", "cat", "sat"], 2), query=frozenset({2, 3}))


def test_a_map_counts_its_labels() -> None:
    picture = map_of(["The", "cat", "sat"])
    with pytest.raises(
        NumbersError, match=r"2 query labels and 3 key labels need weights of shape \(2, 3\), not \(3, 3\)"
    ):
        replace(picture, labels_query=["The", "cat"])


def test_a_map_has_cells() -> None:
    with pytest.raises(NumbersError, match="a map of 0 rows and 0 columns has no cell to show"):
        MapPicture(
            title="nothing",
            labels_query=[],
            labels_key=[],
            weights=np.zeros((0, 0)),
            allowed=np.zeros((0, 0), dtype=bool),
        )
