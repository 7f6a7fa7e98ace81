"""What the console promises to terminals, dumb terminals, pipes and old encodings."""

from __future__ import annotations

import io
import sys

import pytest
from rich.text import Text

from heedmap.drawing.terminal import ASCII, UNICODE, background, console, glyphs_for, in_colour, to_text

COLOURED = Text("red", "bold #ff0000")


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "COLORTERM", "TTY_COMPATIBLE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def written(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, stderr: bool = False) -> str:
    monkeypatch.setattr(sys, "stderr" if stderr else "stdout", stream)
    console(stderr).print(COLOURED)
    return stream.getvalue()


@pytest.mark.parametrize("stderr", [False, True])
def test_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch, stderr: bool) -> None:
    assert "\x1b[" in written(monkeypatch, Screen(), stderr=stderr)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "unknown")])
def test_no_control_code_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert written(monkeypatch, Screen()) == "red\n"


def test_an_empty_no_color_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b[" in written(monkeypatch, Screen())


def test_a_pipe_gets_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(monkeypatch, io.StringIO()) == "red\n"


@pytest.mark.parametrize(
    ("columns", "width"), [(None, 80), ("", 80), ("0", 80), ("wide", 80), ("-5", 80), ("40", 40), ("200", 200)]
)
def test_the_width_of_a_pipe_is_columns_or_80(monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int) -> None:
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert console().width == width


def test_text_is_never_read_as_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    console().print("[bold]it[/bold] [/nothing] :smile: 12 'x'")
    assert stream.getvalue() == "[bold]it[/bold] [/nothing] :smile: 12 'x'\n"


def test_a_stream_that_cannot_encode_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    console().print("你 is 1")
    sys.stdout.flush()
    assert raw.getvalue() == b"\\u4f60 is 1\n"


def test_a_bar_grows_by_eighths_or_by_whole_characters() -> None:
    assert [UNICODE.drawn_bar(eighths / 8) for eighths in (0, 1, 4, 8, 9)] == ["", "▏", "▌", "█", "█▏"]
    assert [ASCII.drawn_bar(cells) for cells in (0.4, 0.6, 2.0)] == ["", "#", "##"]


def test_glyphs_can_be_encoded() -> None:
    for encoding in ("utf-8", "utf-16", "ascii", "latin-1", "cp1252", "cp437"):
        "".join(glyphs_for(encoding)).encode(encoding)
    assert glyphs_for("utf-8") is UNICODE
    assert glyphs_for("ascii") is ASCII


def test_sixteen_colours_are_too_few_for_shades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    assert in_colour(console())
    monkeypatch.setenv("TERM", "xterm")
    assert not in_colour(console())


def test_256_colours_use_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    steps = [background(value / 4, (), (10, 20, 30, 40), console()).bgcolor for value in range(5)]
    assert [colour.number for colour in steps if colour is not None] == [10, 20, 30, 40, 40]


def test_text_has_no_last_line_break_and_keeps_its_blanks() -> None:
    assert to_text(Text("  a\n\nb")) == "  a\n\nb"


def test_a_notebook_gets_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """There rich would show a cell of its own, and `print(row)` would print an empty line."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert to_text(Text("four words")) == "four words"
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    console().print("four words")
    assert stream.getvalue() == "four words\n"
