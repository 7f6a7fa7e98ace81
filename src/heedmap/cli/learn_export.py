"""`heedmap learn export`: the course as notebooks, or as a site that works from a folder."""

from __future__ import annotations

from pathlib import Path

import click

from heedmap.cli.common import note
from heedmap.cli.learn import lessons_option, load


@click.command("export")
@click.option("--site", type=click.Path(path_type=Path), metavar="DIR", help="Write a page for each lesson.")
@click.option("--notebook", type=click.Path(path_type=Path), metavar="DIR", help="Write a notebook for each lesson.")
@click.option("--lesson", "wanted", multiple=True, metavar="LESSON", help="Only this lesson; may be given again.")
@click.option("--answers", is_flag=True, help="With the answers, for a teacher.")
@lessons_option
def command(
    site: Path | None, notebook: Path | None, wanted: tuple[str, ...], answers: bool, folder: Path | None
) -> None:
    """Write the course for a class: a site, notebooks, or both.

    The site is a folder of HTML files that need no server and no network: open index.html. Exercises are checked in
    the browser, by the same rules as here. Notebooks compute every figure again when they are run.

    Without --answers nothing shows them; what the pages check by is in them all the same, for who looks at the source.

    \b
    heedmap learn export --site class/
    heedmap learn export --site teacher/ --notebook teacher/ --answers
    """
    from heedmap.cli.learn_commands import calculator
    from heedmap.lessons.notebook import write_notebooks
    from heedmap.lessons.site.write import write_site

    if site is None and notebook is None:
        raise click.UsageError("say what to write: --site DIR, --notebook DIR, or both")
    course = load(folder)
    lessons = [course.find(one) for one in wanted] or list(course.lessons)
    figures = calculator()
    if site is not None:
        written = write_site(site, lessons, figures, answers=answers)
        note(f"{len(written)} pages in {site}: open {site / 'index.html'}")
    if notebook is not None:
        written = write_notebooks(notebook, lessons, figures, answers=answers)
        note(f"{len(written)} notebooks in {notebook}")
