"""Checks a lesson beyond its form: every computation can be done, every answer can be given, every name exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heedmap.errors import HeedmapError, LessonError
from heedmap.lessons import blocks
from heedmap.lessons.code.cases import cases_of
from heedmap.lessons.exercises.checking import check_step
from heedmap.lessons.exercises.problem import Problem
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator, calls_of
from heedmap.lessons.languages import LANGUAGES
from heedmap.lessons.live_model import DEFAULT_MODEL, MODELS
from heedmap.lessons.questions import checkpoint_step, figure_of, filled_options

_TYPED = re.compile(r"(?<![\w.])-?\d+\.\d+(?!\w|\.\d)")
_NOT_TEXT = re.compile(r"\{\{.*?\}\}|`[^`]*`|\]\([^)]*\)", re.DOTALL)


def check_lesson(lesson: blocks.Lesson, calculator: Calculator) -> list[str]:
    """What is wrong with a lesson that reads well: a line `file:line: problem` for each.

    Args:
        lesson: the lesson.
        calculator: computes its figures, all of them.

    Example:
        >>> from heedmap.lessons.course import load_course
        >>> check_lesson(load_course().lessons[0], Calculator())
        []
    """
    problems = []
    for call, line in calls_of(lesson).items():
        try:
            calculator.figure(call, lesson, line)
        except HeedmapError as error:
            at = f"{lesson.path}:{line}: "
            problems.append(str(error) if str(error).startswith(str(lesson.path)) else f"{at}`{call}`: {error}")
    if problems:
        return problems  # without its figures, nothing else can be said
    for piece in lesson.pieces:
        try:
            problems += [f"{lesson.path}:{piece.line}: {problem}" for problem in _of_piece(piece, lesson, calculator)]
        except LessonError as error:
            problems.append(f"{lesson.path}:{piece.line}: {error}")
    return problems


def _of_piece(piece: blocks.Piece, lesson: blocks.Lesson, calculator: Calculator) -> Iterator[str]:
    """What is wrong with one block."""
    if isinstance(piece, blocks.Exercise):
        generator(piece.generator)
    elif isinstance(piece, blocks.Code):
        cases_of(piece.function)
    elif isinstance(piece, blocks.Languages):
        LANGUAGES[0].function(piece.function)
    elif isinstance(piece, blocks.View):
        if piece.options.get("model", DEFAULT_MODEL) not in MODELS:
            yield f"no model {piece.options['model']!r} in lessons: expected one of {', '.join(MODELS)}"
    elif isinstance(piece, blocks.Predict):
        answer = figure_of(piece.answer, piece, lesson, calculator)
        options = filled_options(piece, lesson, calculator)
        if options and answer.text not in options:
            yield f"what happens is {answer.text!r}, which is none of the {len(options)} things to choose from"
        if not options and answer.value is None:
            yield f"a number is to be predicted, but what happens is {answer.text!r}: give a list to choose from"
    elif isinstance(piece, blocks.Checkpoint):
        yield from _of_checkpoint(piece, lesson, calculator)


def _of_checkpoint(piece: blocks.Checkpoint, lesson: blocks.Lesson, calculator: Calculator) -> Iterator[str]:
    """A wrong answer must not count as right."""
    step = checkpoint_step(piece, lesson, calculator)
    problem = Problem("", 1, 0, "", (step,))
    for wrong in piece.wrong:
        figure = figure_of(wrong.answer, piece, lesson, calculator)
        if (figure.value is None) != bool(step.options):
            yield f"the wrong answer {wrong.answer} and the right one must both be numbers, or both words"
        elif check_step(problem, 0, figure.text).is_right:
            yield f"the wrong answer {wrong.answer} is {figure.text}, which counts as right"


def typed_figures(text: str) -> list[tuple[int, str]]:
    """Numbers with a point that somebody typed into a lesson instead of having them computed: line and number.

    Numbers in braces, in code and in links do not count.

    Example:
        >>> typed_figures("It has {{weight cat cat}}, which is about 0.4.")
        [(1, '0.4')]
    """
    found = []
    fenced = False
    blanked = _NOT_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for number, line in enumerate(blanked.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or line.startswith(("run:", "within:", "::: live", "::: words")) or re.match(r"^[a-z0-9-]+ = ", line):
            continue
        found += [(number, match[0]) for match in _TYPED.finditer(line)]
    return found
