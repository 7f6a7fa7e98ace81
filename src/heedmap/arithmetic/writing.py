"""How numbers, sums and tables are written: plain text, aligned, safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.names import label

ABSENT = "—"
MOST_TERMS = 6
"""A sum with more terms than this is shortened."""
SHOWN_TERMS = 2
MOST_COLUMNS = 12
MOST_ROWS = 24
"""A matrix larger than this is shown by its edges."""


def number(value: float, digits: int) -> str:
    """A computed number, rounded; a dash for one that is absent.

    Example:
        >>> number(1.0465, 2), number(-0.001, 2), number(float("nan"), 2), number(3e9, 2)
        ('1.05', '0.00', '—', '3.00e+09')
    """
    if not np.isfinite(value):
        return ABSENT
    text = f"{value:.{digits}e}" if abs(value) >= 1e7 else f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def given(value: float, digits: int) -> str:
    """A number that was given: no more digits than it has, and at least one.

    Example:
        >>> given(1.0, 2), given(0.25, 2), given(0.12345, 2), given(7.0, 0)
        ('1.0', '0.25', '0.12', '7')
    """
    text = number(value, digits)
    if "." not in text or "e" in text:
        return text
    text = text.rstrip("0")
    return text + "0" if text.endswith(".") else text


def fitting_digits(digits: int, *values: Array) -> int:
    """No digits after the point when every number is whole, else as many as asked for.

    Example:
        >>> fitting_digits(2, np.array([1.0, 2.0])), fitting_digits(2, np.array([0.5]))
        (0, 2)
    """
    whole = all(np.array_equal(item, np.round(item)) for item in values)
    return 0 if whole else digits


def vector(values: Array, digits: int, *, computed: bool = False) -> str:
    """A vector in brackets, shortened when long.

    Example:
        >>> vector(np.array([1.0, 0.6]), 2), vector(np.array([1.0, 0.6]), 2, computed=True)
        ('[1.0, 0.6]', '[1.00, 0.60]')
    """
    write = number if computed else given
    texts = [write(value, digits) for value in values]
    if len(texts) > MOST_COLUMNS:
        texts = [*texts[:SHOWN_TERMS], f"… {len(texts) - SHOWN_TERMS} more"]
    return f"[{', '.join(texts)}]"


def products_sum(left: Sequence[str], right: Sequence[str]) -> str:
    """A sum of products with every number visible.

    Example:
        >>> products_sum(["1.0", "0.6"], ["0.1", "-2.0"])
        '1.0·0.1 + 0.6·(-2.0)'
    """
    terms = [f"{_factor(one)}·{_factor(other)}" for one, other in zip(left, right, strict=True)]
    return terms_sum(terms)


def terms_sum(terms: Sequence[str]) -> str:
    """Terms joined by plus signs, shortened when there are many.

    Example:
        >>> terms_sum(["7.39", "2.72", "1.00"])
        '7.39 + 2.72 + 1.00'
    """
    if len(terms) > MOST_TERMS:
        terms = [*terms[:SHOWN_TERMS], f"… {len(terms) - SHOWN_TERMS} more"]
    return " + ".join(terms)


def columns(rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Cells as aligned lines: the first `left` columns to the left, the others to the right.

    Example:
        >>> columns([["The", "0.1"], ["cat", "10.1"]])
        ['The   0.1', 'cat  10.1']
    """
    widths = [max(_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - _width(cell))
            cells.append(cell + space if index < left else space + cell)
        lines.append("  ".join(cells).rstrip())
    return lines


def matrix(
    values: Array, digits: int, rows: Sequence[str] | None = None, heads: Sequence[str] | None = None
) -> list[str]:
    """A matrix as aligned lines, with names for rows and columns; NaN is a dash; a large one by its edges.

    Example:
        >>> matrix(np.array([[0.5, np.nan]]), 2, ["it"], ["The", "cat"])
        ['     The  cat', 'it  0.50    —']
    """
    down, across = _shown(len(values), MOST_ROWS), _shown(values.shape[1], MOST_COLUMNS)
    table = []
    if heads is not None:
        corner = [""] if rows is not None else []
        table.append(corner + ["…" if j is None else label(heads[j]) for j in across])
    for i in down:
        name = [] if rows is None else ["…" if i is None else label(rows[i])]
        table.append(name + ["…" if i is None or j is None else number(values[i, j], digits) for j in across])
    return columns(table, left=0 if rows is None else 1)


def _shown(count: int, most: int) -> list[int | None]:
    """The indices shown: all, or the first and last few around a gap (`None`)."""
    if count <= most:
        return list(range(count))
    edge = most // 2 - 1
    return [*range(edge), None, *range(count - edge, count)]


def _factor(text: str) -> str:
    """A negative number in brackets, so that its sign is not read as a minus between terms."""
    return f"({text})" if text.startswith("-") else text


def _width(text: str) -> int:
    """Columns that a text fills in a terminal: two for wide letters, none for combining marks."""
    return sum(
        0 if unicodedata.combining(part) else 2 if unicodedata.east_asian_width(part) in "WF" else 1 for part in text
    )
