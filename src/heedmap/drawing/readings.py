"""From rows, maps and odds of a reading to pictures: which numbers, which labels, and the line that says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from heedmap.drawing.shapes import DrawnMap, Flags, RowPicture
from heedmap.reading.map import Map
from heedmap.reading.odds import Odds
from heedmap.reading.pool import pool_by_edges
from heedmap.reading.row import Row
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def row_picture(row: Row) -> RowPicture:
    """What is drawn of a row."""
    return RowPicture(
        title=f"where “{row.word}” looks: {place(row)}",
        labels=row.key_tokens.labels,
        weights=row.weights,
        allowed=row.allowed,
        special=np.array([token.special for token in row.key_tokens]),
        query=frozenset(row.query if row.keys is None else ()),
        first=_first_place(row.key_tokens),
        missing=row.sink,
    )


def map_picture(reading_map: Map) -> DrawnMap:
    """What is drawn of a map; it is computed by tiles when it is known how large the picture is."""
    return _ReadMap(
        title=f"who looks at whom: {place(reading_map)}",
        labels_query=reading_map.tokens.labels,
        labels_key=reading_map.key_tokens.labels,
        first=_first_place(reading_map.key_tokens),
        source=reading_map,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _ReadMap:
    """The picture of a map that is known and not stored; see `DrawnMap`."""

    title: str
    labels_query: Sequence[str]
    labels_key: Sequence[str]
    first: int | None
    source: Map

    @property
    def size(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.source.shape

    def pooled(self, steps: tuple[int, int], how: Literal["mean", "largest"]) -> tuple[NDArray[np.float64], Flags]:
        """One cell for each block of cells; see `DrawnMap`."""
        edges = [[*range(0, size, step), size] for size, step in zip(self.size, steps, strict=True)]
        return pool_by_edges(self.source, edges[0], edges[1], "max" if how == "largest" else "mean")


def plot_row(row: Row, ax: Axes | None = None) -> Axes:
    """Draw a row with matplotlib; see `Row.plot`."""
    from heedmap.drawing.figures import plot_row as plot

    return plot(row_picture(row), ax=ax)


def plot_map(reading_map: Map, ax: Axes | None = None) -> Axes:
    """Draw a map with matplotlib; see `Map.plot`."""
    from heedmap.drawing.figures import plot_map as plot

    return plot(map_picture(reading_map), ax=ax)


def row_text(row: Row) -> str:
    """A row as bars in plain text."""
    from heedmap.drawing.bars import row_bars
    from heedmap.drawing.terminal import to_text

    return to_text(row_bars(row_picture(row)))


def map_text(reading_map: Map) -> str:
    """A map as a grid in plain text."""
    from heedmap.drawing.grid import grid
    from heedmap.drawing.terminal import to_text

    return to_text(grid(map_picture(reading_map)))


def odds_text(odds: Odds) -> str:
    """The odds of the next token in plain text."""
    from heedmap.drawing.odds import odds_bars
    from heedmap.drawing.terminal import to_text

    return to_text(odds_bars(odds))


def place(part: Row | Map) -> str:
    """The layer, head and model in words: "layer 16, head 3 of smollm2", "cross layer 1, head 0 of t5"."""
    stack = f"{part.model['stack']} " if "stack" in part.model else ""
    head = "mean over heads" if part.head is None else f"head {part.head}"
    return f"{stack}layer {part.layer}, {head} of {part.model['name']}"


def _first_place(tokens: Tokens) -> int | None:
    """The first token that ran: where the sink usually sits."""
    return 0 if len(tokens) else None
