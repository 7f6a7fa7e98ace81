"""Zoomed-out maps against the whole map in NumPy float64, on random calls and real heads; never the whole at once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.drawing.pooling import pool as pool_arrays
from heedmap.errors import NumbersError, OutOfRange
from heedmap.reading import pool as pool_module
from heedmap.reading.call import AttentionCall
from heedmap.reading.map import Map
from heedmap.reading.model import Model
from heedmap.reading.pool import block_edges, pool_by_edges
from heedmap.text.tokens import Tokens
from tests.conftest import ROUNDING, TROPHY
from tests.reading.test_call import calls, oracle, rounding


def expected(weights: Any, allowed: Any, rows: list[int], columns: list[int], how: str) -> tuple[Any, Any]:
    """Every block by itself."""
    shape = len(rows) - 1, len(columns) - 1
    values, some = np.zeros(shape), np.zeros(shape, dtype=bool)
    for row, (top, bottom) in enumerate(pairwise(rows)):
        for column, (left, right) in enumerate(pairwise(columns)):
            seen = allowed[top:bottom, left:right]
            some[row, column] = seen.any()
            if seen.any():
                cells = weights[top:bottom, left:right][seen]
                values[row, column] = cells.mean() if how == "mean" else cells.max()
    return values, some


def map_of(call: AttentionCall, head: int | None) -> Map:
    known = replace(call, logsumexp=call.compute(call.key)[1])
    return Map(Tokens("", ()), 0, head, known, {"name": "random"})


@given(calls(), st.integers(1, 50), st.integers(1, 50), st.sampled_from(["mean", "max"]), st.booleans(), st.booleans())
def test_random_maps(
    drawn: tuple[AttentionCall, torch.Tensor], height: int, width: int, how: str, one_head: bool, small: bool
) -> None:
    call, value = drawn
    head = call.heads - 1 if one_head else None
    weights = oracle(call, value)[0][0]
    weights = weights.mean(0) if head is None else weights[head]
    rule = call.rule.for_text(0)
    allowed = rule.allowed(torch.arange(rule.queries), torch.arange(rule.keys))[0, 0].numpy()
    before = pool_module._TILE_CELLS, pool_module._SMALLEST_TILE
    pool_module._TILE_CELLS, pool_module._SMALLEST_TILE = (40, 3) if small else before
    try:
        found = map_of(call, head).pool(height, width, how)
    finally:
        pool_module._TILE_CELLS, pool_module._SMALLEST_TILE = before
    edges = block_edges(rule.queries, height), block_edges(rule.keys, width)
    values, some = expected(weights, allowed, *edges, how)
    np.testing.assert_array_equal(found.allowed, some)
    np.testing.assert_allclose(found.weights, values, atol=rounding(call) + 1e-7)
    part = pool_by_edges(map_of(call, head), edges[0][-2:], edges[1][-2:], how)
    np.testing.assert_array_equal(part.allowed, some[-1:, -1:])
    np.testing.assert_allclose(part.weights, values[-1:, -1:], atol=rounding(call) + 1e-7)


def test_real_heads(smollm2: Model, minilm: Model) -> None:
    for model, layer in ((smollm2, 16), (minilm, 3)):
        reading = model.read(TROPHY, layers=layer)
        for head in (None, 3):
            one = reading.map(layer, head)
            rows = block_edges(len(one), 4)
            for how in ("mean", "max"):
                found = one.pool(4, 4, how)
                values, some = expected(np.asarray(one), one.allowed(), rows, rows, how)
                np.testing.assert_array_equal(found.allowed, some)
                np.testing.assert_allclose(found.weights, values, atol=ROUNDING)


def test_pictures_of_arrays_and_of_maps_pool_alike(smollm2: Model) -> None:
    from heedmap.drawing.readings import map_picture

    one = smollm2.read(TROPHY, layers=16).map(16, 3)
    picture = map_picture(one)
    assert picture.size == (15, 15)
    hows: tuple[Literal["mean", "largest"], ...] = ("mean", "largest")
    for how in hows:
        for steps in ((1, 1), (4, 3), (20, 20)):
            found, expected_blocks = picture.pooled(steps, how), pool_arrays(np.asarray(one), one.allowed(), steps, how)
            np.testing.assert_allclose(found[0], expected_blocks[0], atol=ROUNDING)
            np.testing.assert_array_equal(found[1], expected_blocks[1])


def test_pictures_never_make_a_map_whole(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    one = smollm2.read("one two three four five. " * 40, layers=3).map(3)
    drawn = str(one)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the whole map was made")

    monkeypatch.setattr(Map, "__array__", refuse)
    monkeypatch.setattr(Map, "__getitem__", refuse)
    assert str(one) == drawn
    assert "each cell is the mean of" in drawn
    assert one.plot().get_xlabel() == "to (key)"


def test_a_map_is_never_zoomed_in(smollm2: Model) -> None:
    one = smollm2.read("The cat sat.", layers=3).map(3, 2)
    found = one.pool(100, 200)
    np.testing.assert_allclose(found.weights, np.asarray(one), atol=ROUNDING)
    np.testing.assert_array_equal(found.allowed, one.allowed())


def test_what_is_not_a_number_stays_none(smollm2: Model) -> None:
    one = smollm2.read(TROPHY, layers=3).map(3, 2)
    query = one.call.query.clone()
    query[:, 2, 5] = torch.nan
    broken = replace(one, call=replace(one.call, query=query))
    for how in ("mean", "max"):
        found = broken.pool(5, 5, how)
        assert np.isnan(found.weights[1, :2]).all()
        assert not np.isnan(np.delete(found.weights, 1, axis=0)).any()


@pytest.mark.parametrize(("size", "count"), [(10, 3), (10, 10), (10, 99), (1, 1), (8192, 1000)])
def test_blocks_are_as_even_as_can_be(size: int, count: int) -> None:
    edges = block_edges(size, count)
    assert (edges[0], edges[-1], len(edges)) == (0, size, min(size, count) + 1)
    lengths = np.diff(edges)
    assert lengths.max() - lengths.min() <= 1


def test_odd_wishes(smollm2: Model) -> None:
    one = smollm2.read("The cat sat.", layers=3).map(3)
    with pytest.raises(NumbersError, match="pooled by their 'mean' or their 'max', not 'median'"):
        one.pool(2, 2, "median")
    with pytest.raises(OutOfRange, match="a map of 0 x 2 cells has no cell: take 1 x 1 or more"):
        one.pool(0, 2)


PROGRAM = """
import sys, torch
from dataclasses import replace
from heedmap.reading.call import AttentionCall
from heedmap.reading.map import Map
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Tokens

torch.set_num_threads(1)

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) << 10

def pooled(length):
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, heads, length, 16, generator=random) for heads in (2, 1))
    call = AttentionCall(query, key, MaskRule(length, length, ahead=0, back=int(sys.argv[1])), 0.25)
    return Map(Tokens("", ()), 0, None, replace(call, logsumexp=call.compute(key)[1]), {}).pool(64, 64)

pooled(512)
before = peak()
pooled(int(sys.argv[2]))
print(peak() - before)
"""


@pytest.mark.parametrize(
    ("window", "length"),
    [
        ("1023", "8192"),
        pytest.param("1023", "16384", marks=pytest.mark.slow),
        pytest.param("16384", "16384", marks=pytest.mark.slow),
    ],
)
def test_a_long_map_is_never_whole(window: str, length: str) -> None:
    # One row of tiles is 2 Mi cells of a few arrays; the map of a head alone would be 256 MiB of float32 or more.
    done = subprocess.run([sys.executable, "-c", PROGRAM, window, length], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 160 << 20
