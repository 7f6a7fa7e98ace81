"""One row of attention as bars, one line a key token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten
from heedmap.drawing.palette import BLUE_BAR, ORANGE, QUIET, SAND_BAR
from heedmap.drawing.row_notes import total, unseen
from heedmap.drawing.shapes import RowPicture
from heedmap.drawing.terminal import Glyphs, glyphs_for, line

MOST_LINES = 40
"""How many tokens are shown; of a longer row the largest, the first and those around the word."""

AROUND = 3
"""How many tokens on each side of the asking word are shown whatever their weight."""

MARK_ASKING, MARK_SPECIAL = ">", "*"
NUMBER_CELLS = len("0.000")
SMALLEST_BAR, SMALLEST_LABEL = 4, 4
SINK = "sink"


def row_bars(row: RowPicture) -> RenderableType:
    """Bars that show where a word looks; each is as long as its weight, and the longest fills the line.

    Tokens that the word may not look at get no bar and no number: a line below says how many there are.
    Of more than 40 tokens only the largest, the first and the word's neighbours are shown, and a line says how
    many were left out and what they hold together.

    Args:
        row: the weights and their labels.

    Example:
        >>> from heedmap.drawing.terminal import to_text
        >>> row = RowPicture(
        ...     title='where "sat" looks', labels=["The", "cat", "sat", "down"], query=frozenset({2}),
        ...     weights=np.array([0.125, 0.5, 0.375, 0.0]), allowed=np.array([True, True, True, False]),
        ...     special=np.zeros(4, dtype=bool),
        ... )
        >>> print(to_text(row_bars(row), width=30))
        where "sat" looks
        <BLANKLINE>
          0  The  0.125  ███▎
          1  cat  0.500  █████████████
        > 2  sat  0.375  █████████▊
        <BLANKLINE>
        > the asking word
        adds up to 1.000
        1 later token cannot be seen
    """
    return _RowBars(row)


@dataclass(frozen=True)
class _RowBars:
    """The picture, drawn when the width is known."""

    row: RowPicture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding = options.encoding
        yield line(self.row.title, encoding, "bold")
        yield Text("")
        places = _places_shown(self.row)
        if not self.row.allowed.any():
            yield line("it may look at no token: this row is absent, not zero", encoding)
            return
        yield from bar_lines(list(_entries(self.row, places, encoding)), options.max_width, glyphs_for(encoding))
        yield Text("")
        for sentence in _notes(self.row, places):
            yield line(sentence, encoding, "dim")


def _places_shown(row: RowPicture) -> list[int]:
    """The places that get a line, in order: all that may be seen, or of a long row the ones that matter."""
    seen = np.flatnonzero(row.allowed)
    if len(seen) <= MOST_LINES:
        return [int(place) for place in seen]
    around = {place + step for place in row.query for step in range(-AROUND, AROUND + 1)}
    near = sorted(around.intersection(seen.tolist()))[: MOST_LINES // 2]
    first = [row.first] if row.first is not None and row.allowed[row.first] else []
    rank = np.where(np.isnan(row.weights), np.inf, row.weights)[seen]  # what is not a number must not hide
    largest = seen[np.argsort(-rank, kind="stable")][:MOST_LINES]
    wanted = dict.fromkeys([*first, *near, *largest.tolist()])
    return sorted(list(wanted)[:MOST_LINES])


class Entry(NamedTuple):
    """One line before it is laid out; `colour` is the bar's."""

    mark: str
    place: str
    label: str
    weight: float
    style: str
    colour: str


def _entries(row: RowPicture, places: list[int], encoding: str) -> Iterator[Entry]:
    """What each line says, the learned sink last."""
    for place in places:
        asks, special = place in row.query, bool(row.special[place])
        yield Entry(
            mark=MARK_ASKING if asks else MARK_SPECIAL if special else " ",
            place=str(place),
            label=printable(row.labels[place], encoding),
            weight=float(row.weights[place]),
            style="bold" if asks else "dim" if special else "",
            colour=SAND_BAR if place == row.first else BLUE_BAR,
        )
    if row.missing:
        yield Entry(" ", "", SINK, row.missing, "dim", QUIET)


def bar_lines(entries: list[Entry], width: int, glyphs: Glyphs) -> Iterator[Text]:
    """The lines, laid out: mark, index, label, weight, bar."""
    place_cells = max(len(entry.place) for entry in entries)
    around = len("> ") + place_cells + len("  ") + len("  ") + NUMBER_CELLS + len("  ")
    longest_label = max(cell_len(entry.label) for entry in entries)
    label_cells = min(longest_label, max(SMALLEST_LABEL, 2 * (width - around) // 5))
    bar_cells = width - around - label_cells
    longest = np.nanmax([0.0, *(entry.weight for entry in entries)])
    for entry in entries:
        label = isolate(shorten(entry.label, label_cells, glyphs.ellipsis))
        text = Text(no_wrap=True, overflow="crop")
        text.append(f"{entry.mark} {pad(entry.place, place_cells, right=True)}  ", "dim")
        text.append(pad(label, label_cells), entry.style)
        if np.isnan(entry.weight):
            text.append("    nan", ORANGE)
        else:
            text.append(f"  {entry.weight:.3f}", entry.style)
            if bar_cells >= SMALLEST_BAR and longest > 0:
                bar = glyphs.drawn_bar(bar_cells * entry.weight / longest)
                text.append(f"  {bar}" if bar else "", entry.colour)
        yield text


def _notes(row: RowPicture, places: list[int]) -> Iterator[str]:
    """What the bars do not say: the marks, the sum, what was left out and what cannot be seen."""
    marks = []
    if row.query.intersection(places):
        marks.append(f"{MARK_ASKING} the asking word")
    if row.special[places].any():
        marks.append(f"{MARK_SPECIAL} special token")
    if marks:
        yield ", ".join(marks)
    seen = np.flatnonzero(row.allowed)
    yield total(row)
    left_out = np.setdiff1d(seen, places)
    if len(left_out):
        weights = row.weights[left_out].astype(np.float64)
        yield (
            f"left out: {len(left_out)} of {len(seen)} tokens, together {weights.sum():.3f}, "
            f"each at most {weights.max():.3f}"
        )
    yield from unseen(row)
