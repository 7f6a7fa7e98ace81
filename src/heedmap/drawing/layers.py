"""How much chosen words get in every layer, one line a layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten
from heedmap.drawing.palette import BLUE_BAR, ORANGE, SAND_BAR
from heedmap.drawing.terminal import Glyphs, glyphs_for, line

NUMBER_CELLS = len("0.000")
LONGEST_LABEL = 10
BAR_CELLS = range(24, 2, -1)
"""How long a full bar may be, the longest that fits first."""

GAP = "  "
LAYER = "layer"
PER_TOKEN = "a token"


@dataclass(frozen=True, kw_only=True, eq=False)
class ShareColumn:
    """What one word gets in each layer.

    Attributes:
        label: the word.
        shares: one a layer; `None` where the layer has no such weight.
        tokens: how many tokens the word has: of several, the share of one is shown beside the sum.
        first: whether this is the first token, whose bars are sand and reach to 1.
    """

    label: str
    shares: Sequence[float | None]
    tokens: int = 1
    first: bool = False


def layer_table(title: str, layers: Sequence[int], columns: Sequence[ShareColumn]) -> RenderableType:
    """A table with one line a layer and one column a word, each share with a small bar.

    The words' bars have one scale, so that they can be compared; the first token's bars reach to 1. Columns that do
    not fit beside each other follow in a further table below.

    Args:
        title: one line that says what is shown.
        layers: the numbers of the layers.
        columns: the words, each with one share a layer.

    Example:
        >>> from heedmap.drawing.terminal import to_text
        >>> columns = [
        ...     ShareColumn(label="suitcase", shares=[0.25, 0.5], tokens=2),
        ...     ShareColumn(label="The", shares=[0.5, None], first=True),
        ... ]
        >>> print(to_text(layer_table('where "it" looks', [0, 1], columns), width=54))
        where "it" looks
        <BLANKLINE>
        layer  suitcase            a token  The
            0  0.250  █████▌         0.125  0.500  █████▌
            1  0.500  ███████████    0.250      -
        <BLANKLINE>
        a full bar is 0.500 for words, 1 for the first token
        'a token': the sum divided by the word's tokens
        -: no such weight in this layer
    """
    return _LayerTable(title, layers, columns)


@dataclass(frozen=True)
class _LayerTable:
    """The picture, drawn when the width is known."""

    title: str
    layers: Sequence[int]
    columns: Sequence[ShareColumn]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding = options.encoding
        width = options.max_width
        glyphs = glyphs_for(encoding)
        top = max((_largest(column.shares) for column in self.columns if not column.first), default=0.0)
        columns = [
            _Column(column, printable(column.label, encoding), 1.0 if column.first else top, glyphs)
            for column in self.columns
        ]
        blocks = list(_blocks(columns, width))
        bar = next((cells for cells in BAR_CELLS if all(_wide(block, cells) <= width for block in blocks)), 0)
        yield line(self.title, encoding, "bold")
        for block in blocks:
            yield Text("")
            yield _joined(LAYER, [column.head(bar) for column in block])
            for place, layer in enumerate(self.layers):
                yield _joined(str(layer), [column.cell(place, bar) for column in block])
        yield Text("")
        for sentence in _notes(self.columns, top if bar else 0.0):
            yield line(sentence, encoding, "dim")


@dataclass(frozen=True)
class _Column:
    """One column as it is painted; `bar` is how many cells a full bar has, 0 for none."""

    column: ShareColumn
    label: str
    top: float
    glyphs: Glyphs

    def main_cells(self, bar: int) -> int:
        """The cells of the word over its number and bar."""
        label = max(NUMBER_CELLS, min(cell_len(self.label), LONGEST_LABEL))
        return max(label, NUMBER_CELLS + len(GAP) + bar) if bar else label

    def cells(self, bar: int) -> int:
        """The cells of the whole column."""
        return self.main_cells(bar) + (len(GAP) + len(PER_TOKEN) if self.column.tokens > 1 else 0)

    def head(self, bar: int) -> Text:
        """The word over its numbers."""
        room = self.main_cells(bar)
        text = pad(isolate(shorten(self.label, room, self.glyphs.ellipsis)), room)
        return Text(text + (GAP + PER_TOKEN if self.column.tokens > 1 else ""), "bold")

    def cell(self, place: int, bar: int) -> Text:
        """The number, the bar and, for a word of several tokens, the share of one."""
        share = self.column.shares[place]
        text = Text()
        if share is None or np.isnan(share):
            text.append(_number(share), "" if share is None else ORANGE)
        else:
            drawn = self.glyphs.drawn_bar(bar * min(share / self.top, 1.0)) if self.top else ""
            text.append(_number(share)).append(GAP + drawn, SAND_BAR if self.column.first else BLUE_BAR)
        text.truncate(self.main_cells(bar), pad=True)
        if self.column.tokens > 1:
            each = None if share is None else share / self.column.tokens
            text.append(GAP + _number(each).rjust(len(PER_TOKEN)), "dim")
        return text


def _wide(block: list[_Column], bar: int) -> int:
    """How many cells a line with these columns takes."""
    return len(LAYER) + sum(len(GAP) + column.cells(bar) for column in block)


def _largest(shares: Sequence[float | None]) -> float:
    """The largest share there is, 0 where there is none."""
    return max((share for share in shares if share is not None and not np.isnan(share)), default=0.0)


def _blocks(columns: list[_Column], width: int) -> Iterator[list[_Column]]:
    """The columns in groups that fit beside each other, at least one a group."""
    block: list[_Column] = []
    for column in columns:
        if block and _wide([*block, column], 0) > width:
            yield block
            block = []
        block.append(column)
    if block:
        yield block


def _joined(layer: str, cells: list[Text]) -> Text:
    """One line of the table."""
    text = Text(pad(layer, len(LAYER), right=True), no_wrap=True, overflow="crop")
    for cell in cells:
        text.append(GAP).append_text(cell)
    text.rstrip()
    return text


def _number(share: float | None) -> str:
    """A share to three decimals, or a dash where there is none."""
    return "-".rjust(NUMBER_CELLS) if share is None else f"{share:.3f}".rjust(NUMBER_CELLS)


def _notes(columns: Sequence[ShareColumn], top: float) -> Iterator[str]:
    """What the numbers and bars do not say by themselves; `top` is 0 where there are no bars."""
    if top:
        first = ", 1 for the first token" if any(column.first for column in columns) else ""
        yield f"a full bar is {top:.3f} for words{first}"
    if any(column.tokens > 1 for column in columns):
        yield f"'{PER_TOKEN}': the sum divided by the word's tokens"
    if any(share is None for column in columns for share in column.shares):
        yield "-: no such weight in this layer"
