"""A text that is quoted: its beginning, and a sign where more was."""

from hypothesis import given
from hypothesis import strategies as st

from heedmap.cut_text import cut_text


@given(st.text(max_size=40), st.integers(1, 30))
def test_the_beginning_stays_and_what_is_cut_is_told(text: str, most: int) -> None:
    shown = cut_text(text, most)
    assert shown[:most] == text[:most]
    assert shown[most:] == ("" if len(text) <= most else "…")
