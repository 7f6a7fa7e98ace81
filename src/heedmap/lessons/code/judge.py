"""Judges what a learner's function gave: right, or which step first goes wrong, and the mistake that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.lessons.code.cases import SIGNATURES, Case, cases_of
from heedmap.lessons.code.sandbox import Ran, run_calls, sentence
from heedmap.lessons.code.slips import slips

TOLERANCE = 1e-6
"""How far off a number may be, scaled by the largest of its row: other orders of adding round differently."""

TOO_LARGE = (
    " e^900 is too large for a machine: take the largest score off every score first; the weights stay the same."
)

STEP_OF = {
    "products": "compare (the products)",
    "scores": "scale (the scores)",
    "exponentials": "softmax (the exponentials)",
    "weights": "softmax (the weights)",
    "output": "blend (the output)",
    "result": "the result",
}


@dataclass(frozen=True)
class Judgement:
    """What is to be said about one function.

    Attributes:
        function: its name.
        outcome: "right", "wrong" or "missing" (not written yet).
        says: one or more sentences.
        step: the step that first goes wrong, where one does.
        mistake: the name of the mistake, where it was recognised.
    """

    function: str
    outcome: str
    says: str
    step: str | None = None
    mistake: str | None = None


@dataclass(frozen=True)
class Report:
    """What is to be said about a file.

    Attributes:
        judgements: one for each function that can be written.
        problem: why the file could not be run at all; empty otherwise.
        printed: what the code printed.
    """

    judgements: tuple[Judgement, ...]
    problem: str
    printed: str

    @property
    def all_right(self) -> bool:
        """Whether something was written, and all of it is right."""
        outcomes = {one.outcome for one in self.judgements}
        return not self.problem and "right" in outcomes and "wrong" not in outcomes


def check_code(path: Path, functions: Sequence[str] = tuple(SIGNATURES), **limits: Any) -> Report:
    """Run the functions of a learner's file against the published vectors.

    Args:
        path: the file.
        functions: which to look for; all that can be written by default.
        **limits: `seconds` and `memory` of `sandbox.run_calls`.

    Raises:
        FileError: there is no such file.
        LessonError: no such function to write.
    """
    cases = [case for function in functions for case in cases_of(function)]
    ran: Ran = run_calls(path, [case.call for case in cases], **limits)
    if ran.answers is None:
        return Report((), ran.problem, ran.printed)
    answers = list(zip(cases, ran.answers, strict=True))
    judgements = tuple(
        judge(function, [pair for pair in answers if pair[0].function == function]) for function in functions
    )
    return Report(judgements, "", ran.printed)


def judge(function: str, answers: Sequence[tuple[Case, dict[str, Any]]]) -> Judgement:
    """The judgement of one function: that of the first case in which it goes wrong."""
    for case, answer in answers:
        if answer.get("missing"):
            return Judgement(function, "missing", f"not there yet: write {SIGNATURES[function]}.")
        if "error" in answer:
            too_large = TOO_LARGE if answer["error"] == "OverflowError" else ""
            return Judgement(function, "wrong", f"{_call(case)} broke off: {sentence(answer)}.{too_large}")
        found = _judged(case, answer["result"])
        if found is not None:
            return found
        if answer["changed"]:
            return Judgement(function, "wrong", f"{_call(case)} is right but changes its arguments: work on copies.")
    return Judgement(function, "right", f"right in all {len(answers)} cases.")


def _judged(case: Case, result: Any) -> Judgement | None:
    """What is wrong with one result, or `None` when nothing is."""
    given = _steps(case, result)
    if isinstance(given, str):
        return Judgement(case.function, "wrong", f"{_call(case)}: {given}.")
    for step, numbers in given.items():
        right = case.steps.get(step)
        if right is None or _same(numbers, right):
            continue
        return _explained(case, step, numbers, right)
    return None


def _explained(case: Case, step: str, numbers: Array, right: Array) -> Judgement:
    """The step that goes wrong, and the mistake behind it where it is known."""
    for slip in slips(case):
        wrong = slip.steps.get(step)
        if wrong is not None and _same(numbers, wrong) and not _same(wrong, right):
            # With the output alone, the mistake tells in which step it was made.
            at = "" if step == "result" else f" first goes wrong at {STEP_OF[slip.step]}"
            return Judgement(case.function, "wrong", f"{_call(case)}{at}: {slip.says}", slip.step, slip.name)
    shown = f"expected {_shown(right)}, found {_shown(numbers)}"
    at = "" if step == "result" else f" first goes wrong at {STEP_OF[step]}"
    return Judgement(case.function, "wrong", f"{_call(case)}{at}: {shown}.{_sum_hint(step, case, numbers)}", step)


def _steps(case: Case, result: Any) -> dict[str, Array] | str:
    """A result as the steps it holds, in order; a sentence when it is nothing that can be judged.

    `attend` may return the output alone, weights and output, or a dict of steps.
    """
    if isinstance(result, dict) and "kind" in result:
        return f"expected numbers, found {result['kind']}" + (
            " (is there a `return`?)" if result["kind"] == "None" else ""
        )
    if "result" in case.steps:
        return _array_or_problem({"result": result})
    if isinstance(result, dict) and "steps" in result:
        known = {name: result["steps"][name] for name in STEP_OF if name in result["steps"]}
        if "output" not in known:
            return "expected a dict with `output`, and any of products, scores, exponentials, weights"
        return _array_or_problem(known)
    if isinstance(result, list) and len(result) == 2 and _is_pair(case, result):
        return _array_or_problem({"weights": result[0], "output": result[1]})
    return _array_or_problem({"output": result})


def _is_pair(case: Case, result: list[Any]) -> bool:
    """Whether a list of two is (weights, output), and not an output of two numbers or rows."""
    depth = case.steps["output"].ndim
    return all(isinstance(one, list) for one in result) and (
        depth == 1 or all(isinstance(one[0], list) for one in result if one)
    )


def _array_or_problem(parts: dict[str, Any]) -> dict[str, Array] | str:
    """Nested lists as arrays; words such as "nan" become the numbers they stand for."""
    arrays = {}
    for name, part in parts.items():
        try:
            arrays[name] = np.array(part, dtype=np.float64)
        except (TypeError, ValueError):
            return f"expected numbers or lists of numbers of the same length for the {name}"
    return arrays


def _same(numbers: Array, right: Array) -> bool:
    """Whether two results agree."""
    if numbers.shape != right.shape:
        return False
    return bool(np.allclose(numbers, right, rtol=0, atol=TOLERANCE * max(1.0, float(np.abs(right).max()))))


def _sum_hint(step: str, case: Case, numbers: Array) -> str:
    """A hint where weights do not add up to 1."""
    if numbers.ndim == 1 and (step == "weights" or case.function == "softmax"):
        if not np.isfinite(numbers).all():
            return TOO_LARGE
        if abs(numbers.sum() - 1) > TOLERANCE:
            return f" They add up to {numbers.sum():.4g} and not to 1."
    return ""


def _call(case: Case) -> str:
    """The call as it was made, shortened."""
    if "result" in case.steps:
        return f"{case.function}({', '.join(_shown(np.array(one)) for one in case.arguments)})"
    return f"{case.function} (example {case.about})"


def _shown(numbers: Array) -> str:
    """An array in few digits."""
    if numbers.ndim == 0:
        return f"{float(numbers):.4g}"
    if numbers.ndim == 1:
        return "[" + ", ".join(f"{one:.4g}" for one in numbers) + "]"
    return "[" + ", ".join(_shown(row) for row in numbers) + "]"
