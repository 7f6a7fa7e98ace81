"""Maps index like the NumPy array they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import OutOfRange
from heedmap.reading import tiles
from heedmap.reading.map import Map
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.conftest import ROUNDING, TROPHY


@pytest.fixture(scope="module")
def trophy(smollm2: Model) -> Reading:
    return smollm2.read(TROPHY, layers=5)


def one_index(size: int) -> st.SearchStrategy[Any]:
    return st.integers(-size, size - 1) | st.slices(size)


@given(data=st.data(), head=st.sampled_from([None, 0, 8]), cells=st.sampled_from([1, 50, 1 << 22]))
def test_any_index_gives_what_the_whole_array_gives(
    data: st.DataObject, head: int | None, cells: int, trophy: Reading
) -> None:
    reading_map = trophy.map(5, head)
    whole = np.asarray(reading_map)
    index = data.draw(
        st.tuples(one_index(15), one_index(15))
        | one_index(15)
        | st.tuples(one_index(15))
        | st.tuples(st.just(...), one_index(15))
        | st.tuples(one_index(15), st.just(...))
        | st.just(...)
    )
    before = tiles.BLOCK_CELLS
    tiles.BLOCK_CELLS = cells
    try:
        found = reading_map[index]
    finally:
        tiles.BLOCK_CELLS = before
    np.testing.assert_allclose(found, whole[index], rtol=0, atol=ROUNDING)
    assert np.shape(found) == np.shape(whole[index])


def test_indices_that_are_none_are_refused(trophy: Reading) -> None:
    reading_map = trophy.map(5)
    with pytest.raises(OutOfRange, match="query 15 is out of range: the map has 15, numbered 0 to 14"):
        reading_map[15]
    with pytest.raises(OutOfRange, match="key -16 is out of range"):
        reading_map[0, -16]
    with pytest.raises(OutOfRange, match="two axes, query and key, not 3"):
        reading_map[0, 0, 0]
    with pytest.raises(OutOfRange, match=r"numbers and slices, not list: use np.asarray\(map\)"):
        reading_map[[1, 2]]  # type: ignore[index]
    with pytest.raises(ValueError, match="always a copy"):
        np.array(reading_map, copy=False)


def test_blocks_put_together_are_the_map(trophy: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    reading_map = trophy.map(5, 3)
    whole = np.asarray(reading_map)
    monkeypatch.setattr(tiles, "BLOCK_CELLS", 400)
    blocks = list(reading_map.blocks())
    assert len(blocks) > 1
    assert [start for start, _ in blocks] == list(np.cumsum([0] + [len(block) for _, block in blocks])[:-1])
    np.testing.assert_allclose(np.concatenate([block for _, block in blocks]), whole, rtol=0, atol=ROUNDING)


def test_it_names_itself(trophy: Reading) -> None:
    assert repr(trophy.map(5, 3)) == "Map(layer 5, head 3, 15 x 15)"
    assert repr(trophy.map(5)) == "Map(layer 5, mean over heads, 15 x 15)"
    assert len(trophy.map(5)) == 15
    assert isinstance(trophy.map(5), Map)
