"""The scales in a colour space of their own, CIELAB, written here from the definition (CIE 15:2004)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.color import Color

from heedmap.drawing.palette import BLUE, BLUE_256, PAPER, SAND, SAND_256, channels, shade

SCALES = [BLUE, SAND]
LINEAR_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
PROTANOPIA = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
"""How colours look to people without green or red cones (Machado, Oliveira and Fernandes 2009, severity 1)."""


def linear(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def lab(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB of linear sRGB."""
    ratio = np.clip(light @ LINEAR_TO_XYZ.T / WHITE, 0.0, None)
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def test_the_oracle_knows_white_and_black() -> None:
    assert lab(linear(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))) == pytest.approx(
        np.array([[100.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), abs=0.02
    )


@pytest.mark.parametrize("scale", SCALES)
def test_lightness_falls_all_the_way(scale: tuple[str, ...]) -> None:
    lightness = lab(linear(shade(np.linspace(0, 1, 256), scale)))[:, 0]
    assert (np.diff(lightness) < 0).all()
    assert lightness[0] > 90 > 45 > lightness[-1]


@pytest.mark.parametrize("scale", SCALES)
def test_equal_steps_look_equal(scale: tuple[str, ...]) -> None:
    stops = lab(linear(shade(np.linspace(0, 1, 11), scale)))
    distances = np.linalg.norm(np.diff(stops, axis=0), axis=1)
    # Eight-bit channels alone move a stop by up to half a unit of about six.
    assert distances.max() / distances.min() < 1.25


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("vision", [DEUTERANOPIA, PROTANOPIA])
def test_the_order_holds_for_colour_blind_eyes(scale: tuple[str, ...], vision: NDArray[np.float64]) -> None:
    seen = linear(shade(np.linspace(0, 1, 256), scale)) @ vision.T
    assert (np.diff(lab(seen)[:, 0]) < 0).all()


@pytest.mark.parametrize("numbers", [BLUE_256, SAND_256])
def test_the_256_colours_fall_in_lightness_too(numbers: tuple[int, ...]) -> None:
    shown = np.array([Color.from_ansi(number).get_truecolor() for number in numbers]) / 255
    lightness = lab(linear(shown))[:, 0]
    assert (np.diff(lightness) < -1).all()


@pytest.mark.parametrize("scale", SCALES)
def test_zero_is_not_paper(scale: tuple[str, ...]) -> None:
    zero, paper = lab(linear(np.array([channels(scale[0]), channels(PAPER)])))
    assert np.linalg.norm(zero - paper) > 4  # 2.3 is the least that people notice (Mahy and others 1994)


def test_shade_mixes_between_stops_and_holds_at_the_ends() -> None:
    scale = ("#000000", "#ff0000", "#ffff00")
    values = np.array([[-1.0, 0.0], [0.25, 0.75], [1.0, 2.0]])
    expected = [[[0, 0, 0], [0, 0, 0]], [[0.5, 0, 0], [1, 0.5, 0]], [[1, 1, 0], [1, 1, 0]]]
    assert shade(values, scale).tolist() == expected


def test_stops_are_real_colours() -> None:
    for scale in SCALES:
        assert len(scale) == 11
        assert all(first != second for first, second in pairwise(scale))
