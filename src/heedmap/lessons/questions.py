"""Answers to the questions of a lesson: checkpoints, predictions and quizzes, with what is said about each."""

from __future__ import annotations

from dataclasses import dataclass

from heedmap.errors import LessonError
from heedmap.lessons.blocks import Checkpoint, Lesson, Predict, Quiz
from heedmap.lessons.exercises.answers import Unreadable, choose, read_answer
from heedmap.lessons.exercises.checking import Verdict, check_step
from heedmap.lessons.exercises.problem import Mistake, Problem, Step, plain
from heedmap.lessons.figures import Calculator
from heedmap.lessons.live import Figure
from heedmap.lessons.read import call_in


@dataclass(frozen=True)
class Outcome:
    """A prediction beside what happened.

    Attributes:
        said: what was predicted, as it was understood.
        was: what happened.
        right: whether they agree.
    """

    said: str
    was: str
    right: bool


def figure_of(answer: str, piece: Checkpoint | Predict, lesson: Lesson, calculator: Calculator) -> Figure:
    """An answer as a figure: computed where it stands in braces, else the word itself."""
    call = call_in(answer)
    return Figure(answer) if call is None else calculator.figure(call, lesson, piece.line)


def checkpoint_step(piece: Checkpoint, lesson: Lesson, calculator: Calculator) -> Step:
    """A checkpoint as the step of an exercise, so that both are checked by the same rules."""
    right = figure_of(piece.answer, piece, lesson, calculator)
    wrongs = [(figure_of(one.answer, piece, lesson, calculator), one) for one in piece.wrong]
    says = {one.answer: calculator.fill(one.reason, lesson, piece.line, escape=False) for _, one in wrongs}
    hint = calculator.fill(piece.hint, lesson, piece.line)
    question = calculator.fill(piece.question, lesson, piece.line)
    if right.value is not None:
        value = right.value
        mistakes = tuple(_known(says[one.answer], fig.value) for fig, one in wrongs if fig.value is not None)
        return Step(piece.name, question, lambda done: [value], hint, _digits(right.text), mistakes)
    options = tuple(dict.fromkeys([right.text, *(figure.text for figure, _ in wrongs)]))
    mistakes = tuple(_known(says[one.answer], options.index(fig.text)) for fig, one in wrongs)
    return Step(piece.name, question, lambda done: [0.0], hint, 0, mistakes, options)


def answer_checkpoint(piece: Checkpoint, typed: str, lesson: Lesson, calculator: Calculator) -> Verdict:
    """What is to be said about an answer to a checkpoint."""
    step = checkpoint_step(piece, lesson, calculator)
    if step.options:
        # A word: whatever is not the right one, nor a known wrong one, is simply wrong.
        try:
            place = choose(step.options, typed)
        except Unreadable:
            return Verdict("wrong", "Not right.") if typed.strip() else Verdict("unreadable", "Nothing was written.")
        return check_step(Problem("", 1, 0, "", (step,)), 0, str(place + 1))
    if piece.within is not None:
        try:
            near = abs(read_answer(step, typed)[0] - step.work([])[0]) <= piece.within
        except Unreadable as unreadable:
            return Verdict("unreadable", f"{unreadable}.")
        if near:
            return Verdict("right", "Right.")
    return check_step(Problem("", 1, 0, "", (step,)), 0, typed)


def shown_checkpoint(piece: Checkpoint, lesson: Lesson, calculator: Calculator) -> str:
    """The right answer of a checkpoint."""
    return figure_of(piece.answer, piece, lesson, calculator).text


def read_prediction(piece: Predict, typed: str, lesson: Lesson, calculator: Calculator) -> Outcome:
    """A prediction, and whether it came true.

    Raises:
        LessonError: it cannot be read; the message says what is expected.
    """
    was = figure_of(piece.answer, piece, lesson, calculator)
    options = filled_options(piece, lesson, calculator)
    try:
        if options:
            said = options[choose(options, typed)]
            return Outcome(said, was.text, said == was.text)
        number = read_answer(Step("", "", lambda done: [0.0], ""), typed)[0]
    except Unreadable as unreadable:
        raise LessonError(str(unreadable)) from None
    assert was.value is not None
    near = 10.0 ** -_digits(was.text) if piece.within is None else piece.within
    return Outcome(plain(number, 4), was.text, abs(number - was.value) <= near * 1.001)


def filled_options(piece: Predict, lesson: Lesson, calculator: Calculator) -> tuple[str, ...]:
    """What may be predicted, with live numbers put in."""
    return tuple(calculator.fill(one, lesson, piece.line, escape=False) for one in piece.options)


def answer_quiz(piece: Quiz, typed: str, lesson: Lesson, calculator: Calculator) -> tuple[bool, str]:
    """Whether an answer of a quiz is right, and its reason.

    Raises:
        LessonError: it is none of the answers.
    """
    texts = tuple(calculator.fill(one.text, lesson, piece.line, escape=False) for one in piece.options)
    try:
        option = piece.options[choose(texts, typed)]
    except Unreadable as unreadable:
        raise LessonError(str(unreadable)) from None
    return option.right, calculator.fill(option.reason, lesson, piece.line)


def _known(says: str, number: float) -> Mistake:
    """A wrong answer that the lesson knows."""
    return Mistake("known", says, lambda done: [number])


def _digits(text: str) -> int:
    """Digits after the point of a number as it is shown."""
    return len(text.partition(".")[2])
