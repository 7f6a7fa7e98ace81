"""Whole numbers that somebody wrote: one rule everywhere, by which thousands of digits are none and no traceback."""

from __future__ import annotations

MOST_DIGITS = 18
"""More are no place, count or layer of anything; Python itself refuses to read more than some thousands."""


def whole_number(text: str) -> int | None:
    """The whole number, 0 or more, that a text is; None where it is none, or longer than any that is meant.

    Example:
        >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5000)
        (12, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
