"""The table of statistics: one row a head, one column a number; of one text, or of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_received import Received
from heedmap.reading.statistics_summary import COUNTS, MEDIAN, Numbers, mean, median
from heedmap.reading.word_row import number_or_none
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "heedmap/stats/1"
SCHEMA_OF_TEXTS = "heedmap/stats-of-texts/1"

WHOLE_NUMBERS = ("layer", "head", *COUNTS)
"""Columns that count or number."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Statistics of heads: one row a head, the columns NumPy arrays of one length.

    Attributes:
        model: what the numbers were measured on.
        columns: by name, in order: layer, head; each statistic's mean under its own name (`first`) and median
            (`first_median`); the counts. Not a number where something is absent.
    """

    model: dict[str, Any]
    columns: dict[str, Numbers] = field(repr=False)

    def __len__(self) -> int:
        return len(self.columns["layer"])

    def __getitem__(self, column: str) -> Numbers:
        """One column, [row].

        Raises:
            OutOfRange: the table has no such column.
        """
        if column not in self.columns:
            raise OutOfRange(f"the table has no column {column!r}: it has {', '.join(self.columns)}")
        return self.columns[column]

    @property
    def statistics(self) -> list[str]:
        """The names of the statistics in the table, without the numbers of rows and without the counts."""
        return [name for name in COLUMNS if name in self.columns]

    def rows(self) -> list[dict[str, int | float | None]]:
        """The table as one dictionary a head; None for what is absent."""
        listed = [_listed(name, column) for name, column in self.columns.items()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*listed, strict=True)]

    def order(self, column: str, *, ascending: bool = False) -> list[int]:
        """The rows sorted by a column, largest first; those where it is absent come last.

        Raises:
            OutOfRange: the table has no such column.
        """
        values = self[column]
        return [int(row) for row in np.argsort(values if ascending else -values, kind="stable")]

    def where(self, layer: int | None = None, head: int | None = None) -> list[int]:
        """The rows of a layer, of a head, or all.

        Raises:
            OutOfRange: the table has no such layer or head.
        """
        known = np.ones(len(self), dtype=bool)
        for name, number in (("layer", layer), ("head", head)):
            if number is not None and number not in self.columns[name]:
                there = ", ".join(str(int(one)) for one in np.unique(self.columns[name]))
                raise OutOfRange(f"the table has no {name} {number}: it has {there}")
            known &= number is None or self.columns[name] == number
        return [int(row) for row in np.flatnonzero(known)]

    def __str__(self) -> str:
        from heedmap.drawing.statistics import table_text

        return table_text(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistics(Table):
    """The statistics of one text.

    Attributes:
        tokens: the tokens that ran.
        by_position: by name, [row, position]: the values themselves, where they were asked for (`positions=True`).
        column_sums: [row, token] what each token receives, where it was asked for (`received=True`).
        lookers: [row, token] how many tokens may look at it.
    """

    tokens: Tokens
    by_position: dict[str, Numbers] | None = field(default=None, repr=False)
    column_sums: Numbers | None = field(default=None, repr=False)
    lookers: Numbers | None = field(default=None, repr=False)

    def curve(self, column: str, layer: int | None = None, head: int | None = None) -> Numbers:
        """A statistic over position, [position]: the mean over the rows of a layer, of a head, or over all.

        Shares fall with position, since more and more keys share a row: compare texts at like positions.

        Raises:
            ReadingError: the values at each position were not asked for.
            OutOfRange: there is no such column, layer or head.

        Example:
            >>> import heedmap
            >>> stats = heedmap.load("smollm2").stats("The cat sat on the mat.", only=["first"], positions=True)
            >>> stats.curve("first", layer=12).shape
            (7,)
        """
        if self.by_position is None:
            raise ReadingError("the values at each position were not kept: ask for them with positions=True")
        if column not in self.by_position:
            raise OutOfRange(f"there is no statistic {column!r} here: there are {', '.join(self.by_position)}")
        return mean(self.by_position[column][self.where(layer, head)].T)

    def received(self, layer: int | None = None, head: int | None = None) -> Received:
        """What each token receives: in a head, or the mean over heads and layers.

        Raises:
            ReadingError: it was not asked for.
            OutOfRange: there is no such layer or head.
        """
        if self.column_sums is None or self.lookers is None:
            raise ReadingError("what each token receives was not measured: ask for it with received=True")
        rows = self.where(layer, head)
        sums, lookers = mean(self.column_sums[rows].T), mean(self.lookers[rows].T)
        return Received(self.tokens, layer, head, sums, lookers, self.model)

    def to_json(self) -> dict[str, Any]:
        """The table as JSON; null for what is absent.

        Values at each position, where they were asked for, stand in each row under "positions", one list a column;
        what each token receives under "received", and how many tokens may look at it under "lookers".
        """
        rows: list[dict[str, Any]] = list(self.rows())
        for name, values in (self.by_position or {}).items():
            for row, at_positions in zip(rows, values, strict=True):
                row.setdefault("positions", {})[name] = [number_or_none(value) for value in at_positions]
        for name, by_token in (("received", self.column_sums), ("lookers", self.lookers)):
            for row, values in zip(rows, [] if by_token is None else by_token, strict=by_token is not None):
                row[name] = _listed(name, values)
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "rows": rows,
        }

    def plot(
        self, column: str = "first", layer: int | None = None, head: int | None = None, *, ax: Axes | None = None
    ) -> Axes:
        """Draw a statistic over position with matplotlib and return the Axes; errors as in `curve`."""
        from heedmap.drawing.statistics import plot_curve

        return plot_curve(self, column, layer, head, ax=ax)


@dataclass(frozen=True, eq=False, kw_only=True)
class StatisticsOfTexts(Table):
    """The statistics of many texts: each text counts once, however long it is, since its own rows are not independent.

    A mean here is the mean of the texts' means, a median the median of their medians, a count the sum of their counts.

    Attributes:
        texts: the statistics of each text.
    """

    texts: Sequence[Statistics] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """The table over all texts as JSON, and under "texts" that of each."""
        return {
            "schema": SCHEMA_OF_TEXTS,
            "model": self.model,
            "rows": self.rows(),
            "texts": [text.to_json() for text in self.texts],
        }


def combine(texts: Sequence[Statistics]) -> StatisticsOfTexts:
    """One table of many texts, measured on one model with the same columns and layers.

    Raises:
        ReadingError: there is no text, or their tables differ in rows or columns.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> table = combine([model.stats(text, layers=12) for text in ("The cat sat.", "It rained all day.")])
        >>> len(table), [int(text["counted"][0]) for text in table.texts], int(table["counted"][0])
        (9, [3, 5], 8)
    """
    if not texts:
        raise ReadingError("there is no text to take statistics of: give at least one")
    first = texts[0]
    columns: dict[str, Numbers] = {}
    for text in texts[1:]:
        same_rows = all(np.array_equal(text.columns[name], first.columns[name]) for name in ("layer", "head"))
        if list(text.columns) != list(first.columns) or not same_rows:
            raise ReadingError("statistics of several texts must have the same layers, heads and columns")
    for name in first.columns:
        together = np.stack([text.columns[name] for text in texts], -1)
        if name in COUNTS:
            columns[name] = together.sum(-1)
        elif name in WHOLE_NUMBERS:
            columns[name] = together[..., 0]
        else:
            columns[name] = (median if name.endswith(MEDIAN) else mean)(together)
    return StatisticsOfTexts(model=first.model, columns=columns, texts=tuple(texts))


def _listed(name: str, column: Numbers) -> list[Any]:
    """A column as plain numbers."""
    return (
        [int(one) for one in column] if name in (*WHOLE_NUMBERS, "lookers") else [number_or_none(one) for one in column]
    )
