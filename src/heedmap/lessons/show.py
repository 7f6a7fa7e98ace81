"""Shows lessons in the terminal: Markdown, drawings, tables and questions, in pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.markdown import Markdown as RichMarkdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from heedmap.drawing.labels import encodable
from heedmap.lessons import blocks
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator
from heedmap.lessons.goals import goals_of, is_ticked
from heedmap.lessons.languages import LANGUAGES
from heedmap.lessons.questions import filled_options, shown_checkpoint

HEADING = "bold"
QUIET = "dim"
INDENT = 2
"""Columns that tables and drawings are moved to the right."""


@dataclass(frozen=True)
class Page:
    """A part of a lesson that is read at once.

    Attributes:
        title: its heading, or the lesson's title on the first page.
        pieces: what stands on it.
    """

    title: str
    pieces: tuple[blocks.Piece, ...]


def pages(lesson: blocks.Lesson) -> list[Page]:
    """A lesson in pages: a new one begins at each `## ` heading.

    Example:
        >>> from heedmap.lessons.course import load_course
        >>> [page.title for page in pages(load_course().lessons[0])][:3]
        ['One word looks back', 'What each word has', 'Step 1: compare']
    """
    found: list[tuple[str, list[blocks.Piece]]] = [(lesson.title, [])]
    for piece in lesson.pieces:
        if isinstance(piece, blocks.Numbers):
            continue  # names for computations: nothing to be seen
        if not isinstance(piece, blocks.Markdown):
            found[-1][1].append(piece)
            continue
        for title, part in _split(piece):
            if title:
                found.append((title, []))
            if part.text:
                found[-1][1].append(part)
    return [Page(title, tuple(pieces)) for title, pieces in found if pieces]


def _split(piece: blocks.Markdown) -> Iterator[tuple[str, blocks.Markdown]]:
    """Text at its `## ` headings: title (empty for what stands before the first) and text."""
    title, line = "", piece.line
    lines: list[str] = []
    fenced = False
    for number, text in enumerate(piece.text.split("\n"), piece.line):
        fenced ^= text.startswith("```")
        if text.startswith("## ") and not fenced:
            yield title, blocks.Markdown("\n".join(lines).strip("\n"), line)
            title, lines, line = text[3:].strip(), [], number + 1
        else:
            lines.append(text)
    yield title, blocks.Markdown("\n".join(lines).strip("\n"), line)


class Shower:
    """Turns the pieces of a lesson into what a terminal can print.

    Args:
        lesson: whose pieces they are.
        calculator: computes the live numbers.
        encoding: of the terminal; what it lacks is written plainer.
        answers: whether questions are shown with their answers.
    """

    def __init__(self, lesson: blocks.Lesson, calculator: Calculator, encoding: str, *, answers: bool = False) -> None:
        self.lesson, self.calculator, self.encoding, self.answers = lesson, calculator, encoding, answers

    def markdown(self, text: str, line: int) -> RenderableType:
        """Markdown with its live numbers put in."""
        filled = self.calculator.fill(text, self.lesson, line)
        return RichMarkdown(encodable(filled, self.encoding), hyperlinks=False)

    def heading(self, text: str) -> Text:
        """A heading."""
        return Text(encodable(text, self.encoding), style=HEADING)

    def quiet(self, text: str) -> Text:
        """A remark."""
        return Text(encodable(text, self.encoding), style=QUIET)

    def block(self, call: str, line: int) -> RenderableType:
        """Lines that a computation gave, as they are."""
        return self.lines(self.calculator.figure(call, self.lesson, line).text)

    def lines(self, text: str) -> RenderableType:
        """Lines that keep their columns."""
        return Padding(Text(encodable(text, self.encoding), overflow="fold"), (0, 0, 0, INDENT), expand=False)

    def piece(self, piece: blocks.Piece, done: dict[str, Any]) -> RenderableType:
        """One piece, as it is read.

        Args:
            piece: what to show.
            done: what the learner has done of this lesson, for the goals.
        """
        parts = list(self._parts(piece, done))
        return Group(*(part for one in parts for part in (one, Text("")))) if parts else Group()

    def _parts(self, piece: blocks.Piece, done: dict[str, Any]) -> Iterator[RenderableType]:
        """What one piece consists of."""
        if isinstance(piece, blocks.Markdown):
            yield self.markdown(piece.text, piece.line)
        elif isinstance(piece, blocks.Prose):
            title = f"{blocks.PROSE[piece.kind]}: {piece.title}" if piece.title else blocks.PROSE[piece.kind]
            yield self.heading(title)
            yield self.markdown(piece.text, piece.line)
        elif isinstance(piece, blocks.Words):
            yield self.heading("New words")
            yield self.markdown("\n".join(f"- **{term}**: {says}" for term, says in piece.terms.items()), piece.line)
        elif isinstance(piece, blocks.Diagram):
            yield self.heading(piece.title)
            yield self.lines(self.calculator.fill_diagram(piece.text, self.lesson, piece.line))
        elif isinstance(piece, blocks.Live):
            yield self.block(piece.call, piece.line)
            if piece.text:
                yield self.markdown(piece.text, piece.line)
        elif isinstance(piece, blocks.View):
            if piece.text:
                yield self.markdown(piece.text, piece.line)
            yield self.quiet(f"Look through it in the browser: {piece.command}")
        elif isinstance(piece, blocks.Time):
            yield self.quiet(f"about {piece.minutes} minutes")
        elif isinstance(piece, blocks.Done):
            yield from self._goals(done)
        elif isinstance(piece, blocks.Languages):
            yield from self._languages(piece)
        else:
            yield from self._question(piece)

    def _question(self, piece: blocks.Piece) -> Iterator[RenderableType]:
        """A block that asks for something to be done."""
        if isinstance(piece, blocks.Checkpoint):
            yield self.heading("Checkpoint")
            yield self.markdown(piece.question, piece.line)
            if self.answers:
                yield self.quiet(f"answer: {shown_checkpoint(piece, self.lesson, self.calculator)}")
        elif isinstance(piece, blocks.Predict):
            yield self.heading("Predict, then run")
            yield self.markdown(piece.question, piece.line)
            yield from self._choices(filled_options(piece, self.lesson, self.calculator))
            if self.answers:
                yield from self.outcome(piece)
        elif isinstance(piece, blocks.Break):
            yield self.heading(f"Break it: {piece.title}")
            yield self.markdown(piece.text, piece.line)
            if self.answers:
                yield from self.broken(piece)
        elif isinstance(piece, blocks.Quiz):
            yield self.heading("Quiz")
            yield self.markdown(piece.question, piece.line)
            texts = [self.calculator.fill(one.text, self.lesson, piece.line, escape=False) for one in piece.options]
            yield from self._choices(texts)
            if self.answers:
                yield self.markdown(self._reasons(piece), piece.line)
        elif isinstance(piece, blocks.Explain):
            yield self.heading("Explain it without notes")
            yield self.markdown(piece.prompt, piece.line)
            if self.answers:
                yield from self.holds(piece)
        elif isinstance(piece, blocks.Exercise):
            yield from self._exercise(piece)
        elif isinstance(piece, blocks.Code):
            yield self.heading(f"Write {piece.function}")
            yield self.markdown(piece.text, piece.line)
            yield self.quiet("Then: heedmap learn check YOUR-FILE.py")

    def outcome(self, piece: blocks.Predict) -> Iterator[RenderableType]:
        """What happens, and what it means."""
        yield self.block(piece.run, piece.line)
        yield self.markdown(piece.then, piece.line)

    def broken(self, piece: blocks.Break) -> Iterator[RenderableType]:
        """What comes out, and what is wrong with it."""
        yield self.block(piece.run, piece.line)
        yield self.markdown(piece.wrong, piece.line)

    def holds(self, piece: blocks.Explain) -> Iterator[RenderableType]:
        """What a good explanation holds."""
        yield self.quiet("A good answer holds:")
        yield self.markdown("\n".join(f"- {one}" for one in piece.holds), piece.line)

    def _choices(self, texts: tuple[str, ...] | list[str]) -> Iterator[RenderableType]:
        """Things to choose from, numbered."""
        if texts:
            yield Text(encodable("\n".join(f"  {n}  {text}" for n, text in enumerate(texts, 1)), self.encoding))

    def _reasons(self, piece: blocks.Quiz) -> str:
        """The reason of every answer."""
        marks = ("wrong", "right")
        return "\n".join(f"{n}. **{marks[one.right]}**: {one.reason}" for n, one in enumerate(piece.options, 1))

    def _exercise(self, piece: blocks.Exercise) -> Iterator[RenderableType]:
        """What there is to practise."""
        kind = generator(piece.generator)
        yield self.heading(f"Exercise: {kind.says}, level {piece.level} ({kind.levels[piece.level - 1]})")
        if piece.text:
            yield self.markdown(piece.text, piece.line)
        yield self.quiet(f"Without end: heedmap learn exercise {piece.generator} {piece.level}")

    def _goals(self, done: dict[str, Any]) -> Iterator[RenderableType]:
        """The goals, ticked as far as they are reached."""
        yield self.heading("You are done when you can ...")
        lines = []
        for goal in goals_of(self.lesson):
            mark = "[x]" if is_ticked(goal, self.lesson, done) else "[ ]"
            lines.append(f"{mark} {goal.text} ({' '.join(goal.deed)})")
        yield Text(encodable("\n".join(lines), self.encoding))

    def _languages(self, piece: blocks.Languages) -> Iterator[RenderableType]:
        """One function in every language."""
        if piece.text:
            yield self.markdown(piece.text, piece.line)
        for language in LANGUAGES:
            yield self.heading(language.name)
            yield Syntax(
                language.function(piece.function),
                language.fence,
                theme="ansi_light",
                background_color="default",
                word_wrap=True,  # a narrow terminal would otherwise lose the ends of lines
            )
