"""Sentences about a row that every picture of it carries: its sum, and what the word cannot see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heedmap.drawing.shapes import RowPicture


def total(row: RowPicture) -> str:
    """What the row adds up to, and the name of what is missing."""
    seen = row.weights[row.allowed].astype(np.float64)
    broken = int(np.isnan(seen).sum())
    if broken:
        return f"{broken} of {counted(len(seen), 'weight')} not a number (nan): the row has no sum"
    adds_up = f"adds up to {seen.sum():.3f}"
    return f"{adds_up}, and {row.missing:.3f} goes to the learned sink" if row.missing else adds_up


def unseen(row: RowPicture) -> Iterator[str]:
    """How many tokens the word may not look at, before those it sees, in between and after."""
    seen, hidden = np.flatnonzero(row.allowed), np.flatnonzero(~row.allowed)
    if not len(seen):
        return
    earlier, later = int((hidden < seen[0]).sum()), int((hidden > seen[-1]).sum())
    between = len(hidden) - earlier - later
    if earlier:
        yield f"{counted(earlier, 'earlier token')} cannot be seen"
    if between:
        yield f"{counted(between, 'token')} in between cannot be seen"
    if later:
        yield f"{counted(later, 'later token')} cannot be seen"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Example:
        >>> counted(1, "later token"), counted(4, "later token")
        ('1 later token', '4 later tokens')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
