"""What an exercise is: a text, steps that build on one another, and the mistakes people make in each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Answer = tuple[float, ...]
"""The numbers of one step."""

Work = Callable[[Sequence[Answer]], Sequence[float]]
"""A step's numbers from the numbers of the steps before it."""


@dataclass(frozen=True)
class Mistake:
    """A mistake people make in a step, with the numbers it leads to.

    Attributes:
        name: what it is called, the same wherever it can be made.
        says: what to tell the learner.
        work: the wrong numbers, from the steps before.
    """

    name: str
    says: str
    work: Work


@dataclass(frozen=True)
class Step:
    """One step of an exercise.

    Attributes:
        name: what it is, in a few words ("the scores").
        question: what to write down, Markdown.
        work: the right numbers, from the steps before.
        hint: how to get there.
        digits: digits after the point that are asked for.
        mistakes: those that can be recognised.
        options: for a step answered by a word: the words; `work` then gives the place of the right one.
        labels: what each number belongs to, for messages; may be empty.
        follows: how `work` makes its numbers from an earlier step, for programs in other languages: `how` ("scale",
            "exponentials", "weights" or "blend"), `from` (the step, from 0), and what that needs (`by`, `allowed`,
            `values`). `None` where it does not say.
    """

    name: str
    question: str
    work: Work
    hint: str
    digits: int = 2
    mistakes: tuple[Mistake, ...] = ()
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    follows: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Problem:
    """One exercise.

    Attributes:
        generator: what made it.
        level: 1 to 3.
        seed: the same seed gives the same exercise, everywhere and for ever.
        text: what is given, Markdown.
        steps: in order.
    """

    generator: str
    level: int
    seed: int
    text: str
    steps: tuple[Step, ...]

    def exact(self) -> list[Answer]:
        """The right numbers of every step, nothing rounded."""
        answers: list[Answer] = []
        for step in self.steps:
            answers.append(tuple(float(one) for one in step.work(answers)))
        return answers

    def rounded(self) -> list[Answer]:
        """The right numbers when each step starts from the rounded numbers of the one before, as by pencil."""
        answers: list[Answer] = []
        for step in self.steps:
            answers.append(tuple(round(float(one), step.digits) for one in step.work(answers)))
        return answers

    def shown(self, index: int) -> str:
        """The right answer of a step, as it is written.

        Args:
            index: the step, from 0.
        """
        return shown_answer(self.steps[index], self.exact()[index])


@dataclass(frozen=True)
class Generator:
    """Makes exercises of one kind.

    Attributes:
        name: as lessons and the command line call it.
        says: what it practises.
        levels: what each of the three levels asks for.
        make: the text and the steps of one exercise.
    """

    name: str
    says: str
    levels: tuple[str, str, str]
    make: Callable[[Draw, int], tuple[str, Sequence[Step]]] = field(repr=False)

    def problem(self, level: int, seed: int) -> Problem:
        """The exercise of a level and a seed."""
        draw = Draw(f"heedmap/{self.name}/{level}/{seed}")
        text, steps = self.make(draw, level)
        return Problem(self.name, level, seed, text, tuple(steps))


class Draw:
    """Random draws that are the same on every machine and under every version of Python.

    Only `random()` of Python's generator is used: its sequence for a seed is promised not to change.

    Example:
        >>> draw = Draw("heedmap/dot/1/7")
        >>> draw.whole(1, 9) == Draw("heedmap/dot/1/7").whole(1, 9)
        True
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def tenths(self, low: float, high: float) -> float:
        """A number with one digit after the point."""
        return self.whole(round(low * 10), round(high * 10)) / 10

    def vector(self, count: int, low: float, high: float) -> list[float]:
        """Several of them, not all 0."""
        while True:
            numbers = [self.tenths(low, high) for _ in range(count)]
            if any(numbers):
                return numbers

    def wholes(self, count: int, low: int, high: int) -> list[float]:
        """Several whole numbers, not all 0."""
        while True:
            numbers = [float(self.whole(low, high)) for _ in range(count)]
            if any(numbers):
                return numbers

    def choice(self, things: Sequence[Any]) -> Any:
        """One of several."""
        return things[self.whole(0, len(things) - 1)]

    def different(self, make: Callable[[], list[float]], count: int) -> list[list[float]]:
        """Several lists of numbers, no two alike."""
        found: list[list[float]] = []
        while len(found) < count:
            one = make()
            if one not in found:
                found.append(one)
        return found


def shown_answer(step: Step, answer: Answer) -> str:
    """An answer as a learner would write it.

    Example:
        >>> step = Step("the scores", "", lambda done: (0.0, 0.0), "", labels=("The", "cat"))
        >>> shown_answer(step, (0.0707, 1.0465))
        'The 0.07, cat 1.05'
    """
    if step.options:
        return step.options[int(answer[0])]
    texts = [plain(one, step.digits) for one in answer]
    if step.labels:
        texts = [f"{label} {text}" for label, text in zip(step.labels, texts, strict=True)]
    return ", ".join(texts)


def typed_answer(problem: Problem, index: int) -> str:
    """The right answer of a step as a learner would type it.

    Args:
        problem: the exercise.
        index: the step, from 0.
    """
    step, answer = problem.steps[index], problem.exact()[index]
    return step.options[int(answer[0])] if step.options else ", ".join(plain(one, step.digits) for one in answer)


def plain(value: float, digits: int = 2) -> str:
    """A number without digits it does not need, but with all of them when it is rounded.

    Example:
        >>> plain(3.0), plain(0.5), plain(1.0465), plain(-0.001)
        ('3', '0.5', '1.05', '0.00')
    """
    short = f"{value:.{digits}f}"
    if float(short) == 0 and short.startswith("-"):
        short = short[1:]
    if abs(value - float(short)) < 1e-9:
        return short.rstrip("0").rstrip(".") if "." in short else short
    return short


def listed(numbers: Sequence[float]) -> str:
    """A vector as text.

    Example:
        >>> listed([1.0, -0.5])
        '[1, -0.5]'
    """
    return f"[{', '.join(plain(one) for one in numbers)}]"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
