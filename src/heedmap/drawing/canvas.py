"""The paper a figure is drawn on: made, fitted around what was drawn, and saved whole or not at all."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from heedmap.drawing.palette import PAPER, QUIET, RULE
from heedmap.errors import FileError
from heedmap.files import write_beside

POINTS = 72.0
"""Points to an inch."""

MARGIN = 0.2
"""Paper around the drawing, in inches."""

PIXELS = 200
"""Dots to an inch in PNG files."""

FORMATS: dict[str, dict[str, str | None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""The file suffixes, and what a file says about itself: no date, so that the same picture is the same file."""


def new_axes(width: float, height: float) -> Axes:
    """Axes of a size in inches on a figure of their own, which `pyplot` does not know and nobody must close."""
    figure = Figure(figsize=(width + 2 * MARGIN, height + 2 * MARGIN), facecolor=PAPER)
    FigureCanvasAgg(figure)
    whole = figure.get_size_inches()
    return figure.add_axes((MARGIN / whole[0], MARGIN / whole[1], width / whole[0], height / whole[1]))


def quiet_frame(axes: Axes) -> None:
    """Paper, thin lines and grey letters, whatever style is in force."""
    axes.set_facecolor(PAPER)
    axes.grid(visible=False)
    axes.tick_params(length=0, labelcolor=QUIET, labelsize=8.5)
    for spine in axes.spines.values():
        spine.set(color=RULE, linewidth=0.8)


def size_of(axes: Axes) -> tuple[float, float]:
    """Width and height of the axes in inches."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return float(axes.bbox.width / figure.dpi), float(axes.bbox.height / figure.dpi)


def fit_paper(axes: Axes) -> None:
    """Give the figure the size of what stands on it, and leave the axes as large as they are."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    on_screen, figure.dpi = figure.dpi, PIXELS  # hinted letters are as wide as in a file at the file's dots alone
    drawn = figure.get_tightbbox(canvas.get_renderer())  # type: ignore[no-untyped-call]
    figure.dpi = on_screen
    old = figure.get_size_inches()
    box = axes.get_position()
    width, height = drawn.width + 2 * MARGIN, drawn.height + 2 * MARGIN
    left = box.x0 * old[0] - drawn.x0 + MARGIN
    bottom = box.y0 * old[1] - drawn.y0 + MARGIN
    axes.set_position((left / width, bottom / height, box.width * old[0] / width, box.height * old[1] / height))
    figure.set_size_inches(width, height)


def save_figure(figure: Figure | SubFigure, path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of the path.

    The file appears whole or not at all. The same figure gives the same SVG, byte for byte. Text is drawn as shapes,
    so that it looks the same everywhere.

    Args:
        figure: what `plot_map(...).figure` or any other matplotlib figure is.
        path: where to; `.png`, `.svg` or `.pdf`.

    Raises:
        FileError: another suffix, or the file cannot be written.

    Example:
        >>> from matplotlib.figure import Figure
        >>> save_figure(Figure(), "map.bmp")
        Traceback (most recent call last):
        ...
        heedmap.errors.FileError: cannot write a picture as map.bmp: use .png, .svg or .pdf (or .npy, .csv, .parquet for the numbers)
    """  # noqa: E501 - the message is one line
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise FileError(
            f"cannot write a picture as {path.name}: use .png, .svg or .pdf (or .npy, .csv, .parquet for the numbers)"
        )
    root = figure.get_figure(root=True)
    assert isinstance(root, Figure)
    with (
        write_beside(path) as beside,
        rc_context({"svg.hashsalt": "heedmap", "svg.fonttype": "path", "pdf.fonttype": 42}),  # 3 loses emoji
    ):
        root.savefig(beside, format=suffix[1:], dpi=PIXELS, metadata=FORMATS[suffix], facecolor=root.get_facecolor())
