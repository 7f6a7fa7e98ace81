"""Answers and what must be said about them, for the site's program; `python -m tests.lessons.verdicts` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heedmap.lessons.exercises.checking import check_step
from heedmap.lessons.exercises.problem import Answer, Problem, Step
from heedmap.lessons.exercises.registry import GENERATORS, generator
from heedmap.lessons.site.data import problem_data

FILE = Path(__file__).parents[2] / "viewer" / "tests" / "course" / "verdicts.json"


def written(step: Step, answer: Answer, digits: int | None = None) -> str:
    """An answer as somebody would type it."""
    if step.options:
        return step.options[int(answer[0])]
    return " ".join(f"{one:.{step.digits if digits is None else digits}f}" for one in answer)


def tried(problem: Problem, index: int) -> list[str]:
    """What is typed in one step: right, rounded, wrong in each known way, off, unreadable."""
    step, exact, rounded = problem.steps[index], problem.exact(), problem.rounded()
    typed = [written(step, exact[index]), written(step, rounded[index]), "", "none", "1 2 3 4 5 6 7"]
    typed += [written(step, tuple(mistake.work(exact[:index]))) for mistake in step.mistakes]
    if not step.options:
        typed += [
            written(step, exact[index], 9),
            written(step, exact[index], 1),
            written(step, tuple(one + 3 * 10.0**-step.digits for one in exact[index])),
            written(step, (*exact[index][:-1], exact[index][-1] + 0.5)),
            written(step, tuple(100 * one for one in exact[index])),
            written(step, tuple(-one for one in exact[index])),
            written(step, exact[index][::-1]),
        ]
    return typed


def checked_data(problem: Problem) -> dict[str, Any]:
    """What answers are checked by, without what is only shown."""
    data = problem_data(problem)
    steps = [{name: value for name, value in step.items() if name not in ("asks", "hint")} for step in data["steps"]]
    return {"seed": data["seed"], "steps": steps}


def made() -> list[dict[str, Any]]:
    """Every exercise of one seed: its data, and for each step what is typed and what is said."""
    found = []
    for kind in GENERATORS.values():
        for level in (1, 3):
            problem = kind.problem(level, 1)
            steps = []
            for index in range(len(problem.steps)):
                verdicts = [(typed, check_step(problem, index, typed)) for typed in tried(problem, index)]
                steps.append([[typed, one.outcome, one.says, one.mistake] for typed, one in verdicts])
            found.append({"problem": checked_data(problem), "said": steps})
    return found


def slipped() -> list[dict[str, Any]]:
    """Whole exercises with a slip in the first step, worked on rightly from there."""
    found = []
    for level in (1, 2, 3):
        problem = generator("attend").problem(level, 4)
        first, *others = problem.exact()[0]
        own: list[Answer] = [(round(first + 0.5, 2), *others)]
        said = []
        for index in range(1, len(problem.steps)):
            step = problem.steps[index]
            answer = tuple(round(float(one), step.digits) for one in step.work(own))
            verdict = check_step(problem, index, written(step, answer), own)
            said.append([list(map(list, own)), written(step, answer), verdict.outcome])
            own.append(answer)
        found.append({"problem": checked_data(problem), "said": said})
    return found


def text() -> str:
    """The file's content, one exercise a line."""
    rows = {"exercises": made(), "slips": slipped()}
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in items) + "\n]"
        for name, items in rows.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
