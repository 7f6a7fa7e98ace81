"""The charts of `heads`: every head by noun and by place, and the chosen head pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Chart
from heedmap.lab.rounding import first_largest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.lab.heads_conclude import Search
    from heedmap.lab.heads_effects import Effects


def charts(noun: Search, effects: Effects) -> dict[str, Chart]:
    """All charts of `heads`."""
    return {
        "noun_and_place": Chart(
            "Every head: does it look at a noun, or at a place?",
            lambda axes: _draw_heads(axes, noun, effects),
            "A dot for each head: across, how far it prefers the noun that stands first; up, how far it prefers noun A "
            "wherever it stands; a dashed line where the best head lies by chance in 1 of 20 draws.",
            searched=True,
            size=(7.0, 4.6),
        ),
        "orders": Chart(
            "The best head, pair by pair, in both noun orders",
            lambda axes: _draw_orders(axes, noun, effects),
            "For each pair a line from A minus B in the order given to A minus B in the other order; a head of nouns "
            "stays above 0 in both, a head of places crosses it.",
            searched=True,
        ),
    }


def _draw_heads(axes: Axes, noun: Search, effects: Effects) -> None:
    """All heads as dots."""
    from heedmap.drawing.palette import BLUE_LINE, ORANGE, QUIET

    assert noun.best is not None, "there is no chart without heads"
    across, up = effects.place.mean(0), effects.noun.mean(0)
    axes.plot(across, up, ".", color=BLUE_LINE, markersize=4, alpha=0.6)
    best, place = noun.best.head, first_largest(np.abs(across))
    for head in {best, place}:
        axes.plot(across[head], up[head], "o", color=ORANGE, markersize=5)
        axes.annotate(effects.name(head), (across[head], up[head]), (5, 4), textcoords="offset points", fontsize=8)
    axes.axhline(noun.best.chance, linestyle="--", linewidth=1, color=QUIET)
    axes.axhline(0, linewidth=0.6, color=QUIET)
    axes.axvline(0, linewidth=0.6, color=QUIET)
    axes.margins(0.12)
    axes.set_xlabel("place effect: first noun minus second (share of the row)", color=QUIET, fontsize=9)
    axes.set_ylabel("noun effect: A minus B", color=QUIET, fontsize=9)


def _draw_orders(axes: Axes, noun: Search, effects: Effects) -> None:
    """A vertical line a pair, sorted by its noun effect."""
    from heedmap.drawing.palette import BLUE_LINE, ORANGE, PALE, QUIET

    assert noun.best is not None, "there is no chart without heads"
    head = noun.best.head
    order = np.argsort(-effects.noun[:, head], kind="stable")
    given, other = (one[order, head] for one in effects.orders)
    places = np.arange(len(order))
    axes.vlines(places, np.minimum(given, other), np.maximum(given, other), color=PALE, linewidth=1)
    axes.plot(places, given, "o", color=BLUE_LINE, markersize=4, label="order given")
    axes.plot(places, other, "s", color=ORANGE, markersize=4, label="other order")
    axes.axhline(0, linewidth=1, color=QUIET)
    axes.legend(frameon=False, fontsize=8)
    axes.set_xlabel(f"pairs, {effects.name(head)}", color=QUIET, fontsize=9)
    axes.set_ylabel("A minus B (share of the row)", color=QUIET, fontsize=9)
