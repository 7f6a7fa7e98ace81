"""The checkpoints of the course: a wrong answer that a lesson knows is met with what that lesson says of it."""

from __future__ import annotations

import pytest

from heedmap.lessons.blocks import Checkpoint, Lesson
from heedmap.lessons.course import load_course
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.questions import answer_checkpoint, figure_of, shown_checkpoint


@pytest.mark.parametrize("course_lesson", load_course().lessons, ids=lambda one: one.slug)
def test_each_wrong_answer_is_met_with_its_own_words(course_lesson: Lesson) -> None:
    calculator = Calculator(kept=Kept(None))
    checkpoints = [piece for piece in course_lesson.pieces if isinstance(piece, Checkpoint)]
    assert checkpoints
    for piece in checkpoints:
        typed = shown_checkpoint(piece, course_lesson, calculator)
        assert answer_checkpoint(piece, typed, course_lesson, calculator).is_right
        for wrong in piece.wrong:
            typed = figure_of(wrong.answer, piece, course_lesson, calculator).text
            verdict = answer_checkpoint(piece, typed, course_lesson, calculator)
            says = calculator.fill(wrong.reason, course_lesson, piece.line, escape=False)
            assert (verdict.outcome, verdict.says) == ("mistake", says), f"{course_lesson.path.name}: {piece.name}"
