"""Token text is data: made safe, measured in terminal cells, cut and kept from reordering its line."""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len, set_cell_size

from heedmap.text.labels import visible as visible

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

TYPEWRITTEN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "–": "-", "⟨": "<", "⟩": ">"})
"""What our own sentences and marks become where an encoding lacks them."""


def printable(text: str, encoding: str) -> str:
    r"""The text on one line, with nothing in it that acts instead of showing, in characters the encoding has.

    Example:
        >>> printable("a\x1b[31m 你", "utf-8"), printable("a\x1b[31m 你", "ascii")
        ('a⟨ESC⟩[31m 你', 'a<ESC>[31m \\u4f60')
    """
    return encodable(visible(text), encoding)


def encodable(text: str, encoding: str) -> str:
    r"""The text with what an encoding lacks written plainer, or as escapes.

    Example:
        >>> encodable("“naïve” 你", "latin-1")
        '"naïve" \\u4f60'
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(TYPEWRITTEN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def shorten(text: str, cells: int, ellipsis: str) -> str:
    """The text, cut to a number of terminal cells and ended with an ellipsis where it is longer.

    Example:
        >>> shorten("suitcase", 5, "…"), shorten("你好世界", 6, "…"), shorten("it", 5, "…")
        ('suit…', '你好…', 'it')
    """
    if cell_len(text) <= cells:
        return text
    kept = cells - cell_len(ellipsis)
    if kept < 1:
        return set_cell_size(text, cells)
    return set_cell_size(text, kept).rstrip() + ellipsis


def isolate(text: str) -> str:
    """The text, closed off where it runs from right to left, so that it does not reorder the line around it.

    The isolating characters take no cell. They are those of the Unicode bidirectional algorithm (UAX 9).

    Example:
        >>> isolate("it"), len(isolate("שלום"))
        ('it', 6)
    """
    if any(unicodedata.bidirectional(character) in {"R", "AL", "AN"} for character in text):
        return f"{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}"
    return text


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """The text with spaces up to a number of terminal cells: after it, or before it to align it right.

    Example:
        >>> pad("你", 4) + "|", pad("it", 4, right=True) + "|"
        ('你  |', '  it|')
    """
    space = " " * (cells - cell_len(text))
    return space + text if right else text + space
