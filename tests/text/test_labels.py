"""What a picture writes for a token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.text.labels import core, label_tokens, visible

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cat", "cat"),
        (" ", "␣"),
        (" b", "␣b"),
        ("b ", "b␣"),
        ("of the", "of the"),
        ("a  b", "a␣␣b"),
        ("\n\n", "⏎⏎"),
        ("\n x", "⏎␣x"),
        ("\t", "⇥"),
        (".\r\n", ".⟨CR⟩⏎"),
        (" " * 16, "␣×16"),
        ("\n" * 4, "⏎×4"),
        ("\x1b[31m", "⟨ESC⟩[31m"),
        ("\x07", "⟨U+0007⟩"),
        ("a\u00a0b", "a⟨NBSP⟩b"),
        ("\u200b", "⟨U+200B⟩"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("\u2028", "⟨U+2028⟩"),
        ("\ufffd", "⟨U+FFFD⟩"),
        ("\ufffd\u0301", "⟨U+FFFD⟩\u0301"),
        ("\udce4", "⟨0xE4⟩"),
        ("\u0301", "◌\u0301"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (FAMILY, FAMILY),
        ("x" + "\u0301" * 60, "x" + "\u0301" * 15 + "…"),
        ("", ""),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_nothing_visible_breaks_a_line_or_drives_a_terminal(text: str) -> None:
    shown = visible(text)
    assert bool(shown) == bool(text)
    assert len(shown.splitlines()) <= 1
    assert not set(shown) & {"\x1b", "\x07", "\x08", "\x9b", "\u202e", "\u2066", "\ufffd"}
    assert shown == shown.strip()
    shown.encode()


def test_the_space_between_two_words_is_the_only_one_that_is_not_shown() -> None:
    text = " lead  on\n then go"
    spans = [(0, 5), (5, 6), (6, 9), (9, 10), (10, 15), (15, 18)]
    assert label_tokens(text, spans) == ["␣lead", "␣", "␣on", "⏎", "␣then", "go"]
    assert core(text, (15, 18)) == (16, 18)


def test_tokens_that_share_a_character_say_which_part_they_are() -> None:
    assert label_tokens("你好", [(0, 1), (0, 1), (1, 2)]) == ["你 1/2", "你 2/2", "好"]
    assert label_tokens(" ע", [(0, 2), (1, 2)]) == ["␣·ע 1/2", "ע 2/2"]
    assert label_tokens("x ע", [(0, 1), (1, 3), (2, 3)]) == ["x", "ע 1/2", "ע 2/2"]


def test_a_token_may_hold_the_end_of_one_character_and_the_beginning_of_the_next() -> None:
    assert label_tokens("你好吗", [(0, 1), (0, 2), (1, 3)]) == ["你 1/2", "你 2/2·好 1/2", "好 2/2·吗"]


def test_code_points_of_one_character_are_parts_of_it() -> None:
    assert label_tokens("cafe\u0301", [(0, 2), (2, 4), (4, 5)]) == ["ca", "f·e\u0301 1/2", "e\u0301 2/2"]
    assert label_tokens(f"{FAMILY}!", [(0, 1), (1, 2), (2, 5), (5, 6)]) == [
        f"{FAMILY} 1/3",
        f"{FAMILY} 2/3",
        f"{FAMILY} 3/3",
        "!",
    ]


def test_an_accent_that_the_tokenizer_does_not_count_is_shown_with_its_letter() -> None:
    assert label_tokens("e\u0301 x", [(0, 1), (3, 4)]) == ["e\u0301", "x"]
