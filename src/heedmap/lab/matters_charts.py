"""The charts of `matters`: the heads of the layer, and weight against effect for all heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Chart, Figure
from heedmap.lab.matters_effects import Effects, known_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def charts(effects: Effects, figures: dict[str, Figure]) -> dict[str, Chart]:
    """All charts of `matters`."""
    found = {
        "layer": Chart(
            f"What the right noun loses without each head of layer {effects.number}",
            lambda axes: _draw_layer(axes, effects, figures),
            f"Mean effect of each head of layer {effects.number} in nats, with 95 percent intervals over pairs; "
            f"{effects.name} is marked.",
        )
    }
    if effects.scattered.any():
        found["scatter"] = Chart(
            "Weight against effect, every head",
            lambda axes: _draw_scatter(axes, effects, figures),
            "Each head as a point: how strongly the pronoun points at one of the nouns, and by how much the log-odds "
            f"change when the head is taken away; {effects.name} is marked.",
            size=(6.0, 4.5),
        )
    return found


def _draw_layer(axes: Axes, effects: Effects, figures: dict[str, Figure]) -> None:
    """Means as dots, intervals as bars, 0 as a line."""
    from heedmap.drawing.palette import BLUE_LINE, PALE, QUIET

    axes.axhline(0, color=QUIET, linewidth=1)
    for place in effects.of_layer:
        figure = figures[f"matters.layer{effects.layers[place]}.head{effects.heads[place]}"]
        if not isinstance(figure.value, float):
            continue
        if figure.interval is not None:
            axes.vlines(effects.heads[place], *figure.interval, color=PALE, linewidth=4)
        tested = place == effects.place
        axes.plot(
            effects.heads[place], figure.value, "D" if tested else "o", color=BLUE_LINE, markersize=7 if tested else 4
        )
    axes.set(xlabel="head", ylabel="effect (nats)", xticks=effects.heads[effects.of_layer])


def _draw_scatter(axes: Axes, effects: Effects, figures: dict[str, Figure]) -> None:
    """One point a head; effects span orders of magnitude, so their axis is logarithmic."""
    from heedmap.drawing.palette import BLUE_LINE

    pointing = known_mean(effects.signals["word"][effects.scattered])
    size = np.maximum(effects.mean_size, 1e-5)
    axes.plot(pointing, size, "o", color=BLUE_LINE, markersize=3, alpha=0.5)
    axes.plot(pointing[effects.place], size[effects.place], "D", color=BLUE_LINE, markersize=8, fillstyle="none")
    axes.set(xlabel="how strongly the pronoun points at one noun", ylabel="size of the effect (nats)", yscale="log")
    figure = figures["matters.correlation.word"]
    if isinstance(figure.value, float):
        axes.annotate(f"rank correlation {figure.value:.2f}", (0.98, 0.02), xycoords="axes fraction", ha="right")
