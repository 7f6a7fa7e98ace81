"""One row of attention as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame
from heedmap.drawing.figure_text import token_labels, write_title
from heedmap.drawing.fonts import lettering
from heedmap.drawing.labels import shorten, visible
from heedmap.drawing.palette import BLUE_BAR, ORANGE, PALE, QUIET, SAND_BAR, SAND_TEXT, TINT
from heedmap.drawing.row_notes import total, unseen
from heedmap.drawing.shapes import Flags, RowPicture

LOW, HIGH = 2.6, 3.2
"""Inches: the height where bars carry their number, and where the largest carry their token as well."""

BAR_PITCH = 0.46
"""Inches from one bar to the next where each token has a label; more tokens share `LONGEST` inches."""

SHORTEST, LONGEST = 3.0, 12.0
NUMBERED = 30
"""Up to so many bars carry their number; of more only the largest few do, with their token."""

LARGEST = 5
NAMED = 64
HEADROOM, NAMED_HEADROOM = 1.1, 1.55
"""The height of the axes as a multiple of the longest bar, to leave room for what stands over it."""

LONGEST_NAME = 12
SINK = "sink"


def plot_row(row: RowPicture, *, ax: Axes | None = None) -> Axes:
    """Draw where one word looks: a bar a key token, in the order of the text.

    Bars are blue, that of the first token sand; the asking word stands on a shaded column, tokens that it cannot see
    are pale and have no bar. A learned sink is a hatched bar of its own after the text. Of more than 64 tokens every
    n-th is named, with its position, and the largest five carry their name.

    Args:
        row: the weights and their labels.
        ax: where to draw; a new figure of a fitting size by default.

    Returns:
        The axes; `.figure` is what `save_figure` takes.

    Example:
        >>> row = RowPicture(
        ...     title="where “sat” looks", labels=["The", "cat", "sat"], query=frozenset({2}),
        ...     weights=np.array([0.125, 0.5, 0.375]), allowed=np.ones(3, dtype=bool), special=np.zeros(3, dtype=bool),
        ... )
        >>> [round(float(bar.get_height()), 3) for bar in plot_row(row).containers[0]]
        [0.125, 0.5, 0.375]
    """
    tokens = len(row.labels)
    slots = tokens + (2 if row.missing else 0)
    numbered = tokens <= NUMBERED
    width, height = min(LONGEST, max(SHORTEST, slots * BAR_PITCH)), LOW if numbered else HIGH
    axes = ax if ax is not None else new_axes(width, height)
    quiet_frame(axes)
    axes.spines[["left", "top", "right"]].set_visible(False)
    known = row.allowed & ~np.isnan(row.weights)
    axes.set_xlim(-0.6, slots - 0.4)
    axes.set_ylim(0.0, (HEADROOM if numbered else NAMED_HEADROOM) * max([*row.weights[known], row.missing, 1e-3]))
    _bars(axes, row, known)
    _numbers(axes, row, known)
    _names(axes, row)
    axes.set_ylabel("attention weight\n(share of the row)", color=QUIET, fontsize=9)
    write_title(axes, row.title, list(_notes(row)), claims_room=ax is None)
    if ax is None:
        fit_paper(axes)
    return axes


def _bars(axes: Axes, row: RowPicture, known: Flags) -> None:
    """The bars; a cross on the ground line stands for what is not a number."""
    for place in row.query:
        axes.axvspan(place - 0.5, place + 0.5, color=TINT, linewidth=0, zorder=0)
    colours = [SAND_BAR if place == row.first else BLUE_BAR for place in range(len(row.labels))]
    heights = np.where(known, row.weights, 0.0)
    axes.bar(range(len(row.labels)), heights, width=0.78 if len(row.labels) <= NAMED else 1.0, color=colours)
    broken = np.flatnonzero(row.allowed & ~known)
    if len(broken):
        axes.plot(broken, np.zeros(len(broken)), linestyle="none", marker="x", color=ORANGE, clip_on=False)
    if row.missing:
        axes.bar(len(row.labels) + 1, row.missing, width=0.78, color="none", edgecolor=QUIET, hatch="////")
    axes.locator_params(axis="y", nbins=4)


def _numbers(axes: Axes, row: RowPicture, known: Flags) -> None:
    """The weights over the bars, of a long row the largest with their tokens."""
    places = np.flatnonzero(known)
    if len(row.labels) <= NUMBERED:
        names = {int(place): f"{row.weights[place]:.3f}" for place in places}
        turn = 0
    else:
        largest = places[np.argsort(-row.weights[places], kind="stable")][:LARGEST]
        names = {int(place): f"{row.weights[place]:.3f} {_short(row.labels[place])}" for place in largest}
        turn = 60
    letters = lettering(names.values())
    for place, name in names.items():
        text = axes.annotate(letters.text(name), (place, row.weights[place]), xytext=(0, 2), textcoords="offset points")
        text.set(**letters.style(name), fontsize=8, color=QUIET, rotation=turn, rotation_mode="anchor")
        text.set_horizontalalignment("left" if turn else "center")


def _names(axes: Axes, row: RowPicture) -> None:
    """The tokens under the bars."""
    colours = {int(place): QUIET for place in np.flatnonzero(row.special)}
    if row.first is not None:
        colours[row.first] = SAND_TEXT
    colours.update({int(place): PALE for place in np.flatnonzero(~row.allowed)})
    token_labels(axes, "x", row.labels, bold=row.query, colours=colours, turn=60)
    if row.missing:
        axes.annotate(
            SINK, (len(row.labels) + 1, 0), xytext=(0, -4), textcoords="offset points",
            color=QUIET, fontsize=9, horizontalalignment="center", verticalalignment="top",
        )  # fmt: skip


def _notes(row: RowPicture) -> Iterator[str]:
    """What must be known to read the row."""
    if row.allowed.any():
        yield "; ".join([total(row), *unseen(row)])
    else:
        yield "it may look at no token: this row is absent, not zero"


def _short(label: str) -> str:
    """A label that does not run out of the picture."""
    return shorten(visible(label), LONGEST_NAME, "…")
