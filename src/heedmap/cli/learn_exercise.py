"""`heedmap learn exercise`: exercises without end, worked in a dialogue or checked in one go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, show
from heedmap.cli.learn import lessons_option, load

if TYPE_CHECKING:
    from heedmap.lessons.exercises.checking import Verdict
    from heedmap.lessons.exercises.problem import Problem

SCHEMA = "heedmap/exercise/1"
EXIT_WRONG = 3


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The generators whose names begin so, for the shell."""
    from heedmap.lessons.exercises.registry import GENERATORS

    return [name for name in GENERATORS if name.startswith(incomplete)]


@click.command("exercise")
@click.argument("generator", required=False, shell_complete=_complete, metavar="[GENERATOR]")
@click.argument("level", type=click.IntRange(1, 3), default=1, metavar="[LEVEL]")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Which one; the same number is the same exercise.")
@click.option(
    "--answer", "answers", multiple=True, metavar="NUMBERS", help="The answer of a step, in order; again for the next."
)
@click.option("--solution", is_flag=True, help="Print the answers of all steps.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; asks nothing.")
@lessons_option
def command(
    generator: str | None,
    level: int,
    seed: int | None,
    answers: tuple[str, ...],
    solution: bool,
    as_json: bool,
    folder: Path | None,
) -> None:
    """Exercises without end. Without GENERATOR, lists what there is.

    At a terminal you are asked step by step; a wrong step is told so, and usual mistakes are named. Elsewhere the
    exercise is printed, and --answer checks what you worked out. Exits with 3 when a step is wrong.

    \b
    heedmap learn exercise attend 2
    heedmap learn exercise attend 2 --seed 7
    heedmap learn exercise scale --seed 3 --answer 1.06
    """
    from heedmap.lessons.exercises.registry import GENERATORS
    from heedmap.lessons.exercises.registry import generator as find
    from heedmap.lessons.progress import Progress
    from heedmap.lessons.session import Left, lessons_with, next_seed

    if generator is None:
        _list(as_json, list(GENERATORS.values()))
        return
    kind = find(generator)
    progress = Progress()
    lessons = lessons_with(load(folder).lessons, generator, level)
    key = f"{generator} {level}"
    if seed is None:
        seed = max([1, *(next_seed(progress.lesson(slug), key) for slug in lessons)])
    talking = sys.stdin.isatty() and sys.stdout.isatty() and not (answers or solution or as_json)
    if talking:
        from heedmap.drawing.terminal import console
        from heedmap.lessons.practice import practise

        try:
            practise(generator, level, seed, console(), _ask, progress, lessons)
        except (Left, EOFError):
            note("left; the same exercise comes again with " + f"`heedmap learn exercise {key} --seed {seed}`")
        return
    _at_once(kind.problem(level, seed), answers, solution, as_json)


def _ask(prompt: str) -> str:
    """A line from the learner; `q` leaves."""
    from heedmap.lessons.session import Left

    line = input(prompt).strip()
    if line == "q":
        raise Left
    return line


def _list(as_json: bool, kinds: Sequence[Any]) -> None:
    """What there is to practise."""
    if as_json:
        listed = [{"name": kind.name, "says": kind.says, "levels": list(kind.levels)} for kind in kinds]
        print_json({"schema": "heedmap/exercises/1", "exercises": listed})
        return
    name, says = (max(len(getattr(kind, part)) for kind in kinds) for part in ("name", "says"))
    for kind in kinds:
        click.echo(
            f"{kind.name:{name}}  {kind.says:{says}}  1 {kind.levels[0]}; 2 {kind.levels[1]}; 3 {kind.levels[2]}"
        )


def _at_once(problem: Problem, answers: Sequence[str], solution: bool, as_json: bool) -> None:
    """Print the exercise, and check the answers given."""
    from heedmap.lessons.exercises.checking import check_all, summary

    verdicts = check_all(problem, answers)
    if as_json:
        print_json(_as_json(problem, verdicts, solution))
    else:
        _print(problem, verdicts, solution)
        if answers:
            click.echo(summary(problem, verdicts))
    if len(answers) > len(problem.steps):
        note(f"this exercise has {len(problem.steps)} steps; {len(answers)} answers were given")
    if any(not verdict.is_right for verdict in verdicts):
        raise click.exceptions.Exit(EXIT_WRONG)


def _print(problem: Problem, verdicts: Sequence[Verdict], solution: bool) -> None:
    """The exercise as text, with what is to be said about each answer."""
    from rich.markdown import Markdown

    from heedmap.lessons.practice import question

    note(f"exercise {problem.generator}, level {problem.level}, number {problem.seed}")
    show(Markdown(problem.text))
    for index in range(len(problem.steps)):
        show(Markdown(question(problem, index)))
        if index < len(verdicts):
            click.echo(f"   {verdicts[index].says}")
        if solution:
            click.echo(f"   {problem.shown(index)}")


def _as_json(problem: Problem, verdicts: Sequence[Verdict], solution: bool) -> dict[str, Any]:
    """The exercise, and the verdicts, as JSON."""
    steps: list[dict[str, Any]] = []
    exact = problem.exact()
    for index, step in enumerate(problem.steps):
        one: dict[str, Any] = {
            "name": step.name,
            "question": step.question,
            "hint": step.hint,
            "labels": list(step.labels),
            "options": list(step.options),
            "digits": step.digits,
        }
        if solution:
            one["answer"] = step.options[int(exact[index][0])] if step.options else list(exact[index])
        if index < len(verdicts):
            found = verdicts[index]
            one["verdict"] = {"outcome": found.outcome, "says": found.says, "mistake": found.mistake}
        steps.append(one)
    head = {"generator": problem.generator, "level": problem.level, "seed": problem.seed, "text": problem.text}
    return {"schema": SCHEMA, **head, "steps": steps}
