"""A statistic over the position in the text, as a matplotlib figure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame
from heedmap.drawing.figure_text import write_title
from heedmap.drawing.palette import BLUE_LINE, PALE, QUIET
from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_table import Statistics

WIDTH, HEIGHT = 6.0, 3.0
MOST_DOTS = 4096


def plot_curve(
    statistics: Statistics, column: str, layer: int | None = None, head: int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw a statistic over the position of the token that looks, from the second token on.

    Each position is a dot, and the line is the median over a running eighth of its position, so that it is smooth
    where there are many. Positions are drawn on a logarithmic scale, since shares fall with one over position.

    Args:
        statistics: with the values at each position.
        column: which statistic.
        layer: from 0; None is the mean over layers.
        head: from 0; None is the mean over heads.
        ax: where to draw; a new figure by default.

    Returns:
        The axes; `.figure` is what `save_figure` takes.

    Raises:
        ReadingError: the values at each position were not asked for.
        OutOfRange: there is no such column, layer or head.
    """
    curve = statistics.curve(column, layer, head)
    says, title, _, unit, _ = COLUMNS[column]
    positions = np.arange(1, len(curve))
    values = curve[1:]
    axes = ax if ax is not None else new_axes(WIDTH, HEIGHT)
    quiet_frame(axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xscale("log", base=2)
    step = max(len(values) // MOST_DOTS, 1)
    axes.plot(positions[::step], values[::step], ".", color=PALE, markersize=2.5, zorder=1)
    middles, medians = _running_median(positions, values)
    axes.plot(middles, medians, color=BLUE_LINE, linewidth=1.4, zorder=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("position of the token that looks", color=QUIET, fontsize=9)
    of_what = "share of the row" if unit == "share" else unit
    axes.set_ylabel(f"{title[0].lower()}{title[1:]} ({of_what})", color=QUIET, fontsize=9)
    place = ", ".join(f"{name} {n}" for name, n in (("layer", layer), ("head", head)) if n is not None)
    over = f"{place}: " if head is not None else f"mean over {'the heads of ' + place if place else 'all heads'}: "
    write_title(axes, over + says, [f"{statistics.model['name']}, {len(curve):,} tokens"], claims_room=ax is None)
    if ax is None:
        fit_paper(axes)
    return axes


def _running_median(positions: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Medians over ranges of positions that are an eighth of an octave wide, at the ranges' geometric middles."""
    group = np.floor(8 * np.log2(positions)).astype(int) if len(positions) else positions
    middles, medians = [], []
    for one in np.unique(group):
        inside = (group == one) & ~np.isnan(values)
        if inside.any():
            middles.append(float(np.exp(np.log(positions[inside]).mean())))
            medians.append(float(np.median(values[inside])))
    return np.array(middles), np.array(medians)
