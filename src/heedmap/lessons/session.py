"""One sitting with a lesson in the terminal: page by page, questions in their places, everything kept at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, RenderableType

from heedmap.errors import LessonError
from heedmap.lessons import blocks
from heedmap.lessons.answering import keep
from heedmap.lessons.figures import Calculator
from heedmap.lessons.goals import ticked
from heedmap.lessons.practice import practise
from heedmap.lessons.progress import Progress
from heedmap.lessons.questions import answer_checkpoint, answer_quiz, read_prediction, shown_checkpoint
from heedmap.lessons.show import Page, Shower, pages

TRIES = 3
"""So often a checkpoint may be tried before its answer is shown."""

Ask = Callable[[str], str]
"""Asks for a line of input; raises EOFError when there is no more."""


class Left(Exception):  # noqa: N818 - it is no error
    """The learner has had enough for now."""


class Session:
    """One sitting with one lesson.

    Args:
        lesson: which.
        calculator: computes its live numbers.
        progress: where everything is kept.
        console: where it is shown.
        ask: asks for a line.
    """

    def __init__(
        self, lesson: blocks.Lesson, calculator: Calculator, progress: Progress, console: Console, ask: Ask
    ) -> None:
        self.lesson, self.progress, self.console, self.ask_line = lesson, progress, console, ask
        self.calculator = calculator
        self.shower = Shower(lesson, calculator, console.encoding)

    def run(self, start: int | None = None) -> bool:
        """Read from a page on; by default from where the last sitting ended.

        Args:
            start: the page, from 0.

        Returns:
            Whether the end was reached.
        """
        every = pages(self.lesson)
        page = self.done.get("page", 0) if start is None else start
        page = page if 0 <= page < len(every) else 0
        if start is None and page:
            self.say(self.shower.quiet(f"going on with page {page + 1} of {len(every)}"))
        try:
            for index in range(page, len(every)):
                self._page(every[index], index, len(every))
                with self.progress.changing(self.lesson.slug) as kept:
                    kept["page"] = index + 1 if index + 1 < len(every) else 0
                    if index + 1 == len(every):
                        kept["read"] = True
        except (Left, EOFError):
            self.say(self.shower.quiet(f"kept; `heedmap learn {self.lesson.number}` goes on from here"))
            return False
        reached, goals = ticked(self.lesson, self.done)
        self.say(self.shower.quiet(f"the end of lesson {self.lesson.number}: {reached} of {goals} goals are ticked"))
        return True

    def quiz(self) -> tuple[int, int]:
        """All questions of the quiz; how many were right at once, of how many."""
        quizzes = [piece for piece in self.lesson.pieces if isinstance(piece, blocks.Quiz)]
        right = 0
        for piece in quizzes:
            self.say(self.shower.piece(piece, {}))
            right += self._quiz(piece)
        return right, len(quizzes)

    @property
    def done(self) -> dict[str, Any]:
        """What has been done of this lesson so far."""
        return self.progress.lesson(self.lesson.slug)

    def say(self, *parts: RenderableType) -> None:
        """Show something."""
        for part in parts:
            self.console.print(part)

    def ask(self, prompt: str) -> str:
        """A line from the learner.

        Raises:
            Left: it was `q`.
        """
        line = self.ask_line(prompt).strip()
        if line == "q":
            raise Left
        return line

    def _page(self, page: Page, index: int, count: int) -> None:
        """One page, with its questions in their places."""
        self.say("", self.shower.heading(f"{page.title}  ({index + 1}/{count})"), "")
        for piece in page.pieces:
            self.say(self.shower.piece(piece, self.done))
            self._do(piece)
        if index + 1 < count:
            self.ask("Enter goes on, q leaves: ")

    def _do(self, piece: blocks.Piece) -> None:
        """What a block asks for."""
        if isinstance(piece, blocks.Checkpoint):
            self._checkpoint(piece)
        elif isinstance(piece, blocks.Predict):
            self._predict(piece)
        elif isinstance(piece, blocks.Break):
            self._break(piece)
        elif isinstance(piece, blocks.Quiz):
            self._quiz(piece)
        elif isinstance(piece, blocks.Explain):
            self._explain(piece)
        elif isinstance(piece, blocks.Exercise):
            self._exercise(piece)

    def _checkpoint(self, piece: blocks.Checkpoint) -> None:
        """A short question, with a hint and three tries."""
        for _ in range(TRIES):
            typed = self.ask("your answer (? for a hint, Enter to skip): ")
            if typed == "?":
                self._markdown(piece.hint or "There is no hint for this one.", piece.line)
                typed = self.ask("your answer: ")
            if not typed:
                return
            verdict = answer_checkpoint(piece, typed, self.lesson, self.calculator)
            self._markdown(verdict.says, piece.line)
            keep(self.progress, self.lesson, piece, {"right": verdict.is_right, "answer": typed})
            if verdict.is_right:
                return
        self.say(self.shower.quiet(f"It is {shown_checkpoint(piece, self.lesson, self.calculator)}."))

    def _predict(self, piece: blocks.Predict) -> None:
        """A prediction, kept and compared with what happens."""
        before = self.done.get("predictions", {}).get(piece.name)
        if before:
            self.say(self.shower.quiet(f"you predicted: {before['said']}"))
        while not before:
            typed = self.ask("your prediction (Enter to run without one): ")
            if not typed:
                break
            try:
                outcome = read_prediction(piece, typed, self.lesson, self.calculator)
            except LessonError as error:
                self.say(self.shower.quiet(f"{error}."))
                continue
            kept = {"said": outcome.said, "was": outcome.was, "right": outcome.right, "when": _today()}
            keep(self.progress, self.lesson, piece, kept)
            self.say(f"You said: {outcome.said}. Running it ...")
            before = kept
        self.say(*self.shower.outcome(piece))
        if before:
            agree = "As you predicted" if before["right"] else "Not what you predicted"
            self.say(f"{agree}: you said {before['said']}, it was {before['was']}.", "")

    def _break(self, piece: blocks.Break) -> None:
        """Something broken on purpose."""
        guess = self.ask("What will go wrong? (a guess for yourself; Enter runs it) ")
        self.say("", *self.shower.broken(piece), "")
        with self.progress.changing(self.lesson.slug) as kept:
            titles = kept.setdefault("breaks", [])
            if piece.title not in titles:
                titles.append(piece.title)
            if guess:
                kept.setdefault("guesses", {})[piece.title] = guess

    def _quiz(self, piece: blocks.Quiz) -> bool:
        """One question; every wrong answer is told why. Whether it was right at once."""
        tries = 0
        while True:
            typed = self.ask("your answer (Enter to skip): ")
            if not typed:
                return False
            try:
                right, reason = answer_quiz(piece, typed, self.lesson, self.calculator)
            except LessonError as error:
                self.say(self.shower.quiet(f"{error}."))
                continue
            tries += 1
            self.say("Right." if right else "Not this one.")
            self._markdown(reason, piece.line)
            keep(self.progress, self.lesson, piece, {"right": right, "answer": typed})
            if right:
                return tries == 1

    def _explain(self, piece: blocks.Explain) -> None:
        """An explanation in the learner's own words, beside what a good one holds."""
        self.say(self.shower.quiet("Write as many lines as you like; an empty line ends it."))
        lines = []
        while line := self.ask("> "):
            lines.append(line)
        if lines:
            with self.progress.changing(self.lesson.slug) as kept:
                kept["explain"] = "\n".join(lines)
        self.say(*self.shower.holds(piece))

    def _exercise(self, piece: blocks.Exercise) -> None:
        """Exercises as long as the learner wants."""
        key = f"{piece.generator} {piece.level}"
        while (
            self.ask(f"y works one now ({self.done.get('exercises', {}).get(key, 0)} solved), Enter goes on: ") == "y"
        ):
            seed = next_seed(self.done, key)
            practise(piece.generator, piece.level, seed, self.console, self.ask, self.progress, [self.lesson.slug])

    def _markdown(self, text: str, line: int) -> None:
        """A sentence of the lesson."""
        self.say(self.shower.markdown(text, line))


def next_seed(done: dict[str, Any], key: str) -> int:
    """The first exercise of a kind that was not begun yet.

    Example:
        >>> next_seed({"begun": {"dot 1": 4}}, "dot 1"), next_seed({}, "dot 1")
        (5, 1)
    """
    return int(done.get("begun", {}).get(key, 0)) + 1


def _today() -> str:
    """The date, as it is kept beside a prediction."""
    return time.strftime("%Y-%m-%d")


def lessons_with(lessons: Iterable[blocks.Lesson], generator: str, level: int) -> list[str]:
    """The slugs of the lessons that an exercise belongs to."""
    return [
        lesson.slug
        for lesson in lessons
        if any(
            isinstance(piece, blocks.Exercise) and (piece.generator, piece.level) == (generator, level)
            for piece in lesson.pieces
        )
    ]
