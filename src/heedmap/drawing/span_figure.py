"""The parts of a prompt against layers, or against places, as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from numpy.typing import NDArray

from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame, size_of
from heedmap.drawing.figure_text import token_labels, write_title
from heedmap.drawing.palette import BLUE, INK, PAPER, QUIET, RULE, SAND, SAND_TEXT, shade
from heedmap.drawing.permuted import permuted_headline
from heedmap.drawing.spans import headline
from heedmap.reading.permute import PermutedSpans
from heedmap.reading.spans import SpanShares
from heedmap.text.spans import SET_APART

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL_WIDTH, CELL_HEIGHT = 0.46, 0.2
"""Inches of a cell with its number."""

NARROW_CELL, MOST_NUMBERED = 0.16, 24
"""Inches of a cell without a number, and up to how many parts cells carry one."""

NUMBER_POINTS = 6.5
NOTE_LETTERS = 72
"""How long a line under the title may be."""

DARK = 0.55
"""From this place on a scale on, numbers are written in paper instead of ink."""


def plot_span_layers(shares: SpanShares, *, head: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw what each part gets in each layer: how many times an ordinary share, so that long parts do not win.

    Columns are the parts in their order, blue from 0 to the largest; the first token's column is sand, from 0 to all
    of the row. A part that cannot be looked at in a layer is bare paper.

    Args:
        shares: the shares.
        head: from 0; None is the mean over heads.
        ax: where to draw; a new figure of a fitting size by default.

    Returns:
        The axes; `.figure` is what `save_figure` takes.
    """
    parts = shares.parts.parts
    tables = [shares.table(one.layer, head)[: len(parts)] for one in shares.layers]
    values = np.array(
        [[_value(one.share if one.kind in SET_APART else one.times) for one in table] for table in tables]
    )
    first = [number for number, part in enumerate(parts) if part.kind in SET_APART]
    axes = _cells(values, first, ax)
    token_labels(axes, "y", [str(one.layer) for one in shares.layers], colours={})
    token_labels(axes, "x", [part.name for part in parts], colours=dict.fromkeys(first, SAND_TEXT), turn=60)
    axes.xaxis.tick_top()
    axes.set_ylabel("layer", color=QUIET, fontsize=9.5)
    title = f"where {shares.model['name']} looks from {shares.asking.name}"
    write_title(axes, title, list(_notes(shares, head, ~np.isnan(values))), claims_room=ax is None)
    if ax is None:
        fit_paper(axes)
    return axes


def plot_span_places(permuted: PermutedSpans, *, ax: Axes | None = None) -> Axes:
    """Draw what each document gets in each place: how many times an ordinary share; never taken places are blank.

    Args:
        permuted: the shares in several orders.
        ax: where to draw; a new figure of a fitting size by default.

    Returns:
        The axes; `.figure` is what `save_figure` takes.
    """
    axes = _cells(permuted.in_place(permuted.times), [], ax)
    token_labels(axes, "y", permuted.names, colours={})
    token_labels(axes, "x", [f"place {place + 1}" for place in range(len(permuted.names))], colours={}, turn=60)
    axes.xaxis.tick_top()
    notes = [*wrap(permuted_headline(permuted), NOTE_LETTERS), "rows: the parts; columns: the places they stood in"]
    title = f"how much is place: {permuted.own.model['name']}, from {permuted.own.asking.name}"
    write_title(axes, title, notes, claims_room=ax is None)
    if ax is None:
        fit_paper(axes)
    return axes


def _cells(values: NDArray[np.float64], sand: list[int], ax: Axes | None) -> Axes:
    """Cells with their numbers and the scale: blue from 0 to the largest, sand columns from 0 to 1, NaN blank."""
    rows, columns = values.shape
    numbered = columns <= MOST_NUMBERED
    width = columns * (CELL_WIDTH if numbered else NARROW_CELL)
    axes = ax if ax is not None else new_axes(width, rows * CELL_HEIGHT)
    most = max(float(np.nanmax(np.delete(values, sand, axis=1), initial=0.0)), 1.0)
    places = values / most
    places[:, sand] = values[:, sand]
    quiet_frame(axes)
    axes.spines[:].set_visible(False)
    colours = shade(np.nan_to_num(places), BLUE)
    colours[:, sand] = shade(np.nan_to_num(places[:, sand]), SAND)
    colours = np.concatenate([colours, ~np.isnan(values)[..., np.newaxis]], -1)
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    axes.pcolormesh(*edges, colours, edgecolors=PAPER, linewidth=0.8)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    if numbered:
        _numbers(axes, values, places)
    _colour_bar(axes, most)
    return axes


def _value(number: float | None) -> float:
    """The number of a cell; NaN where there is none to draw."""
    return np.nan if number is None else number


def _numbers(axes: Axes, values: NDArray[np.float64], places: NDArray[np.float64]) -> None:
    """Each cell's number, readable on its colour."""
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        colour = PAPER if places[row, column] > DARK else INK
        text = axes.text(column, row, f"{value:.2f}", color=colour, fontsize=NUMBER_POINTS)
        text.set(horizontalalignment="center", verticalalignment="center")


def _colour_bar(axes: Axes, most: float) -> None:
    """The blue scale under the cells at the left."""
    width, height = size_of(axes)
    long, thick, gap = max(1.4, min(2.6, 0.5 * width)), 0.11, 0.18
    bar = axes.inset_axes((0.0, -(gap + thick) / height, long / width, thick / height))
    scale = ScalarMappable(Normalize(0.0, most), LinearSegmentedColormap.from_list("heedmap-blue", BLUE))
    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = figure.colorbar(
        scale, cax=bar, orientation="horizontal", ticks=[0.0, 1.0, most] if most > 2 else [0.0, 1.0]
    )
    drawn.outline.set_visible(False)
    drawn.ax.tick_params(length=2, width=0.6, color=RULE, labelsize=8, labelcolor=QUIET)
    drawn.ax.xaxis.set_major_formatter("{x:.2g}")
    drawn.set_label("times an ordinary share", color=QUIET, fontsize=8.5)


def _notes(shares: SpanShares, head: int | None, drawn: NDArray[np.bool_]) -> Iterator[str]:
    """What must be known to read the figure."""
    yield from wrap(headline(shares, head=head), NOTE_LETTERS)
    yield f"{'mean over heads' if head is None else f'head {head}'}; 1: an equal look at all other tokens"
    yield "sand: the share of the first token and of special tokens, of 1"
    yield "where it looks, not what it takes from there"
    if not drawn.all():
        yield "blank: cannot be looked at, or nothing is left to divide"
    broken = shares.not_a_number()
    if broken:
        yield f"not a number (nan) in layers {', '.join(map(str, broken))}"
