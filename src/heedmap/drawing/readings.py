"""From rows, maps and odds of a reading to pictures: which numbers, which labels, and the line that says what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.drawing.shapes import MapPicture, RowPicture
from heedmap.reading.map import Map
from heedmap.reading.odds import Odds
from heedmap.reading.row import Row
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def row_picture(row: Row) -> RowPicture:
    """What is drawn of a row."""
    return RowPicture(
        title=f"where “{row.word}” looks: {_place(row)}",
        labels=row.key_tokens.labels,
        weights=row.weights,
        allowed=row.allowed,
        special=np.array([token.special for token in row.key_tokens]),
        query=frozenset(row.query if row.keys is None else ()),
        first=_first_place(row.key_tokens),
        missing=row.sink,
    )


def map_picture(reading_map: Map) -> MapPicture:
    """What is drawn of a map; all of it is computed here."""
    return MapPicture(
        title=f"who looks at whom: {_place(reading_map)}",
        labels_query=reading_map.tokens.labels,
        labels_key=reading_map.key_tokens.labels,
        weights=np.asarray(reading_map),
        allowed=reading_map.allowed(),
        first=_first_place(reading_map.key_tokens),
    )


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


def _place(part: Row | Map) -> str:
    """The layer, head and model in words: "layer 16, head 3 of smollm2", "cross layer 1, head 0 of t5"."""
    stack = f"{part.model['stack']} " if "stack" in part.model else ""
    head = "mean over heads" if part.head is None else f"head {part.head}"
    return f"{stack}layer {part.layer}, {head} of {part.model['name']}"


def _first_place(tokens: Tokens) -> int | None:
    """The first token that ran: where the sink usually sits."""
    return 0 if len(tokens) else None
