"""Texts that are quoted in an error, a title or a line: long ones are cut."""

from __future__ import annotations


def cut_text(text: str, most: int) -> str:
    """A text of at most so many characters, and … where there were more.

    Example:
        >>> cut_text("suitcase", 4), cut_text("it", 4)
        ('suit…', 'it')
    """
    return text if len(text) <= most else f"{text[:most]}…"
