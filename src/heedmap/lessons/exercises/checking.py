"""Checks an exercise step by step: right, right with your own numbers, a known mistake, or which number is off.

Rounding as taught is accepted: a number may be off by one in the last digit asked for, and may lie anywhere between
what full precision gives and what rounding after every step gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heedmap.errors import HeedmapError
from heedmap.lessons.exercises.answers import Unreadable, read_answer
from heedmap.lessons.exercises.problem import Answer, Mistake, Problem, Step, Work

Outcome = Literal["right", "follows", "mistake", "coarse", "wrong", "unreadable"]


@dataclass(frozen=True)
class Verdict:
    """What is to be said about one step.

    Attributes:
        outcome: "right"; "follows" (right, from your own wrong numbers); "mistake" (a known one); "coarse" (rounded too
            far); "wrong"; "unreadable".
        says: a sentence for the learner.
        mistake: the name of the mistake, where it was recognised.
        answer: the numbers that were read, or `None`.
    """

    outcome: Outcome
    says: str
    mistake: str | None = None
    answer: Answer | None = None

    @property
    def is_right(self) -> bool:
        """Whether one may go on."""
        return self.outcome in ("right", "follows")


def check_step(problem: Problem, index: int, typed: str, before: Sequence[Answer] = ()) -> Verdict:
    """What is to be said about the answer to one step.

    Args:
        problem: the exercise.
        index: the step, from 0.
        typed: what the learner wrote.
        before: the learner's own answers to the steps before, as far as there are any.

    Example:
        >>> from heedmap.lessons.exercises.registry import generator
        >>> problem = generator("scale").problem(1, 1)
        >>> check_step(problem, 0, problem.shown(0)).outcome
        'right'
    """
    step = problem.steps[index]
    try:
        answer = read_answer(step, typed)
    except Unreadable as unreadable:
        return Verdict("unreadable", f"{unreadable}.")
    exact, rounded = problem.exact(), problem.rounded()
    chains = [exact[:index], rounded[:index]]
    if _between(step, answer, [exact[index], rounded[index]]):
        return Verdict("right", "Right.", None, answer)
    own = list(before[:index])
    has_own = len(own) == index and index > 0
    if has_own:
        from_own = _worked(step.work, own)
        if from_own is not None and _between(step, answer, [from_own]):
            was_right = all(_between(problem.steps[i], own[i], [exact[i], rounded[i]]) for i in range(index))
            if was_right:
                return Verdict("right", "Right.", None, answer)
            return Verdict(
                "follows", "Right, from the numbers you had before: the slip is in an earlier step.", None, answer
            )
        chains.append(own)
    known = _known_mistake(step, answer, chains)
    if known is not None:
        return Verdict("mistake", known.says, known.name, answer)
    if not step.options and _too_coarse(answer, exact[index], step.digits):
        return Verdict(
            "coarse",
            f"On the way, but rounded too far: give {step.digits} digits after the point.",
            "too-coarse",
            answer,
        )
    return Verdict("wrong", _which_are_off(step, answer, exact[index], rounded[index]), None, answer)


def check_all(problem: Problem, typed: Sequence[str]) -> list[Verdict]:
    """What is to be said about a whole worked exercise; each step also counts from the learner's own numbers.

    Args:
        problem: the exercise.
        typed: one answer a step; fewer when the learner stopped earlier.

    Example:
        >>> from heedmap.lessons.exercises.registry import generator
        >>> problem = generator("attend").problem(1, 1)
        >>> [verdict.outcome for verdict in check_all(problem, [problem.shown(0), "99 99"])]
        ['right', 'wrong']
    """
    verdicts: list[Verdict] = []
    own: list[Answer] = []
    for index, one in enumerate(typed[: len(problem.steps)]):
        verdict = check_step(problem, index, one, own if len(own) == index else ())
        verdicts.append(verdict)
        if verdict.answer is not None and len(own) == index:
            own.append(verdict.answer)
    return verdicts


def summary(problem: Problem, verdicts: Sequence[Verdict]) -> str:
    """The whole in a sentence: where it first goes wrong, and what was right before.

    Example:
        >>> from heedmap.lessons.exercises.registry import generator
        >>> problem = generator("attend").problem(1, 1)
        >>> summary(problem, check_all(problem, [problem.shown(0), "99 99"]))
        'Step 1 is right; step 2 (the scores) is the first that goes wrong.'
    """
    for index, verdict in enumerate(verdicts):
        if not verdict.is_right:
            first = f"step {index + 1} ({problem.steps[index].name}) is the first that goes wrong."
            if index == 0:
                return first.capitalize()
            before = "Step 1 is right; " if index == 1 else f"Steps 1 to {index} are right; "
            return before + first
    if len(verdicts) < len(problem.steps):
        done = len(verdicts)
        return f"Right so far: {done} of {len(problem.steps)} steps." if done else "Nothing was answered."
    return "All steps are right."


def _between(step: Step, answer: Answer, chains: Sequence[Answer]) -> bool:
    """Whether every number lies where it may: between the chains, or one last digit beyond."""
    if any(len(chain) != len(answer) for chain in chains):
        return False
    if step.options:
        return any(int(answer[0]) == int(chain[0]) for chain in chains)
    for place, number in enumerate(answer):
        values = [chain[place] for chain in chains]
        slack = _slack(values, step.digits)
        if not min(values) - slack <= number <= max(values) + slack:
            return False
    return True


def _slack(values: Sequence[float], digits: int) -> float:
    """How far off a number may be: one last digit, or nothing where it comes out even and there is nothing to round."""
    if all(abs(one - round(one, digits)) < 1e-9 for one in values) and max(values) - min(values) < 1e-9:
        return max(1.0, abs(values[0])) * 1e-9
    return 10.0**-digits * 1.001  # a hair more than one: 0.38 - 0.37 is a little more than 0.01 in binary


def _known_mistake(step: Step, answer: Answer, chains: Sequence[Sequence[Answer]]) -> Mistake | None:
    """The mistake that leads to these numbers, from the right steps before or the learner's own."""
    for mistake in step.mistakes:
        if _leads_to(step, answer, [_worked(mistake.work, chain) for chain in chains]):
            return mistake
    if step.options:
        return None
    rights = [_worked(step.work, chain) for chain in chains]
    rights[1] = rights[1] and tuple(round(one, step.digits) for one in rights[1])  # 0.376 is 0.38 by pencil: 38 percent
    for mistake in GENERAL:
        if _leads_to(step, answer, [right and _worked(mistake.work, [right]) for right in rights]):
            return mistake
    return None


def _leads_to(step: Step, answer: Answer, wrongs: Sequence[Answer | None]) -> bool:
    """Whether an answer is what a mistake gives: from full precision, from rounded steps, or from one's own."""
    exact, rounded, *own = wrongs
    if exact is not None and rounded is not None and _between(step, answer, [exact, rounded]):
        return True
    return any(one is not None and _between(step, answer, [one]) for one in own)


def _worked(work: Work, chain: Sequence[Answer]) -> Answer | None:
    """The numbers that some work gives; `None` where a learner's own numbers cannot be worked with."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):  # as ArithmeticError, not as a warning
            return tuple(float(one) for one in work(chain))
    except (HeedmapError, ArithmeticError):
        return None


def _too_coarse(answer: Answer, right: Answer, digits: int) -> bool:
    """Whether the right numbers were rounded to fewer digits than asked for."""
    for fewer in range(digits):
        unit = 10.0**-fewer
        pairs = zip(answer, right, strict=True)
        # Half a unit may be rounded either way: schools differ.
        if all(abs(one - round(one, fewer)) < 1e-9 and abs(one - true) <= unit / 2 + 1e-9 for one, true in pairs):
            return True
    return False


def _which_are_off(step: Step, answer: Answer, exact: Answer, rounded: Answer) -> str:
    """Says which numbers are off, when some are right."""
    if step.options or len(answer) == 1:
        return "Not right."
    off = [
        place
        for place in range(len(answer))
        if not _between(step, (answer[place],), [(exact[place],), (rounded[place],)])
    ]
    if len(off) == len(answer):
        return "Not right."
    names = ", ".join(step.labels[place] if step.labels else f"number {place + 1}" for place in off)
    return f"Not right for {names}; the others are."


def _reversed(done: Sequence[Answer]) -> Sequence[float]:
    return done[0][::-1]


GENERAL = (
    Mistake(
        "percent",
        "That is in percent: write shares of 1 (0.38 for 38 percent), or put a % behind.",
        lambda done: [100 * one for one in done[0]],
    ),
    Mistake("sign", "The sign is the wrong way round.", lambda done: [-one for one in done[0]]),
    Mistake("reversed", "The right numbers, from the last to the first: give them in the order asked for.", _reversed),
)
"""Mistakes that can be made in any step; they are given the right numbers of the step itself."""
