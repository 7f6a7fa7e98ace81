"""`heedmap learn export`: the course as notebooks, or as a site that works from a folder."""

from __future__ import annotations

from pathlib import Path

import click

from heedmap.cli.common import note
from heedmap.cli.learn import lessons_option, load


@click.command("export")
@click.option(
    "--notebook", "notebooks", type=click.Path(path_type=Path), metavar="DIR", help="Write a notebook for each lesson."
)
@click.option("--lesson", "wanted", multiple=True, metavar="LESSON", help="Only this lesson; may be given again.")
@click.option("--answers", is_flag=True, help="With the answers, for a teacher.")
@lessons_option
def command(notebooks: Path | None, wanted: tuple[str, ...], answers: bool, folder: Path | None) -> None:
    """Write the course for a class.

    Notebooks compute every figure again when they are run; exercises are checked in them.

    \b
    heedmap learn export --notebook class/
    heedmap learn export --notebook teacher/ --answers
    """
    from heedmap.cli.learn_commands import calculator
    from heedmap.lessons.notebook import write_notebooks

    if notebooks is None:
        raise click.UsageError("say where to: --notebook DIR")
    course = load(folder)
    lessons = [course.find(one) for one in wanted] or list(course.lessons)
    written = write_notebooks(notebooks, lessons, calculator(), answers=answers)
    note(f"{len(written)} notebooks in {notebooks}")
