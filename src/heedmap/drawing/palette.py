"""The colours of every picture: quiet paper, one blue scale for weights, sand for the first token, orange for a choice.

The two scales were built in CIELAB: lightness falls from 94 to 17 (blue) and from 94 to 43 (sand) while the hue turns a
little, and the eleven stops are spaced evenly along that path, so that equal steps of weight look equally large.
Lightness alone orders the colours, so they keep their order in print and for every kind of colour vision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLUE = (
    "#eceef2", "#d1dceb", "#b6cae4", "#99b9de", "#7da5d3", "#6291c6",
    "#447cba", "#2b66a7", "#21508d", "#163a74", "#0b265b",
)  # fmt: skip
"""Weights, from 0 to the top of the scale."""

SAND = (
    "#f0ede9", "#e9e2d4", "#e3d6c0", "#dbcaab", "#d2bc97", "#c8ae83",
    "#bfa06f", "#b2905d", "#a37f4c", "#936e3b", "#845e2b",
)  # fmt: skip
"""Weights on the first token, which would otherwise drown the sentence."""

BLUE_256 = (255, 189, 153, 110, 68, 62, 25, 18)
SAND_256 = (255, 223, 180, 137, 94)
"""The same for terminals of 256 colours: the nearest ones would jump between hues."""

PAPER = "#fbfaf7"
INK = "#22262b"
QUIET = "#6f7378"
RULE = "#dcdad4"
PALE = "#b3b1aa"
TINT = "#eef0f4"
BLUE_BAR = "#4d73af"
BLUE_LINE = "#2d4f96"
SAND_BAR = "#c9b48a"
SAND_TEXT = "#8a7440"
ORANGE = "#c2410c"


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of a colour written as #rrggbb, each from 0 to 1.

    Example:
        >>> channels("#ff0033")
        (1.0, 0.0, 0.2)
    """
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def shade(values: float | NDArray[np.floating[Any]], scale: tuple[str, ...]) -> NDArray[np.float64]:
    """The colour of each value on a scale: between two stops the channels are mixed evenly.

    Args:
        values: any shape, from 0 (first stop) to 1 (last stop); what lies outside takes the end's colour.
        scale: the stops, as `BLUE` or `SAND`.

    Returns:
        The same shape with a last axis of red, green and blue from 0 to 1.

    Example:
        >>> shade(0.5, ("#000000", "#ff0000")).tolist()
        [0.5, 0.0, 0.0]
    """
    stops = np.array([channels(colour) for colour in scale])
    places = np.linspace(0.0, 1.0, len(scale))
    return np.stack([np.interp(values, places, stops[:, channel]) for channel in range(3)], axis=-1)
