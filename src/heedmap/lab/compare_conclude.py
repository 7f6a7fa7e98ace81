"""What `compare` concludes: which heads differ in which statistics, corrected for how many were looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.compare import CANNOT_TELL, DIFFER, NO_DIFFERENCE, CompareSettings
from heedmap.lab.experiment import Chart, Figure, Finding, Table, Value
from heedmap.lab.max_t import max_t, studentised
from heedmap.lab.over_heads import Numbers, head_name
from heedmap.lab.rounding import beyond_rounding
from heedmap.lab.rows import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05
LEAST_UNITS = 6
"""Units below which nothing is decided: five signs that agree have a chance of 1 in 16, either way."""

SHOWN = 20
"""Lines of the table."""


class Cells:
    """The rows as tests: one for each statistic of each head.

    Attributes:
        a: [unit, test].
        b: [unit, test].
        statistic: [test], its name.
        layer: [test].
        head: [test].
        p: [test], corrected for all tests.
        unit: what a unit is.
        before: the largest difference before the texts part.
    """

    def __init__(self, rows: Rows, settings: CompareSettings) -> None:
        names = list(settings.statistics)
        sides = [np.concatenate(rows.arrays(side)) for side in ("a", "b")]
        layer, head = rows.arrays("layer")[0], rows.arrays("head")[0]
        flat = [side.reshape(len(side), -1) for side in sides]
        known = np.isfinite(flat[0]).all(0) & np.isfinite(flat[1]).all(0)
        self.a, self.b = flat[0][:, known], flat[1][:, known]
        self.statistic = np.repeat(names, len(layer))[known]
        self.layer, self.head = np.tile(layer, len(names))[known], np.tile(head, len(names))[known]
        self.differences: Numbers = beyond_rounding(self.b - self.a, np.abs(self.a))
        self.enough = len(self.a) >= LEAST_UNITS and self.a.shape[1] > 0
        self.p = (
            max_t(self.differences, seed=settings.seed, draws=settings.draws)
            if self.enough
            else np.ones(self.a.shape[1])
        )
        self.unit = "sentence" if settings.of_models or settings.first is not None else "pair of texts"
        self.before = float(np.max(rows["before"]))

    @property
    def found(self) -> np.ndarray:
        """The places of the tests that differ, the surest first."""
        size = np.abs(studentised(self.differences)) if len(self.a) > 1 else np.zeros(self.a.shape[1])
        return np.lexsort((-size, self.p))[: int((self.p <= LEVEL).sum())]

    def name(self, place: int) -> str:
        """A test in words."""
        return f"{self.statistic[place]} of {head_name(int(self.layer[place]), int(self.head[place]))}"


def conclude(rows: Rows, settings: CompareSettings) -> Finding:
    """The finding; see `Compare`."""
    cells = Cells(rows, settings)
    figures = _figures(cells, settings)
    found = cells.found
    verdict = CANNOT_TELL if not cells.enough else DIFFER if len(found) else NO_DIFFERENCE
    return Finding(
        figures=figures,
        verdict=verdict,
        sentence=_sentence(verdict, cells, figures),
        shows=_shows(cells, figures, settings),
        does_not_show=_does_not_show(cells, settings),
        tables={"differences": _table(cells, settings)},
        charts={"heads": _chart(cells)},
    )


def _figures(cells: Cells, settings: CompareSettings) -> dict[str, Figure]:
    """How many tests differ, the surest of them, and the mean of each statistic over all heads."""
    units, tests, found = len(cells.a), cells.a.shape[1], cells.found
    figures = {
        "compare.units": Figure(units, says=f"how often both were measured (unit: {cells.unit})"),
        "compare.tests": Figure(tests, says="heads times statistics that were looked at"),
        "compare.differing": Figure(
            len(found), n=units, says="of these, how many differ (p at most 0.05, corrected for all)"
        ),
        "compare.p": Figure(float(cells.p.min()), n=units, says="smallest corrected p", searched=True),
        "compare.before": Figure(cells.before, says="largest difference before the texts part; 0 in a causal model"),
        "compare.control": Figure(
            _control(cells, settings), n=units, says="how many differ where the two are exchanged at random"
        ),
    }
    if len(found):
        best = int(found[0])
        own = cells.differences[:, best]
        ends = mean_interval(own, seed=settings.seed, draws=settings.draws)
        figures["compare.surest"] = Figure(cells.name(best), n=units, says="the surest difference", searched=True)
        figures["compare.surest_difference"] = Figure(
            float(own.mean()), ends, units, "second less first, mean over units", searched=True
        )
    for name in settings.statistics:
        chosen = cells.statistic == name
        if chosen.any():
            mean = cells.differences[:, chosen].mean(1)
            ends = mean_interval(mean, seed=settings.seed, draws=settings.draws)
            says = f"{name}, mean over all heads: second less first"
            figures[f"compare.{name}.difference"] = Figure(float(mean.mean()), ends, units, says)
            count = int((cells.p[chosen] <= LEVEL).sum())
            figures[f"compare.{name}.differing"] = Figure(count, n=units, says=f"heads whose {name} differs")
    return figures


def _control(cells: Cells, settings: CompareSettings) -> int | None:
    """How many tests differ after one random exchange: more than none in 5 of 100 runs."""
    if not cells.enough:
        return None
    signs = np.random.default_rng(settings.seed + 1).choice([-1.0, 1.0], len(cells.a))
    p = max_t(cells.differences * signs[:, None], seed=settings.seed + 2, draws=settings.draws)
    return int((p <= LEVEL).sum())


def _sentence(verdict: str, cells: Cells, figures: dict[str, Figure]) -> str:
    """The verdict in plain words."""
    if verdict == CANNOT_TELL:
        return f"{len(cells.a)} times {cells.unit} are too few to tell: take {LEAST_UNITS} or more."
    tests = cells.a.shape[1]
    if verdict == NO_DIFFERENCE:
        return (
            f"No difference was found beyond the spread over {len(cells.a)} units ({cells.unit}) in {tests} heads "
            "times statistics."
        )
    return (
        f"{figures['compare.differing'].value} of {tests} heads times statistics differ beyond the spread over "
        f"{len(cells.a)} units ({cells.unit}); the surest is {figures['compare.surest'].value}."
    )


def _shows(cells: Cells, figures: dict[str, Figure], settings: CompareSettings) -> list[str]:
    """What was found."""
    lines = []
    for name in settings.statistics:
        figure = figures.get(f"compare.{name}.difference")
        if figure is not None and isinstance(figure.value, float):
            ends = "" if figure.interval is None else f" ({figure.interval[0]:.4f} to {figure.interval[1]:.4f})"
            count = figures[f"compare.{name}.differing"].value
            lines.append(f"{name}: second less first {figure.value:+.4f}{ends} over all heads; {count} heads differ.")
    lines.append(f"Where the two are exchanged at random, {figures['compare.control'].value} differ.")
    return lines


def _does_not_show(cells: Cells, settings: CompareSettings) -> list[str]:
    """What does not follow."""
    lines = [
        "That heads which were not found are the same: with few units only large differences are.",
        "What the differences do to the answer: `heedmap lab matters` removes heads.",
    ]
    if settings.of_models:
        lines.append("Whether heads of the same number do the same work in two models that were trained apart.")
    else:
        lines.append("Tokens that only one of the texts has: means are over the tokens that both have.")
    return lines


def _table(cells: Cells, settings: CompareSettings) -> Table:
    """The surest differences, or the largest where none is sure."""
    size = np.abs(studentised(cells.differences)) if len(cells.a) > 1 else np.zeros(cells.a.shape[1])
    lines: list[list[Value]] = []
    for place in np.lexsort((-size, cells.p))[:SHOWN]:
        own = cells.differences[:, place]
        low, high = mean_interval(own, seed=settings.seed, draws=settings.draws) or (None, None)
        means = float(cells.a[:, place].mean()), float(cells.b[:, place].mean())
        where: list[Value] = [str(cells.statistic[place]), int(cells.layer[place]), int(cells.head[place])]
        lines.append([*where, *means, float(own.mean()), low, high, float(cells.p[place])])
    return Table(
        title="The surest differences",
        columns=["statistic", "layer", "head", "first", "second", "difference", "from", "to", "p"],
        rows=lines,
        note=f"p is corrected for all {cells.a.shape[1]} heads times statistics; intervals are not.",
        searched=True,
    )


def _chart(cells: Cells) -> Chart:
    """How many standard errors each head differs by, over the layers."""
    t = studentised(cells.differences) if len(cells.a) > 1 else np.zeros(cells.a.shape[1])

    def draw(axes: Axes) -> None:
        from heedmap.drawing.palette import BLUE_LINE, PALE, QUIET

        sure = cells.p <= LEVEL
        axes.axhline(0, color=QUIET, linewidth=1)
        axes.plot(cells.layer[~sure], t[~sure], "o", color=PALE, markersize=3)
        axes.plot(cells.layer[sure], t[sure], "o", color=BLUE_LINE, markersize=4)
        axes.set(xlabel="layer", ylabel="difference / standard error")

    says = (
        f"Each head's difference in each statistic by its standard error, over the layers; the {len(cells.found)} that "
        "differ beyond chance are dark."
    )
    return Chart("Where the two differ", draw, says)
