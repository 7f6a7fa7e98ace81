"""The terminal: how wide it is, whether it takes colour, and which characters it can show."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import NamedTuple, TextIO

from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from heedmap.controls import without_controls
from heedmap.drawing.labels import printable
from heedmap.drawing.palette import shade
from heedmap.whole_numbers import whole_number

DEFAULT_WIDTH = 80


class Glyphs(NamedTuple):
    """The characters that pictures are made of.

    Attributes:
        ellipsis: stands for what was cut off.
        bar: a bar's last cell, from the thinnest to the full one.
        shades: a map's cell without colour, from next to nothing to the most.
    """

    ellipsis: str
    bar: str
    shades: str

    def drawn_bar(self, cells: float) -> str:
        """A bar of this length, rounded to the thinnest step there is.

        Example:
            >>> UNICODE.drawn_bar(2.5), ASCII.drawn_bar(2.5 + 0.1)
            ('██▌', '###')
        """
        full, part = divmod(round(cells * len(self.bar)), len(self.bar))
        return self.bar[-1] * full + (self.bar[part - 1] if part else "")


UNICODE = Glyphs(ellipsis="…", bar="▏▎▍▌▋▊▉█", shades="·░▒▓█")
ASCII = Glyphs(ellipsis="..", bar="#", shades=".:+x#")


def glyphs_for(encoding: str) -> Glyphs:
    """The characters that an encoding can show.

    Example:
        >>> glyphs_for("utf-8").bar[-1], glyphs_for("ascii").bar[-1]
        ('█', '#')
    """
    try:
        "".join(UNICODE).encode(encoding)
    except UnicodeEncodeError:
        return ASCII
    return UNICODE


class _TamedConsole(Console):
    """A console that writes out what would steer the terminal: names and texts come from anybody's files."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of a picture, those of its text without control characters."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else without_controls(text), style, control)


def console(stderr: bool = False) -> Console:
    """The console that commands print on.

    There is no colour and no control code where NO_COLOR is set, the terminal is dumb, or the stream is not a
    terminal; then the width is COLUMNS, or 80. What the stream cannot encode is written as an escape.

    Args:
        stderr: notes go there, data to stdout.
    """
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
        stream.reconfigure(errors="backslashreplace")
    wants_none = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in ("dumb", "unknown")
    return _TamedConsole(
        file=stream,
        color_system=None if wants_none else "auto",
        width=_width(stream),
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        force_jupyter=False,  # text goes to the stream in a notebook too, where rich would show a cell of its own
    )


def _width(stream: TextIO) -> int:
    """How many cells a line has: COLUMNS, the terminal's own answer, or 80."""
    columns = whole_number(os.environ.get("COLUMNS", ""))
    if columns:
        return columns
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError, AttributeError):  # not a terminal, closed, or no file at all
        return DEFAULT_WIDTH


def to_text(renderable: RenderableType, width: int = DEFAULT_WIDTH) -> str:
    """A picture as plain text, without colour and without the last line break, for `str()` and for files.

    Example:
        >>> to_text(Text("four words"))
        'four words'
    """
    page = io.StringIO()
    plain = Console(
        file=page, color_system=None, width=width, markup=False, emoji=False, highlight=False, force_jupyter=False
    )
    plain.print(renderable)
    return page.getvalue().rstrip("\n")


def line(text: str, encoding: str, style: str = "") -> Text:
    """A sentence around the picture: made safe, and wrapped where it is longer than the line."""
    return Text(printable(text, encoding), style=style, overflow="fold")


def in_colour(console: Console) -> bool:
    """Whether shades can be told apart: sixteen colours are too few for a scale."""
    return console.color_system in ("256", "truecolor") and not console.no_color


def background(value: float, scale: tuple[str, ...], numbers: tuple[int, ...], console: Console) -> Style:
    """The style of a cell that holds this share of the scale.

    Args:
        value: from 0 to 1.
        scale: the stops of the scale, for terminals of many colours.
        numbers: the steps of the scale, for terminals of 256 colours.
        console: what is drawn on.
    """
    if console.color_system == "256":
        step = min(int(value * len(numbers)), len(numbers) - 1)
        return Style(bgcolor=Color.from_ansi(numbers[step]))
    red, green, blue = (float(channel) * 255 for channel in shade(value, scale))
    return Style(bgcolor=Color.from_rgb(round(red), round(green), round(blue)))
