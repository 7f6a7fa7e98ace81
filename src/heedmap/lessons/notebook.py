"""Lessons as Jupyter notebooks: text with its figures, and cells that compute, ask and check."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heedmap.files import write_beside
from heedmap.lessons import blocks
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator
from heedmap.lessons.goals import goals_of
from heedmap.lessons.languages import LANGUAGES
from heedmap.lessons.live import split_call
from heedmap.lessons.live_model import DEFAULT_MODEL
from heedmap.lessons.questions import filled_options, shown_checkpoint

START = "import sys\n\nfrom heedmap.lessons import classroom as learn"
"""The first cell of every notebook."""


def write_notebooks(
    folder: Path, lessons: Sequence[blocks.Lesson], calculator: Calculator, *, answers: bool = False
) -> list[Path]:
    """Write one notebook for each lesson.

    Args:
        folder: where to; it is made where it is not there.
        lessons: which.
        calculator: computes the figures in the text.
        answers: whether questions come with their answers.

    Returns:
        The files written.

    Raises:
        FileError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for lesson in lessons:
        path = folder / f"{lesson.number:02}-{lesson.slug}.ipynb"
        content = Writer(lesson, calculator, answers=answers).notebook()
        with write_beside(path) as beside:
            beside.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written


class Writer:
    """Turns one lesson into a notebook.

    Args:
        lesson: which.
        calculator: computes the figures in the text.
        answers: whether questions come with their answers.
    """

    def __init__(self, lesson: blocks.Lesson, calculator: Calculator, *, answers: bool) -> None:
        self.lesson, self.calculator, self.answers = lesson, calculator, answers

    def notebook(self) -> dict[str, Any]:
        """The notebook, in the format 4.5."""
        cells = [_markdown(f"# {self.lesson.title}"), _code(START)]
        for piece in self.lesson.pieces:
            cells += self.cells(piece)
        for index, cell in enumerate(cells):
            cell["id"] = f"cell-{index}"
        language = {"display_name": "Python 3", "language": "python", "name": "python3"}
        return {"cells": cells, "metadata": {"kernelspec": language}, "nbformat": 4, "nbformat_minor": 5}

    def fill(self, text: str, line: int) -> str:
        """Markdown with its figures."""
        return self.calculator.fill(text, self.lesson, line)

    def cells(self, piece: blocks.Piece) -> Iterator[dict[str, Any]]:
        """The cells of one piece."""
        if isinstance(piece, blocks.Markdown):
            yield _markdown(self.fill(piece.text, piece.line))
        elif isinstance(piece, blocks.Prose):
            title = f"{blocks.PROSE[piece.kind]}: {piece.title}" if piece.title else blocks.PROSE[piece.kind]
            yield _markdown(f"### {title}\n\n{self.fill(piece.text, piece.line)}")
        elif isinstance(piece, blocks.Words):
            lines = "\n".join(f"- **{term}**: {self.fill(says, piece.line)}" for term, says in piece.terms.items())
            yield _markdown(f"### New words\n\n{lines}")
        elif isinstance(piece, blocks.Diagram):
            drawn = self.calculator.fill_diagram(piece.text, self.lesson, piece.line)
            yield _markdown(f"### {piece.title}\n\n```text\n{drawn}\n```")
        elif isinstance(piece, blocks.Live):
            yield self._run(piece.call)
            if piece.text:
                yield _markdown(self.fill(piece.text, piece.line))
        elif isinstance(piece, blocks.View):
            yield _markdown(self.fill(piece.text, piece.line) or "Look through it.")
            yield _code(_view_code(piece))
        elif isinstance(piece, blocks.Time):
            yield _markdown(f"*About {piece.minutes} minutes.*")
        elif isinstance(piece, blocks.Done):
            goals = "\n".join(f"- [ ] {goal.text}" for goal in goals_of(self.lesson))
            yield _markdown(f"### You are done when you can ...\n\n{goals}")
        elif isinstance(piece, blocks.Languages):
            yield _markdown(self._languages(piece))
        else:
            yield from self._question(piece)

    def _question(self, piece: blocks.Piece) -> Iterator[dict[str, Any]]:
        """The cells of a block that asks for something to be done."""
        if isinstance(piece, blocks.Checkpoint):
            yield _markdown(f"### Checkpoint\n\n{self.fill(piece.question, piece.line)}")
            yield self._answer(piece.name, shown_checkpoint(piece, self.lesson, self.calculator))
        elif isinstance(piece, blocks.Predict):
            options = filled_options(piece, self.lesson, self.calculator)
            question_text = self.fill(piece.question, piece.line)
            yield _markdown(f"### Predict, then run\n\n{question_text}\n\n{_numbered(options)}".rstrip())
            yield self._answer(piece.name, "")
            yield self._run(piece.run)
            yield _markdown(_folded("What it means", self.fill(piece.then, piece.line)))
        elif isinstance(piece, blocks.Break):
            yield _markdown(
                f"### Break it: {piece.title}\n\n{self.fill(piece.text, piece.line)}\n\nWhat will go wrong?"
            )
            yield self._run(piece.run)
            yield _markdown(_folded("What went wrong", self.fill(piece.wrong, piece.line)))
        elif isinstance(piece, blocks.Quiz):
            yield from self._quiz(piece)
        elif isinstance(piece, blocks.Explain):
            holds = "\n".join(f"- {self.fill(one, piece.line)}" for one in piece.holds)
            yield _markdown(f"### Explain it without notes\n\n{self.fill(piece.prompt, piece.line)}")
            yield _markdown("*Write here.*")
            yield _markdown(_folded("What a good answer holds", holds))
        elif isinstance(piece, blocks.Exercise):
            yield from self._exercise(piece)
        elif isinstance(piece, blocks.Code):
            yield _markdown(
                f"### Write {piece.function}\n\n{self.fill(piece.text, piece.line)}\n\n"
                f"Put it into a file and check it with `heedmap learn check FILE.py`."
            )

    def _quiz(self, piece: blocks.Quiz) -> Iterator[dict[str, Any]]:
        """A question, a cell for the answer and, for a teacher, the reasons."""
        texts = [self.fill(one.text, piece.line) for one in piece.options]
        yield _markdown(f"### Quiz\n\n{self.fill(piece.question, piece.line)}\n\n{_numbered(texts)}")
        right = next(index for index, one in enumerate(piece.options, 1) if one.right)
        yield self._answer(piece.name, str(right))
        if self.answers:
            marks = ("wrong", "right")
            reasons = [
                f"{n}. **{marks[one.right]}**: {self.fill(one.reason, piece.line)}"
                for n, one in enumerate(piece.options, 1)
            ]
            yield _markdown("\n".join(reasons))

    def _exercise(self, piece: blocks.Exercise) -> Iterator[dict[str, Any]]:
        """An exercise with cells to answer in; another number makes another exercise."""
        problem = generator(piece.generator).problem(piece.level, 1)
        kind = generator(piece.generator)
        text = f"### Exercise: {kind.says}, level {piece.level}\n\n{self.fill(piece.text, piece.line)}\n\n"
        yield _markdown(text + "Change the 1 to any other number for another one.")
        yield _code(f"learn.exercise({piece.generator!r}, {piece.level}, 1)")
        answers = [
            f"    {(typed_answer(problem, index) if self.answers else '')!r},  # {step.name}"
            for index, step in enumerate(problem.steps)
        ]
        yield _code("\n".join([f"learn.check(\n    {piece.generator!r},\n    {piece.level},\n    1,", *answers, ")"]))

    def _answer(self, name: str, right: str) -> dict[str, Any]:
        """A cell in which a question is answered."""
        return _code(f"learn.answer({self.lesson.number}, {name!r}, {(right if self.answers else '')!r})")

    def _run(self, call: str) -> dict[str, Any]:
        """A cell that computes; a command is run as one."""
        full = self.calculator.in_full(call, self.lesson)
        computation, _ = split_call(full)
        if computation.name == "command":
            command = full.partition("heedmap ")[2].partition(" | ")[0]
            return _code(f"!{{sys.executable}} -m heedmap {command}")
        return _code(f"learn.live({full!r})")

    def _languages(self, piece: blocks.Languages) -> str:
        """One function in every language."""
        parts = [self.fill(piece.text, piece.line)]
        parts += [f"**{one.name}**\n\n```{one.fence}\n{one.function(piece.function)}\n```" for one in LANGUAGES]
        return "\n\n".join(parts)


def _view_code(piece: blocks.View) -> str:
    """The Python that shows a text read by a model, as a widget in the notebook."""
    places = [f"{name}={piece.options[name]}" for name in ("layer", "head") if name in piece.options]
    word = [f"word={piece.options['word']!r}"] if "word" in piece.options else []
    model = piece.options.get("model", DEFAULT_MODEL)
    read = f"reading = hm.load({model!r}).read({piece.words!r}, values=True)"
    return f"import heedmap as hm\n\n{read}\nreading.widget({', '.join([*word, *places])})"


def _numbered(texts: Sequence[str]) -> str:
    """A numbered list."""
    return "\n".join(f"{index}. {text}" for index, text in enumerate(texts, 1))


def _folded(title: str, text: str) -> str:
    """Text that is opened when one wants to see it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _markdown(text: str) -> dict[str, Any]:
    """A text cell."""
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(text.strip())}


def _code(text: str) -> dict[str, Any]:
    """A code cell, not yet run."""
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": _lines(text)}


def _lines(text: str) -> list[str]:
    """As notebooks keep text: lines with their ends."""
    return text.splitlines(keepends=True)
