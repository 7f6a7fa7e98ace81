"""Statistics of heads in the terminal: layer by layer, head by head, over position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.terminal import line, to_text
from heedmap.reading.statistics_columns import COLUMNS, Column
from heedmap.reading.statistics_summary import MEDIAN, Numbers, mean
from heedmap.reading.statistics_table import Statistics, StatisticsOfTexts, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_EXTREME = 4
"""Heads named for each statistic, where the line has room."""


WHOLE_PART = {"share": 1, "nats": 2, "tokens": 4}
"""Characters before the point of a number, by its unit."""

EXTREMES = (
    ("first", False, "most on the first token"),
    ("itself", False, "most on itself"),
    ("previous", False, "most on the token before"),
    ("special", False, "most on special tokens"),
    ("sink", False, "most on the learned sink"),
    ("effective_tokens", True, "fewest tokens"),
    ("effective_tokens", False, "most tokens"),
    ("distance", False, "furthest back"),
    ("largest", False, "largest weight"),
)
"""What is asked of the heads, as column, ascending, and in words."""


def overview(table: Table, *, medians: bool = False) -> RenderableType:
    """One line a layer (the mean over its heads), then the heads that stand out.

    Args:
        table: the statistics.
        medians: medians over the positions instead of means.
    """
    layers = np.unique(table["layer"])
    lines = {
        str(int(layer)): [_value(table, name, table["layer"] == layer, medians) for name in _shown(table)]
        for layer in layers
    }
    grid = _Grid(_of_what(table, medians), "layer", _shown(table), lines)
    each = line("each line is the mean over the heads of a layer", "utf-8", "dim")
    return Group(grid, _Extremes(table, medians), *_notes(table), each)


def head_lines(table: Table, rows: Sequence[int], *, medians: bool = False) -> RenderableType:
    """One line a head.

    Args:
        table: the statistics.
        rows: which rows of the table, in which order.
        medians: medians over the positions instead of means.
    """
    lines = {
        _head(table, row): [_value(table, name, np.array([row]), medians) for name in _shown(table)] for row in rows
    }
    some = line(f"{len(lines)} of {len(table)} heads", "utf-8", "dim")
    return Group(_Grid(_of_what(table, medians), "head", _shown(table), lines), *_notes(table), some)


def position_lines(statistics: Statistics) -> RenderableType:
    """How the statistics change along the text: one line a range of positions, each twice as long as the one before.

    Raises:
        ReadingError: the values at each position were not asked for.
    """
    curves = {name: statistics.curve(name) for name in _shown(statistics)}
    lines, start = {}, 1
    while start < len(statistics.tokens):
        stop = min(2 * start, len(statistics.tokens))
        name = str(start) if stop == start + 1 else f"{start}-{stop - 1}"
        lines[name] = [float(mean(curve[start:stop])) for curve in curves.values()]
        start = stop
    what = f"{_model_and_text(statistics)}: means over {len(statistics)} heads, by position"
    return Group(_Grid(what, "positions", list(curves), lines), *_notes(statistics))


def table_text(table: Table) -> str:
    """The overview in plain text."""
    return to_text(overview(table))


def plot_curve(
    statistics: Statistics, column: str, layer: int | None = None, head: int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw a statistic over position; see `Statistics.plot`."""
    from heedmap.drawing.statistics_figure import plot_curve as plot

    return plot(statistics, column, layer, head, ax=ax)


@dataclass(frozen=True)
class _Grid:
    """A title, a line of headings, and lines of numbers."""

    title: str
    corner: str
    columns: Sequence[str]
    lines: dict[str, list[float]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [_width(COLUMNS[name]) for name in self.columns]
        first = max(len(self.corner), *(len(name) for name in self.lines)) if self.lines else len(self.corner)
        roomy = first + sum(widths) + 2 * len(widths) <= options.max_width
        gap = "  " if roomy else " "
        yield line(self.title, options.encoding, "bold")
        yield Text("")
        words = [COLUMNS[name].heading.rjust(width) for name, width in zip(self.columns, widths, strict=True)]
        yield one_line(gap.join([self.corner.rjust(first), *words]), "bold")
        for name, values in self.lines.items():
            numbers = [
                _number(column, value).rjust(width)
                for column, value, width in zip(self.columns, values, widths, strict=True)
            ]
            yield one_line(gap.join([name.rjust(first), *numbers]))


@dataclass(frozen=True)
class _Extremes:
    """For each question the heads that answer it most, as many as the line holds."""

    table: Table
    medians: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        asked = [(name, up, words) for name, up, words in EXTREMES if name in _shown(self.table)]
        first = max((len(words) for *_, words in asked), default=0)
        if asked:
            yield Text("")
            yield line("the heads that stand out", options.encoding, "bold")
        for name, ascending, words in asked:
            column = name + MEDIAN if self.medians else name
            text = words.ljust(first)
            for row in self.table.order(column, ascending=ascending)[:MOST_EXTREME]:
                entry = f"  {_head(self.table, row)} {_number(name, float(self.table[column][row]))}"
                if len(text) + len(entry) > options.max_width:
                    break
                text += entry
            yield one_line(text)


def _width(column: Column) -> int:
    """How many cells a column needs for its heading and its numbers.

    Example:
        >>> _width(COLUMNS["first"]), _width(COLUMNS["previous"]), _width(COLUMNS["distance"])
        (5, 5, 6)
    """
    return max(len(column.heading), WHOLE_PART[column.unit] + 1 + column.digits)


def one_line(text: str, style: str = "") -> Text:
    """A line that is cut and not wrapped where the terminal is narrow."""
    return Text(text, style, no_wrap=True, overflow="crop")


def _shown(table: Table) -> list[str]:
    """The statistics that are there: no sink where there is none, no special tokens where the text has none."""
    known = [name for name in table.statistics if not np.isnan(table[name]).all()]
    return [name for name in known if name != "special" or np.nansum(table[name]) > 0]


def _value(table: Table, name: str, rows: Numbers, medians: bool) -> float:
    """A statistic over some rows."""
    return float(mean(table[name + MEDIAN if medians else name][rows]))


def _number(name: str, value: float) -> str:
    """A number with the digits that its column has; fewer where it is large, a dash where there is none.

    Example:
        >>> _number("first", 0.5), _number("effective_tokens", 12345.6), _number("distance", float("nan"))
        ('0.500', '12346', '-')
    """
    if np.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 999.95 else f"{value:.{COLUMNS[name].digits}f}"


def _head(table: Table, row: int) -> str:
    """A head by its layer and number, as people write it."""
    return f"L{int(table['layer'][row])}H{int(table['head'][row])}"


def _of_what(table: Table, medians: bool) -> str:
    """What the numbers are of."""
    kind = "medians" if medians else "means"
    if isinstance(table, StatisticsOfTexts):
        return f"{_model_and_text(table)}: {kind} of each text's {kind}"
    counted = table["counted"]
    positions = f"{int(counted.max()):,}" if len(counted) else "0"
    return f"{_model_and_text(table)}: {kind} over the {positions} positions after the first"


def _model_and_text(table: Table) -> str:
    """The model, and how long the text is."""
    name = str(table.model["name"])
    if isinstance(table, Statistics):
        return f"{name}, {len(table.tokens):,} tokens"
    assert isinstance(table, StatisticsOfTexts)
    lengths = sorted(len(text.tokens) for text in table.texts)
    between = f"{lengths[0]:,}" if lengths[0] == lengths[-1] else f"{lengths[0]:,} to {lengths[-1]:,}"
    return f"{name}, {len(lengths):,} texts of {between} tokens"


def _notes(table: Table) -> Iterator[Text]:
    """What the headings do not say, and what the numbers leave out."""
    shown = _shown(table)
    broken = int(table["not_a_number"].sum())
    if not table["counted"].any() and broken:
        layers = ", ".join(str(number) for number in sorted({*table["layer"][table["not_a_number"] > 0].tolist()}))
        yield line(f"no row is a number: {broken} are nan, in layers {layers}", "utf-8")
        return
    if not table["counted"].any():
        yield line("there is no position after the first: a text of one token has no statistics", "utf-8")
        return
    words = {
        "entropy": "entropy in nats",
        "normalised_entropy": "of max: divided by ln(keys allowed)",
        "effective_tokens": "tokens: exp(entropy), how many it looks at",
        "distance": "back: mean distance in tokens",
    }
    yield Text("")
    explained = "; ".join(text for name, text in words.items() if name in shown)
    if explained:
        yield line(explained, "utf-8", "dim")
    if "special" in table.statistics and "special" not in shown:
        yield line("no special tokens in the text, so no column for them", "utf-8", "dim")
    for name, reason in (("dead", "may look at nothing"), ("not_a_number", "are not a number")):
        heads = table[name] > 0
        if heads.any():
            worst = int(table[name].max())
            yield line(f"left out: up to {worst:,} rows that {reason}, in {int(heads.sum())} heads", "utf-8", "dim")
