"""One map of attention as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame, size_of
from heedmap.drawing.figure_text import token_labels, write_title
from heedmap.drawing.palette import BLUE, BLUE_LINE, ORANGE, PAPER, QUIET, RULE, SAND, SAND_TEXT, shade
from heedmap.drawing.shapes import DrawnMap, Flags
from heedmap.errors import NumbersError, OutOfRange

MOST_CELLS = 1024
"""Rows and columns that are drawn; larger maps are pooled."""

SEPARATE_CELLS = 64
"""Up to so many tokens each cell has an edge and each token a label."""

LARGEST_CELL, SMALLEST_CELL = 0.34, 0.15
"""Inches of a cell with a label."""

SIDE = 7.5
"""Inches of a map whose cells are too many for labels."""

MOST_SEGMENTS = 20_000
"""Of the frame around what may be seen; a mask with more is too ragged for a frame to help."""

UPRIGHT = 20
"""From so many tokens on the labels over the columns stand upright, which takes less room than a slant."""

OUTLINE: dict[str, Any] = {"fill": False, "clip_on": False, "zorder": 3}
LOG_FLOOR = 1e-4
COLOUR_BAR_TITLE = "attention weight (share of the row)"


def plot_map(
    picture: DrawnMap,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    scale: Literal["linear", "log"] = "linear",
    highlight: tuple[int, int] | None = None,
) -> Axes:
    """Draw a map: rows look ("from (query)"), columns are looked at ("to (key)").

    Weights are blue and those on the first token sand, both on one scale; what a row may not look at is bare paper,
    which is another colour than 0. Up to 64 tokens each has its label, of more every n-th with its position. A map of
    more than 1024 tokens is pooled: each cell is the largest weight of a block, and the line under the title says so.

    Args:
        picture: the weights and their labels.
        ax: where to draw; a new figure of a fitting size by default.
        title: in place of the picture's own.
        scale: of the colours: linear from 0 to 1, or logarithmic from 0.0001 to 1.
        highlight: the places of a query and a key: the row gets a frame, the cell an orange one.

    Returns:
        The axes; `.figure` is what `save_figure` takes.

    Raises:
        NumbersError: another scale.
        OutOfRange: the highlighted cell is not on the map.

    Example:
        >>> from heedmap.drawing.shapes import MapPicture
        >>> picture = MapPicture(
        ...     title="layer 0, head 0", labels_query=["The", "cat"], labels_key=["The", "cat"],
        ...     weights=np.array([[1.0, 0.0], [0.75, 0.25]]), allowed=np.tri(2, dtype=bool),
        ... )
        >>> axes = plot_map(picture)
        >>> axes.get_ylabel(), axes.get_xlabel()
        ('from (query)', 'to (key)')
    """
    queries, keys = picture.size
    _check_highlight(highlight, queries, keys)
    norm = _norm(scale)
    axes = ax if ax is not None else new_axes(_side(keys), _side(queries))
    steps = (-(-queries // MOST_CELLS), -(-keys // MOST_CELLS))
    weights, allowed = picture.pooled(steps, "largest")
    first = None if picture.first is None else picture.first // steps[1]

    _sheet(axes, _colours(weights, allowed, first, norm), np.isnan(weights) & allowed, allowed)
    axes.set_aspect("equal" if queries == keys else "auto")
    axes.apply_aspect()
    _axis_labels(axes, picture, steps, highlight)
    _colour_bar(axes, norm, sand=first is not None)
    notes = list(_notes(weights, allowed, steps, picture.size))
    write_title(axes, picture.title if title is None else title, notes, claims_room=ax is None)
    if highlight is not None:
        _highlight(axes, allowed, highlight[0] // steps[0], highlight[1] // steps[1])
    if ax is None:
        fit_paper(axes)
    return axes


def _sheet(axes: Axes, colours: NDArray[np.float64], broken: Flags, allowed: Flags) -> None:
    """The cells inside the frame of what may be seen, and nothing around them."""
    quiet_frame(axes)
    axes.spines[:].set_visible(False)
    _cells(axes, colours, broken)
    _frame(axes, allowed)
    rows, columns = allowed.shape
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))


def _check_highlight(highlight: tuple[int, int] | None, queries: int, keys: int) -> None:
    """Refuse a cell that is not there."""
    if highlight is None:
        return
    query, key = highlight
    if not (0 <= query < queries and 0 <= key < keys):
        raise OutOfRange(
            f"there is no cell ({query}, {key}) to highlight: "
            f"queries go from 0 to {queries - 1} and keys from 0 to {keys - 1}"
        )


def _norm(scale: str) -> Normalize:
    """From a weight to its place on the colour scale."""
    if scale == "linear":
        return Normalize(0.0, 1.0)
    if scale == "log":
        return LogNorm(LOG_FLOOR, 1.0)
    raise NumbersError(f"there is no colour scale '{scale}': use 'linear' or 'log'")


def _side(tokens: int) -> float:
    """How many inches a side with so many tokens takes."""
    if tokens > SEPARATE_CELLS:
        return SIDE
    return tokens * min(LARGEST_CELL, max(SMALLEST_CELL, 6.0 / tokens))


def _colours(weights: NDArray[np.float64], allowed: Flags, first: int | None, norm: Normalize) -> NDArray[np.float64]:
    """Red, green, blue and opacity of each cell; nothing at all where a row may not look."""
    share = np.asarray(norm(np.clip(np.nan_to_num(weights), norm.vmin, norm.vmax)))
    colours = shade(share, BLUE)
    if first is not None:
        colours[:, first] = shade(share[:, first], SAND)
    return np.concatenate([colours, allowed[..., np.newaxis]], axis=-1)


def _cells(axes: Axes, colours: NDArray[np.float64], broken: Flags) -> None:
    """The cells, one by one with a gap where they are few, otherwise as one image; what is no number is crossed out."""
    rows, columns = broken.shape
    if max(rows, columns) <= SEPARATE_CELLS:
        colours[broken] = 0.0
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        axes.pcolormesh(*edges, colours, edgecolors=PAPER, linewidth=0.8)
        if broken.any():
            places = np.argwhere(broken)
            axes.plot(places[:, 1], places[:, 0], linestyle="none", marker="x", color=ORANGE, markersize=5)
    else:
        colours[broken, :3] = shade(0.0, (ORANGE, ORANGE))
        axes.imshow(colours, extent=(-0.5, columns - 0.5, rows - 0.5, -0.5))


def _frame(axes: Axes, allowed: Flags) -> None:
    """A thin line around what may be seen, so that blank paper is not taken for a pale 0."""
    inside = np.pad(allowed, 1)
    rows, columns = np.nonzero(inside[1:, 1:-1] != inside[:-1, 1:-1])
    across = [((column - 0.5, row - 0.5), (column + 0.5, row - 0.5)) for row, column in zip(rows, columns, strict=True)]
    rows, columns = np.nonzero(inside[1:-1, 1:] != inside[1:-1, :-1])
    down = [((column - 0.5, row - 0.5), (column - 0.5, row + 0.5)) for row, column in zip(rows, columns, strict=True)]
    if len(across) + len(down) <= MOST_SEGMENTS:
        axes.add_collection(LineCollection(across + down, colors=RULE, linewidths=0.8, clip_on=False), autolim=False)


def _highlight(axes: Axes, allowed: Flags, query: int, key: int) -> None:
    """A frame around what the row may see, and an orange one around the cell."""
    seen = np.flatnonzero(allowed[query])
    if len(seen):
        corner, width = (seen[0] - 0.5, query - 0.5), seen[-1] - seen[0] + 1
        axes.add_patch(Rectangle(corner, width, 1, edgecolor=BLUE_LINE, linewidth=1.2, **OUTLINE))
    axes.add_patch(Rectangle((key - 0.5, query - 0.5), 1, 1, edgecolor=ORANGE, linewidth=2.0, **OUTLINE))


def _axis_labels(axes: Axes, picture: DrawnMap, steps: tuple[int, int], highlight: tuple[int, int] | None) -> None:
    """Tokens along both axes, columns over the map, and what the axes are."""
    sand = {} if picture.first is None else {picture.first: SAND_TEXT}
    query, key = ([], []) if highlight is None else ([highlight[0]], [highlight[1]])
    token_labels(axes, "y", picture.labels_query, per_place=steps[0], bold=frozenset(query), colours={})
    turn = 90 if len(picture.labels_key) > UPRIGHT else 60
    token_labels(axes, "x", picture.labels_key, per_place=steps[1], bold=frozenset(key), colours=sand, turn=turn)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("to (key)", color=QUIET, fontsize=9.5)
    axes.set_ylabel("from (query)", color=QUIET, fontsize=9.5)


def _colour_bar(axes: Axes, norm: Normalize, *, sand: bool) -> None:
    """The scale under the map at the right: sand for the first token above blue for all others."""
    width, height = size_of(axes)
    long, thick, gap = max(1.6, min(2.6, 0.5 * width)), 0.11, 0.18
    left = 1 - long / width
    bar = axes.inset_axes((left, -(gap + 2 * thick) / height, long / width, thick / height))
    ticks = [LOG_FLOOR, 1e-3, 1e-2, 0.1, 1.0] if isinstance(norm, LogNorm) else [0.0, 0.25, 0.5, 0.75, 1.0]
    scale = ScalarMappable(norm, LinearSegmentedColormap.from_list("heedmap-blue", BLUE))
    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = figure.colorbar(scale, cax=bar, orientation="horizontal", ticks=ticks)
    drawn.outline.set_visible(False)
    names = [f"{tick:g}" for tick in ticks]
    if isinstance(norm, LogNorm):
        names[0] = f"≤ {names[0]}"
    drawn.ax.set_xticklabels(names, parse_math=False)
    drawn.ax.tick_params(length=2, width=0.6, color=RULE, labelsize=8, labelcolor=QUIET, which="major")
    drawn.ax.minorticks_off()
    drawn.set_label(COLOUR_BAR_TITLE, color=QUIET, fontsize=8.5)
    if sand:
        strip = axes.inset_axes((left, -(gap + thick) / height, long / width, 0.9 * thick / height))
        strip.imshow([shade(np.linspace(0, 1, 256), SAND)], aspect="auto")
        strip.set_axis_off()
        name = strip.text(-0.02, 0.5, "first token", transform=strip.transAxes, color=SAND_TEXT, fontsize=8)
        name.set(horizontalalignment="right", verticalalignment="center")


def _notes(
    weights: NDArray[np.float64], allowed: Flags, steps: tuple[int, int], tokens: tuple[int, ...]
) -> Iterator[str]:
    """What must be known to read the map."""
    blank = "" if allowed.all() else "; what is blank cannot be seen"
    yield f"rows look, columns are looked at{blank}"
    if steps != (1, 1):
        yield f"each cell is the largest of {steps[0]} × {steps[1]} weights ({tokens[0]} × {tokens[1]} tokens)"
    broken = int((np.isnan(weights) & allowed).sum())
    if broken:
        mark = "×" if max(weights.shape) <= SEPARATE_CELLS else "orange"
        yield f"{mark}: not a number (nan), {broken} of {int(allowed.sum())} cells"
