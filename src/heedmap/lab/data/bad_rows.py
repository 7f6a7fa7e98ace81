"""Rows of a data file that cannot be used: raised at the first one, or collected when they may be skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from heedmap.errors import DataError

KEPT = 20
"""How many bad rows are kept with their reason; all are counted."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used.

    Attributes:
        source: the file's name.
        line: its line, from 1.
        reason: what is wrong with it, and what would have been right.
    """

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}, line {self.line}: {self.reason}"


@dataclass(slots=True)
class BadRows:
    """The bad rows that were met and skipped.

    Attributes:
        count: how many.
        first: the first of them, in the order of the file.

    Example:
        >>> skipped = BadRows()
        >>> skipped.add(BadRow("pairs.jsonl", 3, "it is not JSON"))
        >>> print(skipped.count, *skipped)
        1 pairs.jsonl, line 3: it is not JSON
    """

    count: int = 0
    first: list[BadRow] = field(default_factory=list)

    def add(self, row: BadRow) -> None:
        """Count a bad row, and keep it if it is one of the first."""
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(row)

    def __iter__(self) -> Iterator[BadRow]:
        return iter(self.first)


def meet(row: BadRow, skipped: BadRows | None) -> None:
    """Collect a bad row, or raise it when none may be skipped.

    Raises:
        DataError: `skipped` is None.
    """
    if skipped is None:
        raise DataError(f"{row}; mend the line, or leave out such lines with --skip-bad")
    skipped.add(row)
