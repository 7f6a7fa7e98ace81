"""`heedmap learn`: the course in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, show
from heedmap.errors import LessonError

if TYPE_CHECKING:
    from heedmap.lessons.blocks import Lesson
    from heedmap.lessons.course import Course

SCHEMA = "heedmap/course/1"
WORDS_SCHEMA = "heedmap/words/1"

COMMANDS = {
    "answer": "heedmap.cli.learn_answer",
    "check": "heedmap.cli.learn_check",
    "exercise": "heedmap.cli.learn_exercise",
    "export": "heedmap.cli.learn_export",
}
"""Subcommands with a file of their own."""

lessons_option = click.option(
    "--lessons",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder with lessons of your own, sorted in.",
)


def load(folder: Path | None) -> Course:
    """The course, with a teacher's own lessons."""
    from heedmap.lessons.course import load_course

    return load_course(folder)


class Learn(click.Group):
    """A group in which `heedmap learn 3` means `heedmap learn read 3`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Subcommands of this file and of the others."""
        return sorted([*super().list_commands(ctx), *COMMANDS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A subcommand; its file is imported only when it is used."""
        if cmd_name in COMMANDS:
            from importlib import import_module

            found = import_module(COMMANDS[cmd_name]).command
            assert isinstance(found, click.Command)
            return found
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """What is no subcommand is a lesson."""
        if args and self.get_command(ctx, args[0]) is None:
            args = ["read", *args]
        return super().resolve_command(ctx, args)


@click.group("learn", cls=Learn, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@lessons_option
@click.pass_context
def command(context: click.Context, as_json: bool, folder: Path | None) -> None:
    """The course: from four words worked by hand to why a picture of attention proves little.

    Without a lesson, lists them all, with what you have done.

    \b
    heedmap learn                     the lessons
    heedmap learn 1                   read lesson 1, page by page; goes on where you left
    heedmap learn exercise attend 2   exercises without end, checked step by step
    heedmap learn check mine.py       is my own code right?
    """
    if context.invoked_subcommand is not None:
        return
    from heedmap.lessons.goals import ticked
    from heedmap.lessons.progress import Progress

    course, progress = load(folder), Progress().read()
    done = progress["lessons"]
    if as_json:
        listed = [_as_json(lesson, done.get(lesson.slug, {})) for lesson in course.lessons]
        print_json({"schema": SCHEMA, "last": progress["last"], "lessons": listed})
        return
    width = max(len(lesson.title) for lesson in course.lessons)
    for lesson in course.lessons:
        reached, goals = ticked(lesson, done.get(lesson.slug, {}))
        minutes = f"{lesson.minutes:3} min" if lesson.minutes else ""
        state = f"{reached}/{goals} goals" if lesson.slug in done else ""
        click.echo(f"{lesson.number:3}  {lesson.title:{width}}  {minutes:7}  {state}".rstrip())
    last = next((lesson for lesson in course.lessons if lesson.slug == progress["last"]), None)
    start = last or (course.lessons[0] if course.lessons else None)
    if start is not None:
        note(f"`heedmap learn {start.number}` {'goes on' if last else 'begins'} with “{start.title}”")


@command.command("read")
@click.argument("lesson", metavar="LESSON")
@click.option("--page", type=click.IntRange(1), metavar="N", help="Begin with this page (from 1).")
@click.option("--answers", is_flag=True, help="Print everything, with the answers; asks nothing.")
@lessons_option
def read(lesson: str, page: int | None, answers: bool, folder: Path | None) -> None:
    """Read LESSON, a number or the beginning of its name, page by page.

    Questions are asked where they stand, predictions are kept and compared, and the next call goes on where you left.
    Where there is no terminal to ask at, the whole lesson is printed (or the one page), and `heedmap learn answer`
    takes the answers.
    """
    from heedmap.cli.learn_commands import calculator

    course = load(folder)
    chosen = course.find(lesson)
    if answers or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _print_all(chosen, page, answers)
        return
    from heedmap.drawing.terminal import console
    from heedmap.lessons.progress import Progress
    from heedmap.lessons.session import Session

    session = Session(chosen, calculator(), Progress(), console(), input)
    ended = session.run(None if page is None else page - 1)
    following = course.after(chosen)
    if ended and following is not None:
        note(f"`heedmap learn {following.number}` begins the next: “{following.title}”")


def _print_all(lesson: Lesson, page: int | None, answers: bool) -> None:
    """A whole lesson, or one page, with nothing asked."""
    from heedmap.cli.learn_commands import calculator
    from heedmap.drawing.terminal import console
    from heedmap.lessons.progress import Progress
    from heedmap.lessons.show import Shower, pages

    screen = console()
    shower = Shower(lesson, calculator(), screen.encoding, answers=answers)
    every = pages(lesson)
    if page is not None and page > len(every):
        raise LessonError(
            f"lesson {lesson.number} has {len(every)} pages, there is no page {page}: take 1 to {len(every)}"
        )
    done = Progress().lesson(lesson.slug)
    for index, part in enumerate(every, 1):
        if page is None or page == index:
            screen.print(shower.heading(f"{part.title}  ({index}/{len(every)})"), "")
            for piece in part.pieces:
                screen.print(shower.piece(piece, done))


@command.command("quiz")
@click.argument("lesson", metavar="LESSON")
@lessons_option
def quiz(lesson: str, folder: Path | None) -> None:
    """The quiz of LESSON alone; a wrong answer is told why."""
    from heedmap.cli.learn_commands import calculator
    from heedmap.drawing.terminal import console
    from heedmap.lessons.progress import Progress
    from heedmap.lessons.session import Left, Session

    chosen = load(folder).find(lesson)
    session = Session(chosen, calculator(), Progress(), console(), input if sys.stdin.isatty() else _next_line)
    try:
        right, count = session.quiz()
    except (Left, EOFError):
        note("kept as far as it went")
        return
    click.echo(f"{right} of {count} right at once" if count else f"lesson {chosen.number} has no quiz")


def _next_line(prompt: str) -> str:
    """A line of standard input, where nobody sees a prompt."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    click.echo(prompt + line.rstrip("\n"))
    return line


@command.command("words")
@click.argument("word", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a list.")
@lessons_option
def words(word: str | None, as_json: bool, folder: Path | None) -> None:
    """The glossary of the course, or one WORD of it."""
    from heedmap.arithmetic.names import nearest
    from heedmap.drawing.terminal import line

    glossary = load(folder).glossary
    if word is not None:
        found = {term: entry for term, entry in glossary.items() if term.casefold() == word.casefold()}
        if not found:
            raise LessonError(
                f"the course does not explain {word!r}{nearest(word, glossary)}; `heedmap learn words` lists all"
            )
        glossary = found
    if as_json:
        listed = [{"word": term, "means": says, "lesson": lesson.number} for term, (says, lesson) in glossary.items()]
        print_json({"schema": WORDS_SCHEMA, "words": listed})
        return
    for term, (says, lesson) in glossary.items():
        show(line(f"{term}: {says} (lesson {lesson.number})", sys.stdout.encoding or "utf-8"))


@command.command("forget")
@click.argument("lesson", required=False, metavar="[LESSON]")
@click.option("--yes", is_flag=True, help="Do not ask.")
@lessons_option
def forget(lesson: str | None, yes: bool, folder: Path | None) -> None:
    """Forget what you have done: in LESSON, or in the whole course."""
    from heedmap.lessons.progress import Progress

    chosen = None if lesson is None else load(folder).find(lesson)
    what = "the whole course" if chosen is None else f"lesson {chosen.number}"
    if not yes:
        click.confirm(f"Forget all answers and predictions of {what}?", abort=True)
    Progress().forget(None if chosen is None else chosen.slug)
    note(f"forgotten: {what}")


def _as_json(lesson: Lesson, done: dict[str, Any]) -> dict[str, Any]:
    """One lesson and what was done of it."""
    from heedmap.lessons.goals import goals_of, is_ticked

    goals = [
        {"deed": " ".join(goal.deed), "text": goal.text, "done": is_ticked(goal, lesson, done)}
        for goal in goals_of(lesson)
    ]
    return {
        "number": lesson.number,
        "name": lesson.slug,
        "title": lesson.title,
        "minutes": lesson.minutes,
        "point": lesson.point,
        "file": str(lesson.path),
        "goals": goals,
        "done": done,
    }
