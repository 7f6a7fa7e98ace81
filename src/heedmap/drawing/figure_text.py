"""Labels, titles and captions of figures: real glyphs, no mathematics, a size that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes

from heedmap.drawing.canvas import POINTS, size_of
from heedmap.drawing.fonts import lettering
from heedmap.drawing.labels import shorten, visible
from heedmap.drawing.palette import INK, QUIET

LONGEST_LABEL = 20
DENSE_PITCH, SPARSE_PITCH = 7.5, 16.0
"""Points from one label to the next, at least: where each token has one, and where only some have."""


def label_places(axes: Axes, side: Literal["x", "y"], tokens: int) -> tuple[range, float]:
    """Which tokens of an axis get a label, and the letters' size in points.

    All of them where they fit; otherwise every n-th, n being 2, 5, 10, 20, 50 and so on.
    """
    points = size_of(axes)[side == "y"] * POINTS / tokens
    if points >= DENSE_PITCH:
        return range(tokens), min(10.0, 0.75 * points)
    steps = (factor * 10**power for power in range(10) for factor in (1, 2, 5))
    return range(0, tokens, next(step for step in steps if step * points >= SPARSE_PITCH)), 8.0


def token_labels(
    axes: Axes,
    side: Literal["x", "y"],
    labels: Sequence[str],
    *,
    per_place: int = 1,
    bold: frozenset[int] = frozenset(),
    colours: dict[int, str],
    turn: float = 0.0,
) -> None:
    """Write token labels along an axis, with their positions where not each token has one.

    Args:
        axes: whose axis.
        side: which axis.
        labels: one a token.
        per_place: how many tokens one step along the axis stands for.
        bold: tokens to set off.
        colours: of tokens that are not in ink.
        turn: degrees by which the labels rise.
    """
    places, points = label_places(axes, side, len(labels))
    names = [shorten(visible(labels[place]), LONGEST_LABEL, "…") for place in places]
    if places.step > 1:
        names = [f"{place} {name}" for place, name in zip(places, names, strict=True)]
    letters = lettering(names)
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_ticks([(place + 0.5) / per_place - 0.5 for place in places])
    axis.set_ticklabels([letters.text(name) for name in names])
    for place, name, tick in zip(places, names, axis.get_major_ticks(), strict=True):
        for text in (tick.label1, tick.label2):
            text.set(**letters.style(name, bold=place in bold), fontsize=points, color=colours.get(place, INK))
            if turn:
                text.set(rotation=turn, rotation_mode="anchor", verticalalignment="center")
                text.set_horizontalalignment("left" if text is tick.label2 else "right")


def write_title(axes: Axes, title: str, notes: Sequence[str], *, claims_room: bool) -> None:
    """A title at the left, and under it, small and grey, what must be known to read the picture.

    Args:
        axes: where.
        title: one line.
        notes: the lines under it.
        claims_room: whether a figure's layout makes room for the width of the notes, as it does not for titles.
    """
    letters = lettering([title, *notes])
    points = 8.5
    pad = 8.0 + 1.35 * points * len(notes)
    heading = axes.set_title(letters.text(title), loc="left", y=_top(axes), pad=pad, fontsize=11, color=INK)
    heading.set(**letters.style(title, bold=True))
    below = axes.annotate(
        "\n".join(map(letters.text, notes)),
        xy=(0.0, 0.0),
        xycoords=heading,
        xytext=(0.0, -3.0),
        textcoords="offset points",
        verticalalignment="top",
        fontsize=points,
        color=QUIET,
        annotation_clip=False,
    )
    below.set(**letters.style(" ".join(notes)))
    below.set_in_layout(claims_room)


def _top(axes: Axes) -> float:
    """Where the labels over the axes end, as a share of their height: matplotlib lifts a title, not its notes."""
    labels = axes.xaxis.get_tightbbox()
    if labels is None:
        return 1.0
    return max(1.0, float(axes.transAxes.inverted().transform((0.0, labels.y1))[1]))
