"""What an experiment is: items → rows → conclusion, and what it concludes: figures, tables, charts and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from heedmap.lab.data import BadRows, Contrast, Pair, Question, Sentence, contrasts, pairs, questions, sentences, units
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.reading.model import Model

Value = float | int | bool | str | None
"""What one figure or one cell of a table can hold; None for what there is none of."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a report, under a name that claims and expectations use.

    Attributes:
        value: the number, or a word; None where it cannot be told.
        interval: its 95 percent interval, lowest and highest.
        n: how many independent units (sentences, pairs) it rests on.
        says: what the number is, in words, with its unit: "median over positions and sentences (share of the row)".
        searched: whether it was chosen by searching (the best of many heads): said wherever it is shown.
    """

    value: Value
    interval: tuple[float, float] | None = None
    n: int | None = None
    says: str = ""
    searched: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report.

    Attributes:
        title: what it shows.
        columns: the names over the columns.
        rows: the cells, a list a line; numbers stay numbers, and are rounded where they are shown.
        note: what a reader must know to read it.
        searched: whether its lines were chosen by searching.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    note: str = ""
    searched: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a report.

    Attributes:
        title: what it shows; drawn over it.
        draw: draws on the axes it is given, from rows and figures.
        says: the chart in words, for those who cannot see it.
        searched: whether what it shows was chosen by searching.
        size: width and height in inches.
    """

    title: str
    draw: Callable[[Axes], None]
    says: str
    searched: bool = False
    size: tuple[float, float] = (7.0, 3.6)


@dataclass(frozen=True)
class Finding:
    """What an experiment found.

    Attributes:
        figures: every number, by its documented name: "sink.median", "sink.layer16.median" ...
        verdict: one word or phrase for machines: "causal", "not causal", "cannot tell" ...
        sentence: the verdict in plain words.
        shows: what was found, a sentence each.
        does_not_show: what was not found, or cannot follow from this, a sentence each.
        tables: for report and terminal, by a name that is good for a file.
        charts: the same.
    """

    figures: dict[str, Figure]
    verdict: str
    sentence: str
    shows: list[str]
    does_not_show: list[str]
    tables: dict[str, Table] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to measure: it gives one row.

    Attributes:
        id: unique in the run and the same in every run: rows are found again, sorted and merged by it.
        length: about how many characters or tokens: items of like length run together.
        content: what `measure` needs: a `Sentence`, a `Pair`, or any value that `dataclasses.asdict` and JSON can
            hold; the data's hash is taken over it.
    """

    id: str
    length: int
    content: Any


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where the items come from.

    Attributes:
        path: the file given with `--data`; None for what is built in.
        form: its format, one of `heedmap.lab.data.FORMATS`; None finds it by the content.
        skipped: collects bad rows (`--skip-bad`); None ends the run at the first.

    Example:
        >>> DataSource().path is None
        True
    """

    path: Path | None = None
    form: str | None = None
    skipped: BadRows | None = None

    def sentences(self) -> Iterator[Sentence]:
        """Its sentences; errors as in `heedmap.lab.data.sentences`."""
        return sentences(self.path, form=self.form, skipped=self.skipped)

    def pairs(self) -> Iterator[Pair]:
        """Its pairs, in the same way."""
        return pairs(self.path, form=self.form, skipped=self.skipped)

    def units(self) -> Iterator[Pair | Question]:
        """Its pairs, and the questions without a twin, in the same way."""
        return units(self.path, form=self.form, skipped=self.skipped)

    def questions(self) -> Iterator[Question]:
        """Its questions, in the same way."""
        return questions(self.path, form=self.form, skipped=self.skipped)

    def contrasts(self) -> Iterator[Contrast]:
        """Its texts that part somewhere, in the same way."""
        return contrasts(self.path, form=self.form, skipped=self.skipped)


class Experiment(Protocol):
    """What the lab runs.

    Attributes:
        name: as in `heedmap lab NAME`, and the first part of its figures' names.
        verdicts: every verdict that it can reach.
        figures: the name of every figure that it can give, after its own name and a point; `*` for a layer's number
            and whatever else only a run tells (see `heedmap.lab.figure_names`).
        Settings: its settings, a frozen dataclass under `heedmap.lab.settings.Settings`; they become options.
    """

    name: ClassVar[str]
    verdicts: ClassVar[tuple[str, ...]]
    figures: ClassVar[tuple[str, ...]]
    Settings: ClassVar[type[Settings]]

    def items(self, settings: Any, data: DataSource) -> Sequence[Item]:
        """What is to be measured, the same in every run with these settings and data."""
        ...

    def measure(self, model: Model, items: Sequence[Item], settings: Any) -> Iterator[Row]:
        """Run the model on a batch of items of like length, and give one row an item, in their order.

        The only part that runs the model. A row must not depend on anything but its item, but for rounding.
        """
        ...

    def conclude(self, rows: Rows, settings: Any) -> Finding:
        """Compute the finding from the rows, sorted by item id; NumPy and SciPy alone, every random draw seeded.

        What it must know of the model stands in the rows.
        """
        ...
