"""Bars measured against the numbers they stand for, and labels that ask for trouble."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from heedmap.drawing.bars import MOST_LINES, row_bars
from heedmap.drawing.palette import BLUE_BAR, ORANGE, SAND_BAR
from heedmap.drawing.shapes import RowPicture
from tests.drawing.making import HARD, TROPHY, acting_characters, naughty_strings, printed, row_of, segments

EIGHTHS = "▏▎▍▌▋▊▉█"
WIDTHS = [40, 80, 200]


def drawn(row: RowPicture, width: int = 80) -> dict[int, tuple[float, float]]:
    """Weight and length in cells of each bar, by place."""
    found = {}
    for line in printed(row_bars(row), width):
        match = re.match(rf"[ >*] +(\d+)  .*  (\d\.\d{{3}})(?:  ([{EIGHTHS}]+))?$", line)
        if match:
            bar = match[3] or ""
            found[int(match[1])] = float(match[2]), sum((EIGHTHS.index(cell) + 1) / 8 for cell in bar)
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_each_bar_is_as_long_as_its_weight(width: int) -> None:
    row = row_of(TROPHY, 10)
    bars = drawn(row, width)
    assert list(bars) == list(range(11))
    longest = max(bars, key=lambda place: bars[place][1])
    assert longest == int(row.weights.argmax())
    unit = bars[longest][1] / row.weights[longest]
    for place, (number, length) in bars.items():
        assert number == pytest.approx(row.weights[place], abs=0.0005 + 1e-12)
        assert length == pytest.approx(unit * row.weights[place], abs=1 / 16 + 1e-9)  # half of the thinnest step


def test_the_longest_bar_fills_the_line() -> None:
    assert max(cell_len(line) for line in printed(row_bars(row_of(TROPHY, 10)), 80)) == 80


def test_the_asking_word_and_special_tokens_are_marked() -> None:
    special = np.zeros(15, dtype=bool)
    special[0] = True
    lines = printed(row_bars(replace(row_of(TROPHY, 10), special=special)), 80)
    assert next(line for line in lines if "  it " in line).startswith("> 10")
    assert next(line for line in lines if "  The " in line).startswith("*  0")
    assert "> the asking word, * special token" in lines


def test_the_sum_and_the_unseen_are_said() -> None:
    lines = printed(row_bars(row_of(TROPHY, 10)), 80)
    assert "adds up to 1.000" in lines
    assert "4 later tokens cannot be seen" in lines
    assert not any("too" in line for line in lines[2:])


def test_a_window_hides_earlier_tokens_and_a_gap_those_in_between() -> None:
    allowed = np.array([False, False, True, False, True, True, False])
    row = replace(row_of(list("abcdefg"), 6), allowed=allowed, first=None, query=frozenset({5}))
    lines = printed(row_bars(row), 80)
    assert {
        "2 earlier tokens cannot be seen",
        "1 token in between cannot be seen",
        "1 later token cannot be seen",
    } < set(lines)


def test_what_stands_at_forbidden_places_is_never_read() -> None:
    row = row_of(TROPHY, 10)
    poisoned = np.where(row.allowed, row.weights, np.nan)
    assert printed(row_bars(replace(row, weights=poisoned)), 80) == printed(row_bars(row), 80)


def test_a_sink_has_its_name_and_its_bar() -> None:
    lines = printed(row_bars(row_of(TROPHY, 10, missing=0.25)), 80)
    assert any(re.fullmatch(r" +sink +0\.250  █+.?", line) for line in lines)
    assert "adds up to 0.750, and 0.250 goes to the learned sink" in lines


def test_a_row_that_may_see_nothing_is_absent() -> None:
    lines = printed(row_bars(replace(row_of(TROPHY, 10), allowed=np.zeros(15, dtype=bool))), 80)
    assert lines[-1] == "it may look at no token: this row is absent, not zero"
    assert not any("0.000" in line for line in lines)


def test_what_is_not_a_number_is_counted_and_has_no_bar() -> None:
    weights = row_of(TROPHY, 10).weights.copy()
    weights[3] = np.nan
    row = replace(row_of(TROPHY, 10), weights=weights)
    lines = printed(row_bars(row), 80)
    assert next(line for line in lines if " not " in line).endswith("    nan")
    assert "1 of 11 weights not a number (nan): the row has no sum" in lines
    assert ORANGE in {str(one.style.color.name) for line in segments(row_bars(row), 80) for one in line
                      if one.style and one.style.color}  # fmt: skip


@pytest.mark.parametrize("place", [0, 250, 499])
def test_of_a_long_row_what_matters_is_shown_and_the_rest_is_summed(place: int) -> None:
    row = row_of([f"w{number}" for number in range(500)], place)
    bars = drawn(row)
    seen = place + 1
    assert len(bars) == min(MOST_LINES, seen)
    neighbours = {number for number in range(place - 3, place + 1) if number >= 0}
    assert neighbours | {0} <= set(bars)
    if seen <= MOST_LINES:
        return
    left_out = np.setdiff1d(np.arange(seen), list(bars))
    assert row.weights[left_out].max() <= min(row.weights[number] for number in set(bars) - neighbours - {0})
    expected = (
        f"left out: {seen - 40} of {seen} tokens, together {row.weights[left_out].sum():.3f}, "
        f"each at most {row.weights[left_out].max():.3f}"
    )
    assert expected in printed(row_bars(row), 80)


def test_a_word_of_many_tokens_does_not_crowd_out_the_largest() -> None:
    row = replace(row_of([f"w{number}" for number in range(300)], 299), query=frozenset(range(200, 300)))
    assert int(row.weights[1:200].argmax()) + 1 in drawn(row)


def test_nothing_that_is_not_a_number_is_left_out() -> None:
    weights = row_of(["w"] * 300, 299).weights.copy()
    weights[150] = np.nan
    lines = printed(row_bars(replace(row_of(["w"] * 300, 299), weights=weights)), 80)
    assert any(re.match(r" +150 .* nan$", line) for line in lines)


LABELS = st.lists(st.one_of(st.sampled_from(HARD), st.text(max_size=25)), min_size=1, max_size=60)


@given(LABELS, st.sampled_from(WIDTHS), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_no_label_breaks_the_line(labels: list[str], width: int, encoding: str) -> None:
    lines = printed(row_bars(row_of(labels, len(labels) - 1)), width, encoding)
    assert max(cell_len(line) for line in lines) <= width
    assert not acting_characters("".join(lines))
    shown = sum(bool(re.match(r"[ >*] *\d+  ", line)) for line in lines)
    assert shown == min(len(labels), MOST_LINES)


def test_naughty_strings_are_only_text(data_folder: Path) -> None:
    labels = naughty_strings(data_folder)
    for start in range(0, len(labels), MOST_LINES):
        some = labels[start : start + MOST_LINES]
        for width in WIDTHS:
            lines = printed(row_bars(row_of(some, len(some) - 1)), width)
            assert max(cell_len(line) for line in lines) <= width
            assert not acting_characters("".join(lines))


def test_a_right_to_left_label_is_closed_off_before_its_number() -> None:
    lines = printed(row_bars(row_of(["שלום", "it"], 1)), 80)
    assert re.search(r"0  \u2068שלום\u2069  0\.\d{3}", lines[2])


def test_markup_in_a_token_stays_text() -> None:
    assert any("[bold red]hi[/]" in line for line in printed(row_bars(row_of(["[bold red]hi[/]", "it"], 1)), 80))


def test_bars_have_their_colours() -> None:
    lines = segments(row_bars(row_of(TROPHY, 10)), 80)
    bars = [one for line in lines for one in line if set(one.text.strip()) & set(EIGHTHS)]
    colours = [str(one.style.color.name) for one in bars if one.style and one.style.color]
    assert colours[0] == SAND_BAR
    assert set(colours[1:]) == {BLUE_BAR}


def test_a_narrow_terminal_drops_the_bars_and_keeps_the_numbers() -> None:
    lines = printed(row_bars(row_of(TROPHY, 10)), 22)
    assert max(map(cell_len, lines)) <= 22
    assert sum("0." in line for line in lines) >= 11
    assert not set("".join(lines)) & set(EIGHTHS)
