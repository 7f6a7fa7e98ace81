"""The course inside a notebook: live numbers, questions and exercises as functions that print.

from heedmap.lessons import classroom as learn
learn.live("table cat")
learn.answer(1, "score-sat", "0.52")
learn.exercise("attend", 2, seed=7)
learn.check("attend", 2, 7, "1.2 0.3 0.9", "0.85 0.21 0.64")
"""

from __future__ import annotations

import time
from pathlib import Path

from heedmap.lessons.answering import answer_question, find_question
from heedmap.lessons.course import load_course
from heedmap.lessons.exercises.checking import check_all, summary
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator
from heedmap.lessons.practice import question
from heedmap.lessons.progress import Progress

NOTHING = "Nothing is written yet: put your answer between the quotes and run the cell again."


def live(call: str, lesson: int = 1, folder: str | None = None) -> None:
    """Print what a computation of a lesson gives, computed now.

    Args:
        call: the computation, as lessons write it.
        lesson: the lesson whose names for computations it may use.
        folder: a folder with lessons of one's own.

    Raises:
        LessonError: no such computation.

    Example:
        >>> live("work-product cat cat")
        1.0·1.0 + 0.6·0.8 = 1.48
    """
    found = load_course(_path(folder)).find(str(lesson))
    print(Calculator().figure(call, found, 1).text)


def answer(lesson: int, name: str, text: str, folder: str | None = None) -> None:
    """Answer a checkpoint, a prediction or a quiz, print what is to be said about it, and keep it.

    Args:
        lesson: its number.
        name: the question's name.
        text: the answer; nothing yet when it is empty.
        folder: a folder with lessons of one's own.

    Raises:
        LessonError: no such question, or an answer that is none of those to choose from.

    Example:
        >>> answer(1, "score-sat", "")
        Nothing is written yet: put your answer between the quotes and run the cell again.
    """
    found = load_course(_path(folder)).find(str(lesson))
    piece = find_question(found, name)
    if not text.strip():
        print(NOTHING)
        return
    result = answer_question(piece, text, found, Calculator(), Progress(), time.strftime("%Y-%m-%d"))
    print(result["says"])
    for part in ("output", "then"):
        if part in result:
            print(f"\n{result[part]}")


def exercise(name: str, level: int = 1, seed: int = 1) -> None:
    """Print an exercise: what is given, and what to work out.

    Raises:
        LessonError: no such exercise.

    Example:
        >>> exercise("dot", 1, 3)
        Two vectors: [4, 2] and [1, 3].
        <BLANKLINE>
        1. the product: What is the dot product of the two?
    """
    problem = generator(name).problem(level, seed)
    print(problem.text)
    for index in range(len(problem.steps)):
        print("\n" + question(problem, index).replace("**", ""))


def check(name: str, level: int, seed: int, *answers: str) -> None:
    """Check the answers to an exercise, one a step, and print what is to be said about each.

    Raises:
        LessonError: no such exercise.

    Example:
        >>> check("dot", 1, 3, "10")
        1. Right.
        All steps are right.
    """
    if not any(one.strip() for one in answers):
        print(NOTHING)
        return
    problem = generator(name).problem(level, seed)
    verdicts = check_all(problem, answers)
    for index, verdict in enumerate(verdicts, 1):
        print(f"{index}. {verdict.says}")
    print(summary(problem, verdicts))


def _path(folder: str | None) -> Path | None:
    """A folder as a path."""
    return None if folder is None else Path(folder)
