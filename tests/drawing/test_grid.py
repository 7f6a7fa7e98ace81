"""The grid read back cell by cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment

from heedmap.drawing.grid import SHADE_EDGES, grid
from heedmap.drawing.palette import BLUE, SAND, shade
from heedmap.drawing.pooling import pool
from heedmap.drawing.shapes import MapPicture
from tests.drawing.making import HARD, TROPHY, acting_characters, causal, map_of, naughty_strings, printed, segments

SHADES = "·░▒▓█"
WIDTHS = [40, 80, 200]
FIRST_ROW = 4  # after the title, a blank line and two lines of column heads


def cells(picture: MapPicture, width: int, margin: int, cell: int) -> list[str]:
    """The first character of each cell, row by row."""
    lines = printed(grid(picture), width)[FIRST_ROW : FIRST_ROW + len(picture.labels_query)]
    columns = len(picture.labels_key)
    return [line.ljust(width)[margin : margin + columns * cell : cell] for line in lines]


def test_shades_come_in_the_order_of_the_weights() -> None:
    weights = np.linspace(0.0, 1.0, 51)[np.newaxis]
    picture = MapPicture(
        title="", labels_query=["a"], labels_key=["b"] * 51, weights=weights, allowed=np.ones((1, 51), dtype=bool)
    )
    (row,) = cells(picture, 80, len("0 a "), 1)
    steps = [SHADES.index(one) for one in row]
    assert steps == sorted(steps)
    assert set(steps) == set(range(5))
    assert [steps.index(step) for step in range(1, 5)] == [int((weights < edge).sum()) for edge in SHADE_EDGES]


def test_each_token_has_its_cell_and_forbidden_ones_are_blank() -> None:
    picture = map_of(TROPHY)
    rows = cells(picture, 80, len("10 because "), 4)
    for query, row in enumerate(rows):
        for key, one in enumerate(row):
            if not picture.allowed[query, key]:
                assert one == " "
            else:
                assert SHADES.index(one) == int((np.array(SHADE_EDGES) <= picture.weights[query, key]).sum())
    assert "blank: cannot be seen" in printed(grid(picture), 80)


def test_what_a_window_hides_on_the_left_is_blank_too() -> None:
    picture = map_of(TROPHY)
    window = picture.allowed & ~np.tri(15, k=-4, dtype=bool)
    rows = cells(replace(picture, allowed=window), 80, len("10 because "), 4)
    assert [[one != " " for one in row] for row in rows] == window.tolist()


def test_zero_is_not_blank() -> None:
    weights, allowed = np.zeros((2, 2)), np.tri(2, dtype=bool)
    picture = MapPicture(title="", labels_query=["a", "b"], labels_key=["a", "b"], weights=weights, allowed=allowed)
    assert cells(picture, 80, len("0 a "), 4) == ["· ", "··"]


def test_a_map_without_forbidden_cells_says_nothing_of_blanks() -> None:
    picture = replace(map_of(TROPHY), allowed=np.ones((15, 15), dtype=bool))
    assert not any("blank" in line for line in printed(grid(picture), 80))


def test_the_scale_and_the_axes_are_named() -> None:
    lines = printed(grid(map_of(TROPHY)), 80)
    assert "weight, 0 to 1:  · under 0.02  ░ from 0.02  ▒ from 0.1  ▓ from 0.3  █ from 0.6" in lines
    assert "rows look (from, query); columns are looked at (to, key)" in lines


def test_wide_columns_carry_number_and_label_and_narrow_ones_their_number() -> None:
    numbers, labels = printed(grid(map_of(TROPHY)), 80)[2:4]
    assert numbers.split() == [str(number) for number in range(15)]
    assert labels.split() == [label[:3] for label in TROPHY]
    tens, units = printed(grid(map_of(TROPHY)), 40)[2:4]
    assert tens.split() == ["0", "10"]
    assert units.split()[0] == "012345678901234"


def test_a_large_map_is_pooled_and_says_so() -> None:
    picture = map_of([f"w{number}" for number in range(300)])
    lines = printed(grid(picture), 80)
    caption = "each cell is the mean of 5 x 5 weights, of those that can be seen (300 x 300 tokens)"
    assert caption in " ".join(line.rstrip() for line in lines)
    blocks, some = pool(picture.weights, picture.allowed, (5, 5), "mean")
    top = blocks[:, 1:].max()
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith("0-4"))
    for row in range(60):
        line = lines[first + row].ljust(80)[len("295-299 ") :]
        for column in range(60):
            edges = np.array(SHADE_EDGES) * top
            expected = SHADES[int((edges <= blocks[row, column]).sum())] if some[row, column] else " "
            assert line[column] == expected


def test_no_row_is_lost_where_many_look_at_few() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    picture = MapPicture(
        title="",
        labels_query=["q"] * 500,
        labels_key=list("abc"),
        weights=weights,
        allowed=np.ones((500, 3), dtype=bool),
    )
    lines = printed(grid(picture), 80)
    assert any("mean of 7 x 1" in line for line in lines)
    assert any(line.startswith("497-499") for line in lines)


def backgrounds(line: list[Segment]) -> list[tuple[int, int, int] | None]:
    """The background of each cell of a line, `None` where it is the terminal's own."""
    found: list[tuple[int, int, int] | None] = []
    for one in line:
        colour = one.style.bgcolor if one.style else None
        triplet = colour.get_truecolor() if colour else None
        found += [None if triplet is None else (triplet.red, triplet.green, triplet.blue)] * cell_len(one.text)
    return found


def test_colours_are_those_of_the_scale_with_sand_for_the_first_token() -> None:
    picture = map_of(TROPHY)
    lines = segments(grid(picture), 80)[FIRST_ROW : FIRST_ROW + 15]
    for query, line in enumerate(lines):
        shown = backgrounds(line)[len("10 because ") :: 4]
        for key in range(15):
            if not picture.allowed[query, key]:
                assert key >= len(shown) or shown[key] is None
                continue
            scale = SAND if key == 0 else BLUE
            expected = np.round(shade(float(picture.weights[query, key]), scale) * 255)
            assert shown[key] == tuple(expected.astype(int))


def test_16_colours_are_not_used_for_shades() -> None:
    lines = segments(grid(map_of(TROPHY)), 80, "standard")
    assert all(colour is None for line in lines for colour in backgrounds(line))


@pytest.mark.parametrize("colours", ["truecolor", None])
def test_what_is_not_a_number_is_marked_and_counted(colours: str | None) -> None:
    weights, allowed = causal(6)
    weights[3, 1] = weights[4, 2] = np.nan
    picture = replace(map_of(list("abcdef")), weights=weights, allowed=allowed)
    lines = (
        printed(grid(picture), 80)
        if colours is None
        else ["".join(one.text for one in line).rstrip() for line in segments(grid(picture), 80, colours)]
    )
    assert sum(line.count("!") for line in lines[FIRST_ROW : FIRST_ROW + 6]) == 2
    assert "!: not a number (nan), 2 of 21 cells" in lines


def test_what_stands_at_forbidden_places_is_never_read() -> None:
    picture = map_of(TROPHY)
    poisoned = replace(picture, weights=np.where(picture.allowed, picture.weights, np.nan))
    assert printed(grid(poisoned), 80) == printed(grid(picture), 80)


LABELS = st.lists(st.one_of(st.sampled_from(HARD), st.text(max_size=25)), min_size=1, max_size=90)


@given(LABELS, st.sampled_from(WIDTHS), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_no_label_breaks_the_line(labels: list[str], width: int, encoding: str) -> None:
    lines = printed(grid(map_of(labels)), width, encoding)
    assert max(cell_len(line) for line in lines) <= width
    assert not acting_characters("".join(lines))


@pytest.mark.parametrize("width", WIDTHS)
def test_naughty_strings_are_only_text(data_folder: Path, width: int) -> None:
    labels = naughty_strings(data_folder)
    step = width // 2
    for start in range(0, len(labels), step):
        lines = printed(grid(map_of(labels[start : start + step])), width)
        assert max(cell_len(line) for line in lines) <= width
        assert not acting_characters("".join(lines))


def test_ascii_streams_get_ascii_shades() -> None:
    lines = printed(grid(map_of(TROPHY)), 80, "ascii")
    assert any("weight, 0 to 1:  . under 0.02  : from 0.02  + from 0.1  x from 0.3" in line for line in lines)
