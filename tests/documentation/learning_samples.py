"""What is kept of a learner who works through a lesson with every kind of block, and writes a function."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from heedmap.cli.main import main
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.progress import Progress
from heedmap.lessons.session import Session
from tests.lessons.making import EVERYTHING, lesson

RIGHT_SOFTMAX = """\
import math

def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]
"""


def learned(folder: Path) -> Any:
    """The `progress.json` of the folder, which HEEDMAP_LEARN names."""
    Session(lesson(EVERYTHING), Calculator(None, Kept(None)), Progress(folder), _nowhere(), _Learner().answer).run()
    code = folder / "mine.py"
    code.write_text(RIGHT_SOFTMAX, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["learn", "check", str(code)]) == 0
    return json.loads((folder / "progress.json").read_text(encoding="utf-8"))


def _nowhere() -> Console:
    return Console(file=io.StringIO())


class _Learner:
    """Answers each question by how it begins; an exercise is worked once, rightly."""

    def __init__(self) -> None:
        problem = generator("attend").problem(1, 1)
        steps = [typed_answer(problem, index) for index in range(len(problem.steps))]
        self.lines: dict[str, Iterator[str]] = {
            "your answer (? for a hint, Enter to be shown)": iter(steps),
            "your answer (? for a hint, Enter to skip)": iter(["0.38"]),
            "your prediction": iter(["cat"]),
            "What will go wrong?": iter(["too much"]),
            "y works one now": iter(["y", ""]),
            "your answer (Enter to skip)": iter(["2"]),
            "> ": iter(["words look back", ""]),
            "Enter goes on": iter(["", "", ""]),
        }

    def answer(self, prompt: str) -> str:
        """The next line for a prompt."""
        return next(next(lines for begins, lines in self.lines.items() if prompt.startswith(begins)))
