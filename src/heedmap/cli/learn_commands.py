"""Runs `heedmap` commands for the course and hands over what they print; models stay loaded from one to the next."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from heedmap.cli.common import note
from heedmap.cli.options import LoadModel
from heedmap.errors import HeedmapError, LessonError
from heedmap.lessons.figures import SHIPPED, Calculator, Kept, calls_of, write_figures
from heedmap.lessons.live import split_call
from heedmap.lessons.live_model import load_once
from heedmap.lessons.show import INDENT

COLUMNS = 80 - INDENT
"""How wide the outputs in lessons are: they fit a terminal of 80 columns with the indentation of lessons."""


def run_command(arguments: list[str]) -> str:
    """What a command prints on a narrow terminal without colour.

    Args:
        arguments: without the word `heedmap` itself.

    Raises:
        LessonError: it failed.
    """
    from heedmap.cli.main import heedmap

    page = io.StringIO()
    try:
        with plain_terminal(), contextlib.redirect_stdout(page), contextlib.redirect_stderr(io.StringIO()):
            heedmap.main(args=arguments, prog_name="heedmap", standalone_mode=False, obj=LoadModel(load_once))
    except (HeedmapError, click.ClickException, click.exceptions.Exit) as error:
        said = error.format_message() if isinstance(error, click.ClickException) else str(error)
        raise LessonError(f"`heedmap {shlex.join(arguments)}` failed: {said}") from None
    return page.getvalue()


@contextlib.contextmanager
def plain_terminal() -> Iterator[None]:
    """COLUMNS and NO_COLOR set for the time of the block."""
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS=str(COLUMNS), NO_COLOR="1")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def calculator(*, anew: bool = False) -> Calculator:
    """What computes the live numbers of lessons, with what was kept from before.

    Args:
        anew: whether nothing kept is to be used.
    """
    from heedmap.models.places import cache_folder

    own = cache_folder() / "lessons" / "figures.json"
    kept = Kept(None, shipped=None) if anew else Kept(own)
    return Calculator(run_command, kept, tell=lambda what: note(f"heedmap: {what}"))


def build_figures(path: Path = SHIPPED) -> None:
    """Compute every figure of the course that needs a model, and write the file that the package carries."""
    from heedmap.lessons.course import load_course

    fresh = calculator(anew=True)
    for lesson in load_course().lessons:
        for call, line in calls_of(lesson).items():
            if split_call(call)[0].model:
                fresh.figure(call, lesson, line)
    write_figures(path, fresh.kept.figures)
