"""`heedmap learn check`: a learner's code against the published vectors, or a teacher's lesson file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedmap.cli.common import note, print_json
from heedmap.errors import LessonError

if TYPE_CHECKING:
    from heedmap.lessons.code.judge import Report

SCHEMA = "heedmap/code/1"
EXIT_WRONG = 3
MARKS = {"right": "ok", "wrong": "not yet", "missing": "-"}


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--function", "functions", multiple=True, metavar="NAME", help="Only this function; may be given again.")
@click.option(
    "--seconds", type=click.FloatRange(0.1, 600), default=10.0, show_default=True, help="The most time it may take."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(files: tuple[Path, ...], functions: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Check your own code (.py), or a lesson file (.md).

    Of a .py file, these functions are run in a process of their own, with a limit on time and memory, against the
    published vectors, and the step that first goes wrong is named; write as many of them as you like. Exits with 3
    when one is wrong.

    \b
      dot_product(a, b)                a number
      softmax(xs)                      a list of weights
      weighted_average(weights, values)
      attend(query, keys, values)      the output; or (weights, output); or a
                                       dict with products, scores, weights, output
      attend_all(queries, keys, values)  a whole sentence that looks backwards only

    Of a .md file, every broken block is named with its line, and every figure is computed.

    \b
    heedmap learn check mine.py
    heedmap learn check my-lessons/17-our-text.md
    """
    codes = [file for file in files if file.suffix == ".py"]
    lessons = [file for file in files if file.suffix == ".md"]
    other = [file for file in files if file not in (*codes, *lessons)]
    if other:
        raise click.UsageError(f"expected .py or .md files, found {other[0]}")
    failed = False
    for file in codes:
        failed |= not _check_code(file, functions, seconds, as_json)
    for file in lessons:
        _check_lesson(file)
    if failed:
        raise click.exceptions.Exit(EXIT_WRONG)


def _check_code(file: Path, functions: tuple[str, ...], seconds: float, as_json: bool) -> bool:
    """Check one file of code; whether all that is there is right."""
    from heedmap.lessons.code.cases import SIGNATURES
    from heedmap.lessons.code.judge import check_code

    report = check_code(file, functions or tuple(SIGNATURES), seconds=seconds)
    if as_json:
        print_json(_as_json(file, report))
    else:
        _print(file, report)
    _keep([one.function for one in report.judgements if one.outcome == "right"])
    return report.all_right


def _print(file: Path, report: Report) -> None:
    """The report as text."""
    if report.printed:
        note("your program printed:\n" + "\n".join(f"  {line!r}"[:200] for line in report.printed.splitlines()))
    if report.problem:
        click.echo(f"{file}: {report.problem}")
    for one in report.judgements:
        click.echo(f"{MARKS[one.outcome]:7}  {one.function}: {one.says}")


def _as_json(file: Path, report: Report) -> dict[str, object]:
    """The report as JSON."""
    functions = [
        {"function": one.function, "outcome": one.outcome, "says": one.says, "step": one.step, "mistake": one.mistake}
        for one in report.judgements
    ]
    return {
        "schema": SCHEMA,
        "file": str(file),
        "right": report.all_right,
        "problem": report.problem or None,
        "printed": report.printed,
        "functions": functions,
    }


def _keep(right: list[str]) -> None:
    """Remember what was written rightly, in the lessons that ask for it."""
    from heedmap.lessons.blocks import Code
    from heedmap.lessons.course import load_course
    from heedmap.lessons.progress import Progress

    progress = Progress()
    for lesson in load_course().lessons if right else ():
        asked = {piece.function for piece in lesson.pieces if isinstance(piece, Code)}
        if asked & set(right):
            with progress.changing(lesson.slug) as kept:
                kept["code"] = sorted({*kept.get("code", []), *(asked & set(right))})


def _check_lesson(file: Path) -> None:
    """Check one lesson file.

    Raises:
        LessonError: something is wrong with it; a line for each.
    """
    from heedmap.cli.learn_commands import calculator
    from heedmap.lessons.check import check_lesson, typed_figures
    from heedmap.lessons.parse import parse_file

    lesson = parse_file(file)
    problems = check_lesson(lesson, calculator())
    if problems:
        raise LessonError("\n".join(problems))
    click.echo(f"{file}: lesson {lesson.number}, “{lesson.title}”: {len(lesson.pieces)} blocks, nothing wrong")
    missing = lesson.missing()
    if missing:
        note(f"a lesson of the course would also have: {', '.join(missing)}")
    for line, number in typed_figures(file.read_text(encoding="utf-8")):
        note(f"{file}:{line}: a lesson of the course would compute {number}")
