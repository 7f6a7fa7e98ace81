"""Looks at a picture as figures and grids: a cell a patch, from 0 to the largest, and nothing for what is absent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from heedmap.drawing.palette import BLUE, shade
from heedmap.drawing.patches import patches_text
from heedmap.drawing.picture_figure import plot_patches
from heedmap.reading.patch_row import PatchRow
from tests.pictures import llava_model, noise, vision_model


@pytest.fixture(scope="module")
def looked() -> PatchRow:
    """Where one patch of a picture looks."""
    return vision_model().read_picture(noise()).patches("r1c2", 1, 0)


def test_each_patch_has_the_colour_of_its_weight(looked: PatchRow) -> None:
    axes = plot_patches(looked)
    picture, over = axes.images
    array: Any = over.get_array()
    np.testing.assert_allclose(array[..., :3], shade(looked.weights / looked.weights.max(), BLUE), atol=1e-6)
    assert array[..., 3].argmax() == looked.weights.argmax()
    assert [*picture.get_extent()] == [*over.get_extent()] == [0.0, 32.0, 32.0, 0.0]
    assert axes.get_title(loc="left") == "where “r1c2” looks: layer 1, head 0 of vit"


def test_the_patch_that_looks_has_a_frame(looked: PatchRow) -> None:
    (frame,) = plot_patches(looked).patches
    assert (frame.get_x(), frame.get_y(), frame.get_width(), frame.get_height()) == (16.0, 8.0, 8.0, 8.0)  # type: ignore[attr-defined]


def test_what_cannot_be_seen_is_left_as_it_is() -> None:
    found = llava_model().read_picture(noise(), "the cat <image> looked").patches("r0c1", 1, 0)
    array: Any = plot_patches(found).images[1].get_array()
    assert (array[..., 3] > 0).sum() == 2
    assert [line.rstrip() for line in patches_text(found).splitlines()[3:6]] == ["r1", "r2", "r3"]


def test_what_is_no_number_is_crossed_out_and_counted(looked: PatchRow) -> None:
    weights = looked.row.weights.copy()
    weights[looked.places[2, 3]] = np.nan
    broken = replace(looked, row=replace(looked.row, weights=weights))
    axes = plot_patches(broken)
    (crosses,) = axes.lines
    assert np.asarray(crosses.get_xydata()).tolist() == [[28.0, 20.0]]
    text = patches_text(broken)
    assert "not a number (nan): 1 of 16 patches" in text
    assert text.splitlines()[4].endswith("!!")
    assert broken.to_json()["patches"][2][3] is None


def test_axes_of_your_own_are_drawn_on_and_returned(looked: PatchRow) -> None:
    own = Figure().add_subplot()
    assert looked.plot(ax=own) is own


def test_the_grid_has_a_cell_for_each_patch_and_says_what_it_shows(looked: PatchRow) -> None:
    lines = str(looked).splitlines()
    assert lines[0] == "where “r1c2” looks: layer 1, head 0 of vit"
    assert [len(line) for line in lines[2:6]] == [3 + 8] * 4
    top = int(looked.weights.argmax())
    assert lines[2 + top // 4][3 + 2 * (top % 4)] == "█"
    assert "of the look is on the picture: " in str(looked)
