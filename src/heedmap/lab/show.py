"""A report in the terminal."""

from __future__ import annotations

from typing import Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from heedmap.lab.experiment import Figure, Finding, Table
from heedmap.lab.report import Report
from heedmap.lab.words import SEARCHED, interval_words, says_words, value_words
from heedmap.text.labels import visible

MOST_LINES = 12
"""Lines of a table that the terminal shows; the report has all."""

MOST_COLUMNS = 8


def report_lines(report: Report) -> RenderableType:
    """The verdicts, what was found and what was not, the main figures and short tables."""
    parts: list[RenderableType] = []
    for name, finding in report.findings.items():
        parts += [*_finding(name, finding), ""]
    return Group(*parts[:-1])


def _finding(name: str, finding: Finding) -> list[RenderableType]:
    """One experiment's finding."""
    heading = Text(f"{name}: ")
    heading.append(visible(finding.verdict), style="bold")
    lines: list[RenderableType] = [heading, Text(visible(finding.sentence))]
    for title, listed in (("What it shows", finding.shows), ("What it does not show", finding.does_not_show)):
        lines += ["", Text(title, style="bold"), *(_listed(line) for line in listed)]
    lines.append(_figures(finding.figures))
    lines += [_table(table) for table in finding.tables.values() if len(table.columns) <= MOST_COLUMNS]
    return lines


def _listed(line: str) -> RenderableType:
    """One line of a list, wrapped under itself."""
    grid = Grid.grid(padding=(0, 1))
    grid.add_row("-", Text(visible(line)))
    return grid


def is_main(name: str) -> bool:
    """Whether a figure is one of the few that stand for the rest: not of one layer, head or range.

    Example:
        >>> is_main("sink.median"), is_main("sink.layer3.median"), is_main("sink.curve.2_3")
        (True, False, False)
    """
    parts = name.split(".")
    return len(parts) == 2 or (len(parts) == 3 and not parts[1].startswith(("layer", "curve", "head")))


def _figures(figures: dict[str, Figure]) -> RenderableType:
    """The main figures, with their intervals and in words."""
    grid = Grid(box=None, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading in ("figure", "value", "95% interval", "n", "what it is"):
        side: Literal["left", "right"] = "right" if heading in ("value", "n") else "left"
        grid.add_column(heading, justify=side, overflow="fold", no_wrap=heading in ("figure", "n"))
    for name, figure in figures.items():
        if is_main(name):
            n = "" if figure.n is None else f"{figure.n:,}"
            says = Text(visible(says_words(figure)))
            grid.add_row(name, value_words(figure.value), interval_words(figure), n, says)
    return Padding(grid, (1, 0))


def _table(table: Table) -> RenderableType:
    """A table, cut to a few lines."""
    title = f"{table.title} ({SEARCHED})" if table.searched else table.title
    grid = Grid(box=None, show_edge=False, pad_edge=False, padding=(0, 1))
    for number, column in enumerate(table.columns):
        numeric = any(isinstance(row[number], int | float) for row in table.rows)
        grid.add_column(Text(visible(column)), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows[:MOST_LINES]:
        grid.add_row(*(Text(value_words(cell)) for cell in row))
    below = [] if len(table.rows) <= MOST_LINES else [Text(f"... {len(table.rows) - MOST_LINES} more in the report")]
    note = [Text(visible(table.note), style="dim")] if table.note else []
    return Padding(Group(Text(visible(title), style="bold"), *note, grid, *below), (0, 0, 1, 0))
