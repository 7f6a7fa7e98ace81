"""Maps as figures: what stands where, in which colour."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from heedmap.drawing.figures import plot_map
from heedmap.drawing.palette import BLUE, ORANGE, PAPER, SAND, shade
from heedmap.drawing.shapes import MapPicture
from heedmap.errors import NumbersError, OutOfRange
from tests.drawing.making import HARD, TROPHY, map_of


def figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def pixels(axes: Axes) -> NDArray[np.uint8]:
    """The picture, [row, column, red green blue]."""
    canvas = FigureCanvasAgg(figure_of(axes))
    canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba())[..., :3]  # type: ignore[no-untyped-call]


def colour_at(axes: Axes, image: NDArray[np.uint8], query: float, key: float) -> tuple[float, ...]:
    """The colour in the middle of a cell."""
    x, y = axes.transData.transform((key, query))
    return tuple(image[image.shape[0] - 1 - round(y), round(x)] / 255)


def test_axes_and_colour_bar_say_what_they_are() -> None:
    axes = plot_map(map_of(TROPHY))
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("from (query)", "to (key)")
    assert axes.get_title(loc="left") == "layer 2, head 1"
    assert [text.get_text() for text in axes.get_yticklabels()] == TROPHY
    assert [text.get_text() for text in axes.get_xticklabels()] == TROPHY
    titles = [child.get_xlabel() for child in axes.child_axes]
    assert "attention weight (share of the row)" in titles


def test_each_cell_has_the_colour_of_its_weight_and_forbidden_ones_are_paper() -> None:
    picture = map_of(TROPHY)
    axes = plot_map(picture)
    image = pixels(axes)
    for query in range(15):
        for key in range(15):
            seen = colour_at(axes, image, query, key)
            if picture.allowed[query, key]:
                expected = shade(float(picture.weights[query, key]), SAND if key == 0 else BLUE)
            else:
                expected = np.array(to_rgb(PAPER))
            assert seen == pytest.approx(expected, abs=1.5 / 255)


def test_zero_is_drawn_and_forbidden_is_not() -> None:
    weights, allowed = np.zeros((3, 3)), np.tri(3, dtype=bool)
    axes = plot_map(replace(map_of(list("abc")), weights=weights, allowed=allowed, first=None))
    image = pixels(axes)
    assert colour_at(axes, image, 2, 1) == pytest.approx(to_rgb(BLUE[0]), abs=1.5 / 255)
    assert colour_at(axes, image, 1, 2) == pytest.approx(to_rgb(PAPER), abs=1.5 / 255)


def test_a_large_map_is_one_image_with_the_same_colours() -> None:
    picture = map_of([f"w{number}" for number in range(120)])
    axes = plot_map(picture)
    assert len(axes.images) == 1
    drawn = np.asarray(axes.images[0].get_array())
    assert (drawn[..., 3] == picture.allowed).all()
    assert drawn[picture.allowed][:, :3] == pytest.approx(
        np.where(np.arange(120)[None, :, None] == 0, shade(picture.weights, SAND), shade(picture.weights, BLUE))[
            picture.allowed
        ]
    )
    image = pixels(axes)
    assert colour_at(axes, image, 20, 100) == pytest.approx(to_rgb(PAPER), abs=1.5 / 255)


def test_many_tokens_show_every_nth_label_with_its_position() -> None:
    axes = plot_map(map_of([f"w{number}" for number in range(300)]))
    names = [text.get_text() for text in axes.get_yticklabels()]
    step = int(names[1].split()[0])
    assert step in (2, 5, 10, 20, 50)
    assert names == [f"{number} w{number}" for number in range(0, 300, step)]
    assert list(axes.get_yticks()) == list(range(0, 300, step))


def test_thousands_of_tokens_are_pooled_by_their_largest_and_say_so() -> None:
    labels = [f"w{number}" for number in range(2050)]
    weights = np.zeros((2050, 2050), dtype=np.float32)
    weights[1000, 700] = 0.5
    axes = plot_map(
        MapPicture(title="", labels_query=labels, labels_key=labels, weights=weights, allowed=np.tri(2050, dtype=bool))
    )
    drawn = np.asarray(axes.images[0].get_array())
    assert drawn.shape[:2] == (684, 684)
    assert drawn[333, 233, :3] == pytest.approx(shade(0.5, BLUE))
    assert "each cell is the largest of 3 × 3 weights (2050 × 2050 tokens)" in axes.texts[0].get_text()
    place, name = axes.get_yticks()[1], axes.get_yticklabels()[1].get_text()
    assert place == pytest.approx((int(name.split()[0]) + 0.5) / 3 - 0.5)


def test_the_logarithmic_scale_spreads_small_weights() -> None:
    picture = replace(map_of(list("abcd")), weights=np.full((4, 4), 0.01), first=None)
    axes = plot_map(picture, scale="log")
    assert colour_at(axes, pixels(axes), 3, 1) == pytest.approx(shade(0.5, BLUE), abs=1.5 / 255)
    bar = next(child for child in axes.child_axes if child.get_xlabel())
    assert [text.get_text() for text in bar.get_xticklabels()] == ["≤ 0.0001", "0.001", "0.01", "0.1", "1"]


def test_zero_on_a_logarithmic_scale_is_the_palest_blue() -> None:
    picture = replace(map_of(list("abcd")), weights=np.zeros((4, 4)), first=None)
    axes = plot_map(picture, scale="log")
    assert colour_at(axes, pixels(axes), 3, 1) == pytest.approx(to_rgb(BLUE[0]), abs=1.5 / 255)


@pytest.mark.parametrize("tokens", [6, 100])
def test_what_is_not_a_number_is_orange_and_counted(tokens: int) -> None:
    picture = map_of([f"w{number}" for number in range(tokens)])
    weights = picture.weights.copy()
    weights[4, 2] = np.nan
    axes = plot_map(replace(picture, weights=weights))
    assert f"not a number (nan), 1 of {tokens * (tokens + 1) // 2} cells" in axes.texts[0].get_text()
    assert colour_at(axes, pixels(axes), 4, 2) == pytest.approx(to_rgb(ORANGE), abs=0.2)


def test_what_stands_at_forbidden_places_is_never_read() -> None:
    picture = map_of(TROPHY)
    poisoned = replace(picture, weights=np.where(picture.allowed, picture.weights, np.nan))
    assert (pixels(plot_map(poisoned)) == pixels(plot_map(picture))).all()


def test_a_chosen_cell_is_framed_in_orange_and_its_words_are_bold() -> None:
    axes = plot_map(map_of(TROPHY), highlight=(10, 1))
    row, cell = axes.patches
    assert isinstance(row, Rectangle)
    assert isinstance(cell, Rectangle)
    assert (row.get_xy(), row.get_width(), row.get_height()) == ((-0.5, 9.5), 11, 1)
    assert (cell.get_xy(), cell.get_width(), cell.get_height()) == ((0.5, 9.5), 1, 1)
    assert cell.get_edgecolor()[:3] == pytest.approx(to_rgb(ORANGE))
    assert [text.get_text() for text in axes.get_yticklabels() if text.get_fontweight() == "bold"] == ["it"]
    assert [text.get_text() for text in axes.get_xticklabels() if text.get_fontweight() == "bold"] == ["trophy"]


@pytest.mark.parametrize("cell", [(15, 0), (0, 15), (-1, 0)])
def test_a_chosen_cell_must_be_there(cell: tuple[int, int]) -> None:
    message = rf"there is no cell \({cell[0]}, {cell[1]}\) to highlight: queries go from 0 to 14 and keys from 0 to 14"
    with pytest.raises(OutOfRange, match=message):
        plot_map(map_of(TROPHY), highlight=cell)


def test_another_scale_is_refused() -> None:
    scale: Any = "square"
    with pytest.raises(NumbersError, match="there is no colour scale 'square': use 'linear' or 'log'"):
        plot_map(map_of(TROPHY), scale=scale)


def test_given_axes_are_drawn_on_and_no_figure_is_made() -> None:
    figure = Figure(figsize=(10, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert plot_map(map_of(TROPHY), ax=left) is left
    plot_map(map_of(TROPHY), ax=right, title="another title")
    assert right.get_title(loc="left") == "another title"
    assert figure.get_size_inches() == pytest.approx([10, 5])
    figure.draw_without_rendering()
    assert min(left.get_position().width, right.get_position().width) > 0.2


def test_pyplot_is_never_touched() -> None:
    def known() -> list[int]:
        pyplot = sys.modules.get("matplotlib.pyplot")
        return [] if pyplot is None else pyplot.get_fignums()

    before = known()
    plot_map(map_of(TROPHY))
    assert known() == before


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_hard_labels_are_drawn_as_they_are(scale: Literal["linear", "log"]) -> None:
    axes = plot_map(map_of(HARD), scale=scale, title="$x$ [bold]\\alpha[/bold] שלום\x1b[1m")
    figure_of(axes).draw_without_rendering()
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert "$x^2$" in names
    assert "\\alpha" in names
    assert axes.get_title(loc="left").startswith("$x$ [bold]\\alpha[/bold]")


def test_a_hostile_style_changes_neither_labels_nor_colours() -> None:
    settings: Any = {"axes.grid": True, "axes.facecolor": "red", "xtick.color": "red"}
    picture = map_of(TROPHY)
    with rc_context(settings):
        axes = plot_map(picture)
        image = pixels(axes)
    assert colour_at(axes, image, 3, 10) == pytest.approx(to_rgb(PAPER), abs=1.5 / 255)


def test_the_paper_fits_what_is_drawn() -> None:
    for labels in (["a"], TROPHY, HARD):
        axes = plot_map(map_of(labels))
        image = pixels(axes)
        ink = np.argwhere((np.abs(image.astype(int) - np.round(np.array(to_rgb(PAPER)) * 255)) > 2).any(axis=-1))
        margins = [*ink.min(axis=0), *(np.array(image.shape[:2]) - 1 - ink.max(axis=0))]
        inches = np.array(margins) / figure_of(axes).dpi
        assert inches == pytest.approx(np.full(4, 0.2), abs=0.12)


def test_few_and_many_look_at_each_other() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(200), 5)
    picture = MapPicture(
        title="",
        labels_query=list("abcde"),
        labels_key=[f"w{number}" for number in range(200)],
        weights=weights,
        allowed=np.ones((5, 200), dtype=bool),
        first=None,
    )
    axes = plot_map(picture)
    assert "blank" not in axes.texts[0].get_text()
    assert len(axes.get_yticklabels()) == 5
