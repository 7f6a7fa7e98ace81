"""The charts of `sink`: by layer, over position, and every head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from heedmap.lab.experiment import Chart, Figure
from heedmap.reading.statistics_summary import mean, median

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.lab.rows import Rows
    from heedmap.lab.sink_shares import Shares


def charts(rows: Rows, shares: Shares, figures: dict[str, Figure]) -> dict[str, Chart]:
    """All charts of `sink`."""
    return {
        "layers": Chart(
            "The share on the first token, by layer",
            lambda axes: _draw_layers(axes, shares, figures),
            "Median share on the first token in each layer, with the quartiles as bars and the even look as a line.",
        ),
        "curve": Chart(
            "The share on the first token, over position",
            lambda axes: _draw_curve(axes, shares),
            "Mean share on the first token at each position, over layers and sentences, beside that of an even look.",
        ),
        "heads": Chart(
            "The share on the first token, every head",
            lambda axes: _draw_heads(axes, rows, shares),
            "A grid of layers and heads; the darker a cell, the larger the head's median share on the first token.",
            size=(6.0, 6.0),
        ),
    }


def _draw_layers(axes: Axes, shares: Shares, figures: dict[str, Figure]) -> None:
    """Medians as dots, quartiles as bars."""
    from heedmap.drawing.palette import BLUE_LINE, PALE, QUIET

    low, middle, high = (
        np.array([figures[f"sink.layer{layer}.{name}"].value for layer in shares.layers], dtype=float)
        for name in ("lower_quartile", "median", "upper_quartile")
    )
    axes.vlines(shares.layers, low, high, color=PALE, linewidth=3)
    axes.plot(shares.layers, middle, "o", color=BLUE_LINE, markersize=4)
    even = median(shares.even)
    axes.plot(shares.layers, even, linestyle="--", linewidth=1, color=QUIET)
    _note(axes, "an even look", (float(shares.layers[-1]), float(even[-1])), "right")
    _label(axes, "layer", "share of the row")
    axes.set_ylim(0, 1)


def _draw_curve(axes: Axes, shares: Shares) -> None:
    """The mean at each position, as dots and on a logarithmic scale."""
    from heedmap.drawing.palette import BLUE_LINE, QUIET

    over, even = mean(shares.share.T), mean(shares.even.T)
    places = np.unique(shares.position)
    if not len(places):
        return  # every sentence is one token, which looks at itself alone
    at = [shares.position == place for place in places]
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.plot(places, [mean(over[here]) for here in at], ".-", color=BLUE_LINE, markersize=4, linewidth=1)
    axes.plot(places, [mean(even[here]) for here in at], linestyle="--", linewidth=1, color=QUIET)
    _note(axes, "an even look", (float(places[0]), float(mean(even[at[0]]))), "left")
    _label(axes, "position of the token that looks", "share of the row")
    axes.set_ylim(0, 1)


def _draw_heads(axes: Axes, rows: Rows, shares: Shares) -> None:
    """A grid of layers and heads."""
    from heedmap.drawing.palette import BLUE, shade

    medians = np.nan_to_num(median(np.moveaxis(rows["head_median"], 0, -1)))
    axes.imshow(shade(medians, BLUE), aspect="auto", origin="lower", interpolation="nearest")
    step = max(len(shares.layers) // 10, 1)
    axes.set_yticks(range(0, len(shares.layers), step), [str(layer) for layer in shares.layers[::step]])
    axes.set_xticks(range(0, medians.shape[1], max(medians.shape[1] // 12, 1)))
    _label(axes, "head (0 is white, 1 is dark blue)", "layer")


def _note(axes: Axes, text: str, at: tuple[float, float], side: Literal["left", "right"]) -> None:
    """A few words at a line."""
    from heedmap.drawing.palette import QUIET

    axes.annotate(text, at, (0, 4), textcoords="offset points", ha=side, fontsize=8, color=QUIET)


def _label(axes: Axes, across: str, up: str) -> None:
    """Name both axes."""
    from heedmap.drawing.palette import QUIET

    axes.set_xlabel(across, color=QUIET, fontsize=9)
    axes.set_ylabel(up, color=QUIET, fontsize=9)
