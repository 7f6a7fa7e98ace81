"""Where in a picture a token looks, drawn over the picture, as a matplotlib figure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame, size_of
from heedmap.drawing.figure_text import write_title
from heedmap.drawing.map_figure import OUTLINE
from heedmap.drawing.palette import BLUE, ORANGE, QUIET, RULE, shade
from heedmap.drawing.picture_notes import notes
from heedmap.drawing.readings import place
from heedmap.reading.patch_row import PatchRow

LONGEST_SIDE = 5.0
"""Inches of the longer side of the picture."""

PALE = 0.45
"""How far the picture is drawn towards white, so that the colour over it can be seen."""

FAINTEST, STRONGEST = 0.1, 0.85
"""How much of the picture the colour of a weight covers: at 0 and at the largest."""


def plot_patches(patches: PatchRow, *, ax: Axes | None = None) -> Axes:
    """Draw the picture in pale grey and each patch's weight over it in blue, from 0 to the largest of them.

    The patch that looks, where it is one, has an orange frame; patches that it cannot see are left as they are, and
    those whose weight is not a number are crossed out.

    Args:
        patches: the look.
        ax: where to draw; a new figure of a fitting size by default.

    Returns:
        The axes, in pixels of the picture that the model saw; `.figure` is what `save_figure` takes.
    """
    height, width = patches.picture.shape[:2]
    scale = LONGEST_SIDE / max(height, width)
    axes = ax if ax is not None else new_axes(width * scale, height * scale)
    quiet_frame(axes)
    axes.set(xticks=[], yticks=[])
    extent = (0.0, float(width), float(height), 0.0)
    axes.imshow(_pale_grey(patches.picture), extent=extent)
    weights, allowed = patches.weights, patches.row.allowed[patches.places]
    top = float(np.nanmax(weights)) if np.isfinite(weights).any() else 0.0
    axes.imshow(_colours(weights, top), extent=extent, interpolation="nearest")
    high, wide = height / weights.shape[0], width / weights.shape[1]
    broken = np.argwhere(allowed & np.isnan(weights))
    if len(broken):
        at = (broken + 0.5) * (high, wide)
        axes.plot(at[:, 1], at[:, 0], linestyle="none", marker="x", color=ORANGE)
    for row, column in _asking(patches):
        corner = (column * wide, row * high)
        axes.add_patch(Rectangle(corner, wide, high, edgecolor=ORANGE, linewidth=2.0, **OUTLINE))
    _colour_bar(axes, top or 1.0)
    title = f"where “{patches.row.tokens.labels[patches.row.query[0]]}” looks: {place(patches.row)}"
    write_title(axes, title, list(notes(patches)), claims_room=ax is None)
    if ax is None:
        fit_paper(axes)
    return axes


def _asking(patches: PatchRow) -> list[tuple[int, ...]]:
    """The row and column of the patches that look, where those are patches of the picture drawn."""
    if patches.row.keys is not None:
        return []
    return [tuple(int(one) for one in at) for at in np.argwhere(np.isin(patches.places, patches.row.query))]


def _pale_grey(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The picture's lightness, drawn towards white."""
    lightness = picture @ np.array([0.299, 0.587, 0.114]) / 255.0
    return np.repeat((PALE + (1.0 - PALE) * lightness)[..., np.newaxis], 3, axis=-1)


def _colours(weights: NDArray[np.float64], top: float) -> NDArray[np.float64]:
    """Red, green, blue and opacity of each patch."""
    share = np.nan_to_num(weights) / (top or 1.0)
    cover = np.where(np.isnan(weights), 0.0, FAINTEST + (STRONGEST - FAINTEST) * share)
    return np.concatenate([shade(share, BLUE), cover[..., np.newaxis]], axis=-1)


def _colour_bar(axes: Axes, top: float) -> None:
    """The scale under the picture at the right."""
    width, height = size_of(axes)
    long = min(2.2, 0.6 * width)
    bar = axes.inset_axes((1 - long / width, -0.3 / height, long / width, 0.11 / height))
    figure = axes.get_figure(root=True)
    assert figure is not None
    scale = ScalarMappable(Normalize(0.0, top), LinearSegmentedColormap.from_list("heedmap-blue", BLUE))
    drawn = figure.colorbar(scale, cax=bar, orientation="horizontal", ticks=[0.0, top / 2, top])
    drawn.outline.set_visible(False)
    drawn.ax.set_xticklabels([f"{tick:.2g}" for tick in (0.0, top / 2, top)], parse_math=False)
    drawn.ax.tick_params(length=2, width=0.6, color=RULE, labelsize=8, labelcolor=QUIET)
    drawn.set_label("attention weight (share of the row)", color=QUIET, fontsize=8.5)
