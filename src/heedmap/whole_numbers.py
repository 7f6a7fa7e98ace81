"""Whole numbers as users give them: written as text, one or several, Python's or NumPy's."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

MOST_DIGITS = 18
"""More are no place, count or layer of anything; Python itself refuses to read more than some thousands."""


def whole_number(text: str) -> int | None:
    """The whole number, 0 or more, that a text is; None where it is none, or longer than any that is meant.

    Example:
        >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5000)
        (12, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def one_or_several(given: int | Iterable[int]) -> list[int]:
    """The whole numbers of a list, or a list of one; NumPy's become Python's, which JSON can hold.

    Example:
        >>> one_or_several(3), one_or_several(range(2))
        ([3], [0, 1])
    """
    several = [given] if isinstance(given, Integral) else given
    return [int(one) if isinstance(one, Integral) else one for one in several]  # type: ignore[union-attr]
