"""The table of layers: numbers, bars on one scale, and room for all of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from heedmap.drawing.layers import ShareColumn, layer_table
from tests.drawing.making import HARD, acting_characters, printed

EIGHTHS = "▏▎▍▌▋▊▉█"


def length(bar: str) -> float:
    return sum((EIGHTHS.index(cell) + 1) / 8 for cell in bar)


def table(columns: list[ShareColumn], width: int = 80) -> list[str]:
    return printed(layer_table("where “it” looks", range(len(columns[0].shares)), columns), width)


def test_numbers_and_bars_are_the_shares() -> None:
    random = np.random.default_rng(0)
    trophy, first = random.random(30) / 2, random.random(30)
    lines = table(
        [ShareColumn(label="trophy", shares=list(trophy)), ShareColumn(label="The", shares=list(first), first=True)]
    )
    found = [
        re.fullmatch(rf" +(\d+)  (\d\.\d{{3}})  ([{EIGHTHS}]*) *(\d\.\d{{3}})(?:  ([{EIGHTHS}]*))?", line)
        for line in lines
    ]
    rows = [match for match in found if match]
    assert [int(row[1]) for row in rows] == list(range(30))
    full = max(length(row[3]) for row in rows)
    for layer, row in enumerate(rows):
        assert row[2] == f"{trophy[layer]:.3f}"
        assert row[4] == f"{first[layer]:.3f}"
        assert length(row[3]) == pytest.approx(full * trophy[layer] / trophy.max(), abs=1 / 16 + 1e-9)
        assert length(row[5] or "") == pytest.approx(full * first[layer], abs=1 / 16 + 1e-9)
    assert f"a full bar is {trophy.max():.3f} for words, 1 for the first token" in lines


def test_words_are_comparable_however_long_they_are() -> None:
    shares = [0.5, 0.25]
    lines = table([ShareColumn(label="it", shares=shares), ShareColumn(label="suitcases", shares=shares, tokens=3)])
    bars = re.findall(f"[{EIGHTHS}]+", next(line for line in lines if line.lstrip().startswith("0 ")))
    assert bars[0] == bars[1]


def test_a_word_of_several_tokens_shows_the_share_of_one() -> None:
    lines = table([ShareColumn(label="suitcase", shares=[0.5], tokens=2)])
    assert any(re.fullmatch(rf" +0  0\.500  [{EIGHTHS}]+ +0\.250", line) for line in lines)
    assert "'a token': the sum divided by the word's tokens" in lines


def test_what_a_layer_does_not_have_is_a_dash_and_not_a_number_is_named() -> None:
    lines = table([ShareColumn(label="it", shares=[None, float("nan"), 0.25])])
    body = [line.split()[1] for line in lines[3:6]]
    assert body == ["-", "nan", "0.250"]
    assert "-: no such weight in this layer" in lines


def test_shares_of_nothing_draw_no_bars() -> None:
    lines = table([ShareColumn(label="it", shares=[0.0, 0.0])])
    assert not set("".join(lines)) & set(EIGHTHS)
    assert not any("full bar" in line for line in lines)


def test_what_does_not_fit_beside_follows_below() -> None:
    columns = [ShareColumn(label=f"word{number}", shares=[0.125, 0.5]) for number in range(12)]
    lines = table(columns, 40)
    heads = [line for line in lines if line.startswith("layer")]
    assert len(heads) > 1
    assert [word for head in heads for word in head.split()[1:]] == [f"word{number}" for number in range(12)]
    assert sum(line.count("0.500") for line in lines) == 12


WORDS = st.tuples(st.one_of(st.sampled_from(HARD), st.text(max_size=20)), st.integers(1, 3))


@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from([40, 80, 200]), st.sampled_from(["utf-8", "ascii"]))
def test_no_label_breaks_the_line(words: list[tuple[str, int]], width: int, encoding: str) -> None:
    columns = [ShareColumn(label=label, shares=[0.5, 0.1, None], tokens=tokens) for label, tokens in words]
    lines = printed(layer_table("title", [0, 1, 2], columns), width, encoding)
    assert max(cell_len(line) for line in lines) <= width
    assert not acting_characters("".join(lines))
    assert sum(line.count("0.500") for line in lines) >= len(words)
