"""One map of attention as a shaded grid in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten
from heedmap.drawing.palette import BLUE, BLUE_256, ORANGE, SAND, SAND_256
from heedmap.drawing.shapes import DrawnMap, Flags, Weights
from heedmap.drawing.terminal import Glyphs, background, glyphs_for, in_colour, line

MOST_CELLS = 4
"""How many terminal cells wide a column is at most."""

LABELLED_CELLS = 3
"""From this width on each column carries its number and the start of its label."""

LONGEST_LABEL = 12
SHADE_EDGES = (0.02, 0.1, 0.3, 0.6)
"""Where one character gives way to the next, as shares of the top of the scale."""

SWATCHES = 10
BROKEN = "!"


def grid(picture: DrawnMap) -> RenderableType:
    """A map whose rows look and whose columns are looked at, one cell a pair of tokens.

    Cells are shades of blue, sand for the first token; without colour they are characters. What a row may not
    look at is blank. A map with more columns than fit is pooled: each cell is then the mean over a block of
    cells, of those that may be seen, the caption says so, and the scale ends at the largest mean outside the
    first token's column.

    Args:
        picture: the weights and their labels.

    Example:
        >>> from heedmap.drawing.terminal import to_text
        >>> words = ["The", "cat", "sat"]
        >>> weights = np.array([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.5, 0.5, 0.0]])
        >>> from heedmap.drawing.shapes import MapPicture
        >>> picture = MapPicture(
        ...     title="layer 0, head 0", labels_query=words, labels_key=words,
        ...     weights=weights, allowed=np.tri(3, dtype=bool),
        ... )
        >>> print(to_text(grid(picture)))
        layer 0, head 0
        <BLANKLINE>
              0   1   2
              The cat sat
        0 The ███
        1 cat ███ ▒▒▒
        2 sat ▓▓▓ ▓▓▓ ·
        <BLANKLINE>
        weight, 0 to 1:  · under 0.02  ░ from 0.02  ▒ from 0.1  ▓ from 0.3  █ from 0.6
        rows look (from, query); columns are looked at (to, key)
        blank: cannot be seen
    """
    return _Grid(picture)


@dataclass(frozen=True)
class _Grid:
    """The picture, drawn when the width is known."""

    picture: DrawnMap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sheet = _lay_out(self.picture, options.max_width, options.encoding)
        paint = _Paint(console, glyphs_for(options.encoding))
        yield line(self.picture.title, options.encoding, "bold")
        yield Text("")
        yield from _head(sheet)
        yield from _body(sheet, paint)
        yield Text("")
        yield paint.legend(sheet)
        for sentence in _notes(sheet, self.picture.size):
            yield line(sentence, options.encoding, "dim")


@dataclass(frozen=True)
class _Sheet:
    """The cells as they are shown.

    Attributes:
        weights: [row, column], pooled where the map is too large.
        allowed: [row, column].
        rows: the name of each row, all equally wide.
        columns: the label of each column; `None` where columns are pooled.
        steps: how many tokens a row and a column stand for.
        cell: how many terminal cells wide a column is.
        top: the weight at the end of the scale.
        first: the column that holds the first token.
    """

    weights: Weights
    allowed: Flags
    rows: list[str]
    columns: list[str] | None
    steps: tuple[int, int]
    cell: int
    top: float
    first: int | None


def _lay_out(picture: DrawnMap, width: int, encoding: str) -> _Sheet:
    """Decide how much fits on the line, and pool what does not."""
    queries, keys = picture.size
    ellipsis = glyphs_for(encoding).ellipsis
    rows = _named(picture.labels_query, min(LONGEST_LABEL, width // 4), ellipsis, encoding)
    room = max(1, width - cell_len(rows[0]) - 1)
    if queries > room:
        room = max(1, width - len(f"{queries - 1}-{queries - 1}") - 1)
        rows = _numbered(queries, -(-queries // room))
    steps = (-(-queries // len(rows)), -(-keys // room))
    weights, allowed = picture.pooled(steps, "mean")
    first = None if picture.first is None else picture.first // steps[1]
    labels = [printable(label, encoding) for label in picture.labels_key] if steps[1] == 1 else None
    return _Sheet(
        weights=weights,
        allowed=allowed,
        rows=rows,
        columns=labels,
        steps=steps,
        cell=min(MOST_CELLS, max(1, room // weights.shape[1])),
        top=1.0 if steps == (1, 1) else _top(weights, allowed, first),
        first=first,
    )


def _named(labels: Sequence[str], cells: int, ellipsis: str, encoding: str) -> list[str]:
    """A number and the label for each row, all equally wide."""
    short = [shorten(printable(label, encoding), cells, ellipsis) for label in labels]
    widest = max(map(cell_len, short))
    digits = len(str(len(labels) - 1))
    return [f"{place:>{digits}} {pad(isolate(label), widest)}" for place, label in enumerate(short)]


def _numbered(tokens: int, step: int) -> list[str]:
    """The places that each row stands for, all equally wide."""
    starts = range(0, tokens, step)
    names = [str(start) if step == 1 else f"{start}-{min(start + step, tokens) - 1}" for start in starts]
    return [name.rjust(max(map(len, names))) for name in names]


def _top(weights: Weights, allowed: Flags, first: int | None) -> float:
    """The end of a pooled map's scale: the first token would else set it alone."""
    apart = np.where(allowed & ~np.isnan(weights), weights, 0.0)
    others = apart if first is None else np.delete(apart, first, axis=1)
    return float(others.max(initial=0.0) or apart.max() or 1.0)


def _head(sheet: _Sheet) -> Iterator[Text]:
    """The lines over the columns: their numbers and, where there is room, the start of their labels."""
    margin = " " * (cell_len(sheet.rows[0]) + 1)
    columns = sheet.weights.shape[1]
    if sheet.columns is not None and sheet.cell >= LABELLED_CELLS:
        numbers = "".join(str(column).ljust(sheet.cell) for column in range(columns))
        labels = "".join(pad(isolate(shorten(label, sheet.cell - 1, "")), sheet.cell) for label in sheet.columns)
        yield _fixed((margin + numbers).rstrip(), "dim")
        yield _fixed((margin + labels).rstrip())
        return
    marks = [str(column * sheet.steps[1]) for column in range(0, columns, 10)]
    if len(marks) > 1 and (len(marks) - 1) * 10 * sheet.cell + len(marks[-1]) > columns * sheet.cell:
        marks.pop()
    yield _fixed(margin + "".join(mark.ljust(10 * sheet.cell) for mark in marks).rstrip(), "dim")
    if sheet.columns is not None:
        digits = "".join(str(column % 10).ljust(sheet.cell) for column in range(columns))
        yield _fixed((margin + digits).rstrip(), "dim")


def _body(sheet: _Sheet, paint: _Paint) -> Iterator[Text]:
    """The rows: name and cells."""
    for name, weights, allowed in zip(sheet.rows, sheet.weights, sheet.allowed, strict=True):
        text = _fixed(f"{name} ")
        for column in range(int(allowed.nonzero()[0].max(initial=-1)) + 1):
            if allowed[column]:
                share = float(weights[column]) / sheet.top
                text.append_text(paint.cell(share, sheet.cell, sand=column == sheet.first))
            else:
                text.append(" " * sheet.cell)
        if not in_colour(paint.console):
            text.rstrip()
        yield text


@dataclass(frozen=True)
class _Paint:
    """How a weight becomes a cell: a shade where the terminal has enough colours, otherwise a character."""

    console: Console
    glyphs: Glyphs

    def cell(self, share: float, cells: int, *, sand: bool = False) -> Text:
        """The cell of a weight, given as a share of the top of the scale."""
        if np.isnan(share):
            return Text(BROKEN.ljust(cells), ORANGE)
        if in_colour(self.console):
            scale, numbers = (SAND, SAND_256) if sand else (BLUE, BLUE_256)
            return Text(" " * cells, background(share, scale, numbers, self.console))
        step = int(np.searchsorted(SHADE_EDGES, share, side="right"))
        filled = 1 if step == 0 else max(1, cells - 1)  # a gap keeps neighbours apart, and little stays quiet
        return Text((self.glyphs.shades[step] * filled).ljust(cells))

    def legend(self, sheet: _Sheet) -> Text:
        """What the shades stand for, with the scale and the unit."""
        if in_colour(self.console):
            text = Text("weight, from 0 ")
            for step in range(SWATCHES):
                text.append_text(self.cell(step / (SWATCHES - 1), 2))
            text.append(f" to {sheet.top:.2g}{'' if sheet.top == 1 else ' or more'}")
            if sheet.first is not None:
                text.append("   ").append_text(self.cell(0.5, 2, sand=True)).append(" on the first token")
        else:
            limits = [f"{edge * sheet.top:.2g}" for edge in SHADE_EDGES]
            words = [f"under {limits[0]}", *(f"from {limit}" for limit in limits)]
            shades = "  ".join(f"{shade} {word}" for shade, word in zip(self.glyphs.shades, words, strict=True))
            text = Text(f"weight, 0 to {sheet.top:.2g}:  {shades}")
        return text


def _notes(sheet: _Sheet, tokens: tuple[int, ...]) -> Iterator[str]:
    """What the cells do not say."""
    yield "rows look (from, query); columns are looked at (to, key)"
    if sheet.steps != (1, 1):
        yield (
            f"each cell is the mean of {sheet.steps[0]} x {sheet.steps[1]} weights, of those that can be seen "
            f"({tokens[0]} x {tokens[1]} tokens)"
        )
    if not sheet.allowed.all():
        yield "blank: cannot be seen"
    broken = int((sheet.allowed & np.isnan(sheet.weights)).sum())
    if broken:
        yield f"{BROKEN}: not a number (nan), {broken} of {int(sheet.allowed.sum())} cells"


def _fixed(text: str, style: str = "") -> Text:
    """A line that is never wrapped."""
    return Text(text, style=style, no_wrap=True, overflow="crop")
