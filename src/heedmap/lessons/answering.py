"""Answers one question of a lesson outside of a sitting, and keeps the answer."""

from __future__ import annotations

from typing import Any

from heedmap.arithmetic.names import listed, nearest
from heedmap.errors import LessonError
from heedmap.lessons.blocks import Checkpoint, Lesson, Predict, Quiz
from heedmap.lessons.figures import Calculator
from heedmap.lessons.progress import Progress
from heedmap.lessons.questions import answer_checkpoint, answer_quiz, read_prediction

Question = Checkpoint | Predict | Quiz
_KEPT_UNDER = {Checkpoint: "checkpoints", Predict: "predictions", Quiz: "quiz"}


def find_question(lesson: Lesson, name: str) -> Question:
    """The checkpoint, prediction or quiz of a name.

    Raises:
        LessonError: there is none; the error lists them.

    Example:
        >>> from heedmap.lessons.course import load_course
        >>> type(find_question(load_course().lessons[0], "score-sat")).__name__
        'Checkpoint'
    """
    questions = [piece for piece in lesson.pieces if isinstance(piece, Checkpoint | Predict | Quiz)]
    for piece in questions:
        if piece.name == name:
            return piece
    names = [piece.name for piece in questions]
    raise LessonError(f"lesson {lesson.number} asks no {name!r}: expected one of {listed(names)}{nearest(name, names)}")


def answer_question(
    piece: Question, typed: str, lesson: Lesson, calculator: Calculator, progress: Progress, today: str
) -> dict[str, Any]:
    """Answer it, and keep the answer.

    Args:
        piece: the question.
        typed: the answer.
        lesson: where it stands.
        calculator: computes the right answer.
        progress: where it is kept; an answer that was right stays right, a prediction stays what it was.
        today: the date, kept beside a prediction.

    Returns:
        `right`, `says` (Markdown), and for a prediction `said`, `was`, `output` and `then`.

    Raises:
        LessonError: the answer is none of those to choose from.
    """
    if isinstance(piece, Checkpoint):
        verdict = answer_checkpoint(piece, typed, lesson, calculator)
        result: dict[str, Any] = {"right": verdict.is_right, "says": verdict.says, "mistake": verdict.mistake}
        keep(progress, lesson, piece, {"right": verdict.is_right, "answer": typed})
    elif isinstance(piece, Quiz):
        right, reason = answer_quiz(piece, typed, lesson, calculator)
        result = {"right": right, "says": f"{'Right' if right else 'Not this one'}. {reason}"}
        keep(progress, lesson, piece, {"right": right, "answer": typed})
    else:
        before = progress.lesson(lesson.slug).get("predictions", {}).get(piece.name)
        if before is None:
            outcome = read_prediction(piece, typed, lesson, calculator)
            before = {"said": outcome.said, "was": outcome.was, "right": outcome.right, "when": today}
            keep(progress, lesson, piece, before)
        agree = "As predicted" if before["right"] else "Not as predicted"
        result = {
            "right": before["right"],
            "says": f"{agree}: you said {before['said']}, it was {before['was']}.",
            "said": before["said"],
            "was": before["was"],
            "output": calculator.figure(piece.run, lesson, piece.line).text,
            "then": calculator.fill(piece.then, lesson, piece.line),
        }
    return result


def keep(progress: Progress, lesson: Lesson, piece: Question, value: dict[str, Any]) -> None:
    """Keep an answer and how often it was tried; one that was right stays right."""
    with progress.changing(lesson.slug) as kept:
        answers = kept.setdefault(_KEPT_UNDER[type(piece)], {})
        before = answers.get(piece.name, {})
        if not before.get("right"):
            answers[piece.name] = {**value, "tries": before.get("tries", 0) + 1}
