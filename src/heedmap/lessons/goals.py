"""Which goals of a lesson are ticked: by what was done, not by what was read."""

from __future__ import annotations

from typing import Any

from heedmap.lessons.blocks import Break, Checkpoint, Done, Goal, Lesson, Predict, Quiz
from heedmap.lessons.progress import SOLVED_ENOUGH


def goals_of(lesson: Lesson) -> list[Goal]:
    """The goals of a lesson, in order."""
    return [goal for piece in lesson.pieces if isinstance(piece, Done) for goal in piece.goals]


def is_ticked(goal: Goal, lesson: Lesson, done: dict[str, Any]) -> bool:
    """Whether a goal is reached.

    Args:
        goal: one of the lesson's.
        lesson: the lesson.
        done: what `Progress.lesson` keeps of it.

    Example:
        >>> from heedmap.lessons.course import load_course
        >>> lesson = load_course().lessons[0]
        >>> is_ticked(Goal(("explain",), "tell it"), lesson, {"explain": "Words look back."})
        True
    """
    deed, *rest = goal.deed
    pieces = lesson.pieces
    if deed == "quiz":
        names = [piece.name for piece in pieces if isinstance(piece, Quiz)]
        return all(done.get("quiz", {}).get(name, {}).get("right") for name in names)
    if deed == "checkpoints":
        names = [piece.name for piece in pieces if isinstance(piece, Checkpoint)]
        return all(done.get("checkpoints", {}).get(name, {}).get("right") for name in names)
    if deed == "predictions":
        names = [piece.name for piece in pieces if isinstance(piece, Predict)]
        return all(name in done.get("predictions", {}) for name in names)
    if deed == "breaks":
        titles = [piece.title for piece in pieces if isinstance(piece, Break)]
        return all(title in done.get("breaks", []) for title in titles)
    if deed == "explain":
        return bool(done.get("explain", "").strip())
    if deed == "exercise":
        return int(done.get("exercises", {}).get(" ".join(rest), 0)) >= SOLVED_ENOUGH
    return rest[0] in done.get("code", [])


def ticked(lesson: Lesson, done: dict[str, Any]) -> tuple[int, int]:
    """How many goals are reached, of how many."""
    goals = goals_of(lesson)
    return sum(is_ticked(goal, lesson, done) for goal in goals), len(goals)
