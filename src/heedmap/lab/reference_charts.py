"""The charts of `reference`: what the change does to every pair, and the accuracy of every way to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Chart, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.lab.reference_conclude import Variant


def charts(variants: Sequence[Variant], ways: dict[str, str], figures: dict[str, Figure]) -> dict[str, Chart]:
    """All charts of `reference`."""
    found = {
        "accuracy": Chart(
            "How often the right noun is ahead",
            lambda axes: _draw_accuracy(axes, variants, ways, float(figures["reference.always_one_noun"].value or 0)),
            "A dot for each way to ask, noun order and wording, with its 95 percent interval; a line at what always "
            "saying the same noun scores.",
            size=(7.0, 1.2 + 0.34 * len(variants)),
        )
    }
    main = [one for one in variants if one.is_main and len(one.summary.differences)]
    if main:
        found["differences"] = Chart(
            "What the change of words does to the odds, pair by pair",
            lambda axes: _draw_differences(axes, main, ways),
            "For each way to ask a curve of all pairs, sorted: above 0 the change moved the log-odds the right way.",
        )
    return found


def _draw_accuracy(axes: Axes, variants: Sequence[Variant], ways: dict[str, str], always: float) -> None:
    """A line a variant, from above."""
    from heedmap.drawing.palette import BLUE_LINE, QUIET

    for line, one in enumerate(variants):
        share = one.summary.accuracy
        value = share.value or 0.0
        low, high = share.interval or (value, value)
        axes.plot([low, high], [-line, -line], color=BLUE_LINE, linewidth=2 if one.is_main else 1)
        axes.plot([value], [-line], "o", color=BLUE_LINE, markersize=6 if one.is_main else 4)
    axes.axvline(always, linestyle="--", linewidth=1, color=QUIET)
    axes.annotate("always one noun", (always, 0.6), (3, 0), textcoords="offset points", fontsize=8, color=QUIET)
    axes.set_yticks([-line for line in range(len(variants))], [f"{ways[one.way]}, {one.name}" for one in variants])
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(-len(variants) + 0.4, 1.2)
    axes.set_xlabel("share of texts", color=QUIET, fontsize=9)


def _draw_differences(axes: Axes, main: Sequence[Variant], ways: dict[str, str]) -> None:
    """A curve a way."""
    from heedmap.drawing.palette import BLUE_LINE, ORANGE, QUIET, SAND_TEXT

    for one, colour in zip(main, (BLUE_LINE, ORANGE, SAND_TEXT), strict=False):
        values = np.sort(one.summary.differences)[::-1]
        axes.plot(np.linspace(0, 1, len(values)), values, ".-", color=colour, markersize=4, linewidth=1)
        axes.annotate(ways[one.way], (1, values[-1]), (4, 0), textcoords="offset points", fontsize=8, color=colour)
    axes.axhline(0, linewidth=1, color=QUIET)
    axes.set_xlim(0, 1.35)
    axes.set_xlabel("share of pairs", color=QUIET, fontsize=9)
    axes.set_ylabel("difference of log-odds", color=QUIET, fontsize=9)
