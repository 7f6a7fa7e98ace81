"""What the site's program needs to check answers: right and wrong numbers of every question and exercise, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heedmap.errors import HeedmapError
from heedmap.lessons import blocks
from heedmap.lessons.exercises.problem import Answer, Problem, Step
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator
from heedmap.lessons.practice import question
from heedmap.lessons.questions import checkpoint_step, figure_of, filled_options
from heedmap.lessons.site.text import inline, paragraphs

SCHEMA = "heedmap/lesson/1"
EACH = 24
"""So many exercises of a kind are carried by a page; `heedmap learn exercise` makes them without end."""


def lesson_data(lesson: blocks.Lesson, calculator: Calculator) -> dict[str, Any]:
    """All that is checked on the page of one lesson."""
    return {
        "schema": SCHEMA,
        "slug": lesson.slug,
        "checkpoints": {
            piece.name: {"within": piece.within, **step_data(checkpoint_step(piece, lesson, calculator), [], [])}
            for piece in lesson.pieces
            if isinstance(piece, blocks.Checkpoint)
        },
        "predictions": {
            piece.name: _prediction(piece, lesson, calculator)
            for piece in lesson.pieces
            if isinstance(piece, blocks.Predict)
        },
        "quiz": {
            piece.name: [
                {"right": one.right, "reason": inline(calculator.fill(one.reason, lesson, piece.line))}
                for one in piece.options
            ]
            for piece in lesson.pieces
            if isinstance(piece, blocks.Quiz)
        },
        "exercises": {
            f"{piece.generator} {piece.level}": [
                problem_data(generator(piece.generator).problem(piece.level, seed)) for seed in range(1, EACH + 1)
            ]
            for piece in lesson.pieces
            if isinstance(piece, blocks.Exercise)
        },
    }


def _prediction(piece: blocks.Predict, lesson: blocks.Lesson, calculator: Calculator) -> dict[str, Any]:
    """What happens, and how near a predicted number counts as right."""
    was = figure_of(piece.answer, piece, lesson, calculator)
    options = list(filled_options(piece, lesson, calculator))
    return {"options": options, "was": was.text, "value": was.value, "within": piece.within}


def problem_data(problem: Problem) -> dict[str, Any]:
    """One exercise: what is given, and its steps."""
    exact, rounded = problem.exact(), problem.rounded()
    steps = [
        {**step_data(step, exact[:index], rounded[:index]), "asks": inline(question(problem, index))}
        for index, step in enumerate(problem.steps)
    ]
    return {"seed": problem.seed, "text": paragraphs(problem.text), "steps": steps}


def step_data(step: Step, exact: Sequence[Answer], rounded: Sequence[Answer]) -> dict[str, Any]:
    """One step: what is right from exact and from rounded steps before, and the same for each known mistake."""
    mistakes = []
    for mistake in step.mistakes:
        chains = [_worked(mistake.work, chain) for chain in (exact, rounded)]
        if None not in chains:
            mistakes.append({"name": mistake.name, "says": mistake.says, "chains": chains})
    return {
        "name": step.name,
        "hint": inline(step.hint),
        "digits": step.digits,
        "labels": list(step.labels),
        "options": list(step.options),
        "chains": [_numbers(step.work(exact)), [round(one, step.digits) for one in _numbers(step.work(rounded))]],
        "mistakes": mistakes,
        **({} if step.follows is None else {"follows": dict(step.follows)}),
    }


def _numbers(values: Sequence[float]) -> list[float]:
    """Numbers as JSON has them; nobody types more digits than these."""
    return [round(float(one), 9) for one in values]


def _worked(work: Any, chain: Sequence[Answer]) -> list[float] | None:
    """The numbers of a mistake, or `None` where it leads to none."""
    try:
        return _numbers(work(chain))
    except (HeedmapError, ArithmeticError):
        return None
