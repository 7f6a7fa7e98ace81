"""`heedmap learn answer`: answers one question of a lesson without a dialogue, from a script or over a slow line."""

from __future__ import annotations

import time
from pathlib import Path

import click

from heedmap.cli.common import print_json, show
from heedmap.cli.learn import lessons_option, load

SCHEMA = "heedmap/answer/1"


@click.command("answer")
@click.argument("lesson", metavar="LESSON")
@click.argument("name", metavar="NAME")
@click.argument("answer", metavar="ANSWER")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@lessons_option
def command(lesson: str, name: str, answer: str, as_json: bool, folder: Path | None) -> None:
    """Answer the checkpoint, prediction or quiz NAME of LESSON, and keep it.

    A prediction is made once, and then run. Exits with 3 when a checkpoint or quiz is answered wrong.

    \b
    heedmap learn answer 1 score-sat 0.52
    heedmap learn answer 1 sharper "nearly all of it"
    """
    from heedmap.cli.learn_commands import calculator
    from heedmap.lessons.answering import answer_question, find_question
    from heedmap.lessons.progress import Progress

    chosen = load(folder).find(lesson)
    piece = find_question(chosen, name)
    result = answer_question(piece, answer, chosen, calculator(), Progress(), time.strftime("%Y-%m-%d"))
    if as_json:
        print_json({"schema": SCHEMA, "lesson": chosen.slug, "name": name, **result})
    else:
        from rich.markdown import Markdown

        show(Markdown(result["says"], hyperlinks=False))
        if "output" in result:
            click.echo(result["output"])
            show(Markdown(result["then"], hyperlinks=False))
    if result["right"] is False and "output" not in result:
        raise click.exceptions.Exit(3)
