"""Parts against layers, and against places, as figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from heedmap.drawing.canvas import save_figure
from heedmap.drawing.palette import BLUE, SAND, channels
from heedmap.drawing.span_figure import MOST_NUMBERED, plot_span_layers, plot_span_places
from heedmap.reading.permute import PermutedSpans
from tests.drawing.making import HARD
from tests.drawing.span_making import shares_of


def colours(axes: object) -> np.ndarray:
    """[row, column, red green blue opacity] of the cells."""
    (mesh,) = [one for one in axes.collections if isinstance(one, QuadMesh)]  # type: ignore[attr-defined]
    cells: np.ndarray = np.asarray(mesh.get_array())
    return cells


def test_colours_follow_the_numbers() -> None:
    shares = shares_of(["a", "b", "c"], layers=5)
    axes = shares.plot()
    found = colours(axes)
    assert found.shape == (5, 5, 4)
    times = np.array([[shares.table(layer)[number].times or 0 for number in (1, 2, 3, 4)] for layer in range(5)])
    dark = 1 - found[:, 1:, :3].mean(-1)
    order = np.argsort(times.ravel())
    assert (np.diff(dark.ravel()[order]) >= -1e-9).all()
    most = np.unravel_index(times.argmax(), times.shape)
    np.testing.assert_allclose(found[:, 1:][most][:3], channels(BLUE[-1]), atol=1e-6)
    # Sand from 0 to 1 for the first token, whatever the others are.
    top = shares.table(0)[0].share
    assert top is not None
    stops = np.linspace(0, 1, len(SAND))
    expected = [np.interp(top, stops, [channels(stop)[channel] for stop in SAND]) for channel in range(3)]
    np.testing.assert_allclose(found[0, 0, :3], expected, atol=1e-6)


def test_each_cell_has_its_number_while_they_are_few() -> None:
    axes = shares_of(["a", "b"], layers=2).plot()
    assert len([text for text in axes.texts if text.get_text().replace(".", "").isdecimal()]) == 2 * 4
    many = shares_of([f"part {number}" for number in range(MOST_NUMBERED)], layers=2).plot()
    assert not [text for text in many.texts if text.get_text().replace(".", "").isdecimal()]


def test_what_cannot_be_seen_is_blank() -> None:
    shares = shares_of(["a", "b"], layers=2)
    seen = shares.layers[1].seen.copy()
    seen[:, 2] = 0
    axes = replace(shares, layers=(shares.layers[0], replace(shares.layers[1], seen=seen))).plot()
    assert colours(axes)[:, :, 3].tolist() == [[1, 1, 1, 1], [1, 1, 0, 1]]


def test_labels_and_notes_do_not_touch() -> None:
    for names in (["a"], ["a rather long name of a part", "b"], [f"{number}" for number in range(40)]):
        axes = shares_of(names).plot()
        figure = axes.get_figure(root=True)
        assert isinstance(figure, Figure)
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        labels = axes.xaxis.get_tightbbox(renderer)
        notes = [text for text in axes.texts if "ordinary share" in text.get_text() or "looks" in text.get_text()]
        assert labels is not None
        assert notes
        for note in notes:
            assert note.get_window_extent(renderer).y0 >= labels.y1 - 1


def test_into_axes_that_are_there() -> None:
    axes = Figure().add_subplot()
    assert plot_span_layers(shares_of(["a"]), ax=axes) is axes


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_with_hard_names(suffix: str, tmp_path: Path) -> None:
    names = list(dict.fromkeys(name for name in HARD if name.strip()))[:20]
    path = tmp_path / f"spans{suffix}"
    save_figure(shares_of(names).plot(head=1).figure, path)
    assert path.stat().st_size > 1000


def test_documents_against_places() -> None:
    own = shares_of(["a", "b", "c"])
    times = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]])
    found = PermutedSpans(("a", "b", "c"), ((0, 1, 2), (1, 0, 2)), times / 10, times, own)
    axes = plot_span_places(found)
    cells = colours(axes)
    assert cells[:, :, 3].tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["place 1", "place 2", "place 3"]
    numbers = {text.get_text() for text in axes.texts}
    assert {"1.00", "2.00"} <= numbers
    assert to_rgb(BLUE[0]) != tuple(cells[0, 0, :3])
