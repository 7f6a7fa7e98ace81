"""Whole numbers that somebody wrote: read as Python reads them, up to where none is meant any more."""

from hypothesis import given
from hypothesis import strategies as st

from heedmap.whole_numbers import MOST_DIGITS, whole_number


@given(st.integers(0, 10**MOST_DIGITS - 1))
def test_what_is_written_is_read(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.text() | st.from_regex(r"-?\d{1,30}", fullmatch=True))
def test_any_text_is_a_number_or_none(text: str) -> None:
    number = whole_number(text)
    assert number is None or (number == int(text) and number >= 0)


@given(st.integers(MOST_DIGITS + 1, 6000))
def test_thousands_of_digits_are_no_number(digits: int) -> None:
    assert whole_number("9" * digits) is None
