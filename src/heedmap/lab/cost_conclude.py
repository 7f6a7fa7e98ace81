"""What `cost` concludes: how times and memory grow with the length, beside what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.cost import AS_PREDICTED, CANNOT_TELL, OTHERWISE, CostSettings
from heedmap.lab.experiment import Chart, Figure, Finding, Table, Value
from heedmap.lab.over_heads import Numbers
from heedmap.lab.rows import Rows
from heedmap.reading.memory import bytes_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_LENGTHS = 3

OFF = 0.35
"""How far the measured power of the length may lie from the predicted one: caches and threads bend short lengths."""

_NAMES = (
    "first",
    "next",
    "cache",
    "peak",
    "attention_seconds",
    "predicted_attention",
    "predicted_rest",
    "predicted_cache",
)


class Costs:
    """The medians over repeats, one for each length."""

    def __init__(self, rows: Rows) -> None:
        self.length = np.unique(rows["length"])
        self.of: dict[str, Numbers] = {
            name: np.array([np.median(rows[name][rows["length"] == length]) for length in self.length])
            for name in _NAMES
        }
        self.crossing = float(rows["predicted_crossing"][0])
        self.repeats = len(rows) // len(self.length)

    def power(self, name: str) -> float | None:
        """With which power of the length something grows, over the longer half of the lengths."""
        values, length = self.of[name], self.length
        known = np.isfinite(values) & (values > 0)
        known[: len(length) // 2] = False
        if known.sum() < 2:
            return None
        return float(np.polyfit(np.log(length[known]), np.log(values[known]), 1)[0])

    @property
    def fit(self) -> tuple[float, float]:
        """Time to the first token as a x length + b x length squared, none below 0, each length weighing alike."""
        from scipy.optimize import nnls

        length, first = self.length.astype(float), self.of["first"]
        parts = np.stack([length / first, length**2 / first], 1)
        (linear, square), _ = nnls(parts, np.ones(len(length)))
        return float(linear), float(square)


def conclude(rows: Rows, settings: CostSettings) -> Finding:
    """The finding; see `Cost`."""
    del settings
    costs = Costs(rows)
    figures = _figures(costs)
    verdict = _verdict(costs, figures)
    return Finding(
        figures=figures,
        verdict=verdict,
        sentence=_sentence(verdict, figures),
        shows=_shows(costs, figures),
        does_not_show=[
            "Any other machine, dtype or number of threads: only arithmetic and cache are the model's own.",
            "Lengths beyond those that were measured; the fit is told for them, not shown.",
            "That attention takes the share of the time that it has of the arithmetic: kernels differ in how fast they "
            "are.",
        ],
        tables={"lengths": _table(costs)},
        charts={"growth": _chart(costs)},
    )


def _figures(costs: Costs) -> dict[str, Figure]:
    """Every length, the powers, the fit and the crossings."""
    figures: dict[str, Figure] = {}
    says = {
        "first": "seconds to the first token (median)",
        "next": "seconds for one further token (median)",
        "cache": "bytes of the cache, measured",
        "predicted_cache": "bytes of the cache, predicted",
        "peak": "bytes at the peak above what was there before (median)",
        "attention_seconds": "seconds of all layers' attention alone (median)",
        "predicted_attention": "operations between tokens, predicted",
        "predicted_rest": "all other operations, predicted",
    }
    for place, length in enumerate(costs.length):
        for name, what in says.items():
            figures[f"cost.length{length}.{name}"] = Figure(_value(costs.of[name][place]), n=costs.repeats, says=what)
    for name, what in (
        ("first", "time to the first token"),
        ("attention_seconds", "time of attention alone"),
        ("predicted_attention", "predicted attention work"),
        ("cache", "cache"),
    ):
        power = costs.power(name)
        figures[f"cost.power.{name}"] = Figure(power, says=f"power of the length with which the {what} grows")
        if name in ("attention_seconds", "predicted_attention") and power is not None:
            figures[f"cost.tenfold.{name}"] = Figure(10**power, says=f"{what} for ten times the tokens, in times")
    linear, square = costs.fit
    figures["cost.fit.linear"] = Figure(linear, says="fitted seconds a token that grow with the length")
    figures["cost.fit.square"] = Figure(square, says="fitted seconds that grow with its square")
    figures["cost.crossing.predicted"] = Figure(
        _value(costs.crossing), says="length from which attention is more arithmetic than all the rest"
    )
    figures["cost.crossing.fitted"] = Figure(
        linear / square if square > 0 else None, says="length from which what grows with the square takes more time"
    )
    reading, writing = costs.of["first"][-1] / costs.length[-1], costs.of["next"][-1]
    figures["cost.writing_to_reading"] = Figure(
        _value(writing / reading), says="how many times longer a token takes to write than to read, at the longest"
    )
    return figures


def _value(number: float) -> float | None:
    """A number; None where there is none."""
    return float(number) if np.isfinite(number) else None


def _verdict(costs: Costs, figures: dict[str, Figure]) -> str:
    """As predicted: the cache has the bytes predicted, and attention's time grows with the predicted power."""
    measured, predicted = (figures[f"cost.power.{name}"].value for name in ("attention_seconds", "predicted_attention"))
    if len(costs.length) < LEAST_LENGTHS or not isinstance(measured, float) or not isinstance(predicted, float):
        return CANNOT_TELL
    cache, expected = costs.of["cache"], costs.of["predicted_cache"]
    fits = np.isnan(cache) | (np.abs(cache - expected) <= 0.02 * np.maximum(expected, 1))
    return AS_PREDICTED if fits.all() and abs(measured - predicted) <= OFF else OTHERWISE


def _sentence(verdict: str, figures: dict[str, Figure]) -> str:
    """The verdict in plain words."""
    if verdict == CANNOT_TELL:
        return f"Fewer than {LEAST_LENGTHS} lengths do not show how anything grows (--lengths)."
    measured, predicted = (
        figures[f"cost.tenfold.{name}"].value for name in ("attention_seconds", "predicted_attention")
    )
    numbers = (
        f"ten times the tokens take attention {_short(measured)} times as long, and are {_short(predicted)} times its "
        "arithmetic"
    )
    if verdict == AS_PREDICTED:
        return f"As predicted: {numbers}; the cache has the bytes predicted."
    return f"Otherwise than predicted: {numbers}; or the cache has other bytes (see the table)."


def _shows(costs: Costs, figures: dict[str, Figure]) -> list[str]:
    """What was found."""
    longest = costs.length[-1]
    lines = [
        f"{longest:,} tokens: {_short(figures[f'cost.length{longest}.first'].value)} seconds to the first token, "
        f"{_short(figures[f'cost.length{longest}.next'].value)} for each further one.",
        f"A token takes {_short(figures['cost.writing_to_reading'].value)} times as long to write as to read.",
        f"Attention is more arithmetic than the rest from {_short(figures['cost.crossing.predicted'].value)} tokens; "
        f"by the fitted times from {_short(figures['cost.crossing.fitted'].value)}.",
    ]
    peak = costs.of["peak"][-1]
    if np.isfinite(peak):
        lines.append(f"At the peak {bytes_text(max(peak, 0))} more memory was in use than before.")
    return lines


def _short(value: Value) -> str:
    """A number in a sentence."""
    if not isinstance(value, float):
        return "no number"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(costs: Costs) -> Table:
    """A line a length."""
    lines: list[list[Value]] = [
        [int(length), *(_value(costs.of[name][place]) for name in _NAMES)] for place, length in enumerate(costs.length)
    ]
    return Table(
        title="What each length costs",
        columns=[
            "tokens",
            "first (s)",
            "next (s)",
            "cache (bytes)",
            "peak (bytes)",
            "attention (s)",
            "attention (operations)",
            "rest (operations)",
            "predicted cache",
        ],
        rows=lines,
        note=f"Medians over {costs.repeats} runs on this machine; operations and predicted cache are the model's own.",
    )


def _chart(costs: Costs) -> Chart:
    """Times over the length, both on logarithmic scales."""

    def draw(axes: Axes) -> None:
        from heedmap.drawing.palette import BLUE_LINE, QUIET

        linear, square = costs.fit
        length = costs.length.astype(float)
        axes.plot(length, costs.of["first"], "o", color=BLUE_LINE, label="first token")
        axes.plot(length, linear * length + square * length**2, "-", color=BLUE_LINE, linewidth=1, label="fit")
        axes.plot(
            length, costs.of["attention_seconds"], "D", color=BLUE_LINE, fillstyle="none", label="attention alone"
        )
        axes.plot(length, costs.of["next"], "s", color=QUIET, label="each further token")
        axes.set(xlabel="tokens", ylabel="seconds", xscale="log", yscale="log")
        axes.legend(frameon=False, fontsize="small")

    return Chart(
        "Time over the length of the prompt",
        draw,
        "Seconds to the first token with a fitted curve, of attention alone, and for each further token, over the "
        "length; both scales are logarithmic.",
    )
