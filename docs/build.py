"""Writes the generated parts of README and docs: command outputs, the command reference, the picture.

`make docs` writes them; tests/test_docs.py builds them again and fails when what is committed is stale.

A block fenced as `console` holds lines `$ heedmap ...`, each followed by what it prints on an 80 column line. A command
may end in `| head -N`; its output is cut there and `...` says so.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import click

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "cli.md"
CONFORMANCE = ROOT / "docs" / "conformance.md"
PICTURE = ROOT / "docs" / "images" / "trophy.png"
TROPHY = "The trophy did not fit in the suitcase because it was too big."

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """The files with blocks of commands."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def refreshed(text: str, run: Callable[[str], str]) -> str:
    """A document with every `console` block run again."""

    def again(match: re.Match[str]) -> str:
        commands = [line for line in match.group(1).splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{run(line[2:])}" for line in commands) + "```"

    return _BLOCK.sub(again, text)


@contextlib.contextmanager
def _plain_terminal() -> Iterator[io.StringIO]:
    """Standard output as text of 80 columns without colour; standard error is dropped."""
    page = io.StringIO()
    surroundings = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    with (
        patch.dict(os.environ, surroundings),
        contextlib.redirect_stdout(page),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield page


def run_command(line: str) -> str:
    """What a `heedmap` command prints."""
    from heedmap.cli.main import main

    command, _, pipe = line.partition(" | ")
    program, *arguments = shlex.split(command)
    if program != "heedmap":
        raise ValueError(f"only heedmap commands are run in documents, not {line!r}")
    with _plain_terminal() as page:
        code = main(arguments)
    if code != 0:
        raise RuntimeError(f"exit code {code}: {line}")
    lines = [one.rstrip() for one in page.getvalue().splitlines()]
    if pipe:
        wanted = int(pipe.removeprefix("head -"))
        lines = [*lines[:wanted], "..."] if len(lines) > wanted else lines
    return "".join(f"{one}\n" for one in lines)


def command_reference() -> str:
    """The help of every command as one page."""
    from heedmap.cli.main import heedmap

    pages = ["# Command reference", "", "Written by `make docs` from the commands' own help.", ""]

    def describe(name: str, command: click.Command, parent: click.Context | None = None) -> None:
        settings = {"terminal_width": 80, "max_content_width": 80, **command.context_settings}
        context = click.Context(command, info_name=name, parent=parent, **settings)
        pages.extend([f"## `{context.command_path}`", "", "```text", command.get_help(context), "```", ""])
        if isinstance(command, click.Group):
            for inner_name in command.list_commands(context):
                inner = command.get_command(context, inner_name)
                assert inner is not None
                describe(inner_name, inner, context)

    describe("heedmap", heedmap)
    return "\n".join(line.rstrip() for line in "\n".join(pages).splitlines()) + "\n"


def conformance_page() -> str:
    """The families that are read, each with its agreement with eager attention, measured now."""
    sys.path.insert(0, str(ROOT))
    from docs.conformance import measured, page

    return page(measured)


def draw_picture(path: Path) -> None:
    """The map of the trophy sentence that opens the README."""
    import heedmap
    from heedmap.drawing.figures import plot_map, save_figure
    from heedmap.drawing.readings import map_picture

    reading = heedmap.load("smollm2").read(TROPHY, layers=16)
    it_looks_at_trophy = (10, 1)
    figure = plot_map(map_picture(reading.map(16, 3)), highlight=it_looks_at_trophy).get_figure()
    assert figure is not None
    path.parent.mkdir(exist_ok=True)
    save_figure(figure, path)


def take_screenshots() -> None:
    """The pictures of the page, where Chromium and the page's program are."""
    sys.path.insert(0, str(ROOT))
    from docs.screenshots import write

    write()


def write_lessons() -> None:
    """The figures of the course that need a model, and the tables of what lessons may compute and practise."""
    from heedmap.cli.learn_commands import build_figures
    from heedmap.lessons.describe import refreshed as lessons_refreshed

    build_figures()
    page = ROOT / "docs" / "lessons.md"
    page.write_text(lessons_refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")


def build() -> None:
    """Write everything."""
    write_lessons()
    REFERENCE.write_text(command_reference(), encoding="utf-8")
    CONFORMANCE.write_text(conformance_page(), encoding="utf-8")
    draw_picture(PICTURE)
    take_screenshots()
    for path in documents():
        path.write_text(refreshed(path.read_text(encoding="utf-8"), run_command), encoding="utf-8")


if __name__ == "__main__":
    build()
