"""Cutting, padding and closing off labels, measured in terminal cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from heedmap.drawing.labels import encodable, isolate, pad, printable, shorten
from tests.drawing.making import HARD, acting_characters

TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(HARD))
ENCODINGS = st.sampled_from(["utf-8", "ascii", "latin-1", "cp437", "utf-16"])


@given(TEXTS, ENCODINGS)
def test_printable_text_is_one_harmless_line_in_the_encoding(text: str, encoding: str) -> None:
    shown = printable(text, encoding)
    assert len(shown.splitlines()) <= 1
    assert not acting_characters(shown)
    shown.encode(encoding)


@given(TEXTS, st.integers(0, 40), st.sampled_from(["…", ".."]))
def test_shortened_text_fits(text: str, cells: int, ellipsis: str) -> None:
    shown = printable(text, "utf-8")
    cut = shorten(shown, cells, ellipsis)
    assert cell_len(cut) <= cells
    if cell_len(shown) <= cells:
        assert cut == shown
    elif cells > len(ellipsis):
        assert cut.endswith(ellipsis)


@given(TEXTS, st.booleans())
def test_padded_text_is_exactly_as_wide_as_told(text: str, right: bool) -> None:
    shown = printable(text, "utf-8")
    cells = cell_len(shown) + 3
    assert cell_len(pad(isolate(shown), cells, right=right)) == cells


@pytest.mark.parametrize("text", ["שלום", "مرحبا", "abc שלום", "١٢٣"])
def test_right_to_left_text_is_closed_off(text: str) -> None:
    assert isolate(text) == f"\u2068{text}\u2069"


@pytest.mark.parametrize("text", ["it", "你好", "123", "é", ""])
def test_left_to_right_text_is_left_alone(text: str) -> None:
    assert isolate(text) == text


def test_our_own_typography_stays_readable_in_ascii() -> None:
    assert encodable("where “it” looks…", "ascii") == 'where "it" looks...'


def test_a_wide_character_is_never_cut_in_half() -> None:
    assert shorten("你好世界", 4, "…") == "你…"
