"""What a lesson is made of: text and typed blocks, each knowing the line it began on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PROSE = {
    "point": "The point",
    "opening": "To begin with",
    "comparison": "In everyday life",
    "myth": "A myth",
    "mistake": "A common mistake",
    "trade-off": "A trade-off",
    "deeper": "A deeper corner",
    "stuck": "If you get stuck",
    "reading": "Further reading",
    "recap": "In short",
}
"""The kinds that hold text only, each with the heading it is shown under."""

TITLED = {"comparison", "myth", "mistake", "trade-off", "deeper", "diagram", "break"}
"""The kinds that need a title after their name."""

COMPLETE = {
    **dict.fromkeys(("point", "opening", "comparison", "words", "diagram", "predict", "trade-off", "explain"), 1),
    **dict.fromkeys(("checkpoint", "break", "myth", "mistake", "exercise", "quiz"), 2),
    **dict.fromkeys(("deeper", "stuck", "reading", "done", "recap", "time"), 1),
}
"""How many of each kind every lesson of the course itself has, at least."""


@dataclass(frozen=True)
class Markdown:
    """Text between blocks: the idea, step by step.

    Attributes:
        text: Markdown, with live numbers as `{{call}}`.
        line: where it begins.
    """

    text: str
    line: int


@dataclass(frozen=True)
class Prose:
    """A block of text: the point, an everyday comparison, a myth, a mistake, a recap ...

    Attributes:
        kind: which, one of `PROSE`.
        title: what it is about, empty where the kind needs none.
        text: Markdown.
        line: where it begins.
    """

    kind: str
    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Words:
    """The words a lesson adds to the course's one glossary: term and meaning (Markdown)."""

    terms: dict[str, str]
    line: int


@dataclass(frozen=True)
class Numbers:
    """Names for live numbers, so that diagrams and sentences can use them shortly: name and call."""

    calls: dict[str, str]
    line: int


@dataclass(frozen=True)
class Diagram:
    """A drawing in characters.

    Attributes:
        title: says in words what it shows (also for those who cannot see it).
        text: the drawing; a `{{name}}` in it is filled to the width its braces took.
        line: where it begins.
    """

    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Live:
    """A table, picture or output computed when the lesson is built.

    Attributes:
        call: the computation and its arguments.
        text: a sentence about it, may be empty.
        line: where it begins.
    """

    call: str
    text: str
    line: int


@dataclass(frozen=True)
class View:
    """A text read by a real model, to be looked through: a whole page on a site, a command elsewhere.

    Attributes:
        words: what the text is.
        options: `word`, `layer`, `head` and `model`, where they are given.
        text: a sentence about it, may be empty.
        line: where it begins.
    """

    words: str
    options: dict[str, str]
    text: str
    line: int

    @property
    def command(self) -> str:
        """The command that shows the same."""
        given = "".join(f" --{name} {value}" for name, value in self.options.items())
        return f'heedmap view "{self.words}"{given} --open'


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that people give, and what it shows they did."""

    answer: str
    reason: str


@dataclass(frozen=True)
class Checkpoint:
    """A short question in the text, answered with a number or a word.

    Attributes:
        name: what the learner's progress calls it.
        question: Markdown.
        answer: a call in braces, or a plain word.
        within: how far a number may be off, or `None` for the rounding that is taught.
        hint: one step towards it.
        wrong: answers recognised as known mistakes.
        line: where it begins.
    """

    name: str
    question: str
    answer: str
    within: float | None
    hint: str
    wrong: tuple[Wrong, ...]
    line: int


@dataclass(frozen=True)
class Predict:
    """Say what will happen, then run it and compare.

    Attributes:
        name: what the kept prediction is called.
        question: Markdown.
        options: what may be predicted; empty when a number is asked for.
        answer: a call in braces; with options its text must be one of them.
        within: how near a predicted number counts as right.
        run: the call that is run afterwards.
        then: what the outcome means, Markdown.
        line: where it begins.
    """

    name: str
    question: str
    options: tuple[str, ...]
    answer: str
    within: float | None
    run: str
    then: str
    line: int


@dataclass(frozen=True)
class Break:
    """Something broken on purpose.

    Attributes:
        title: what is broken.
        text: how, Markdown.
        run: the call that shows it.
        wrong: what should go wrong, Markdown.
        line: where it begins.
    """

    title: str
    text: str
    run: str
    wrong: str
    line: int


@dataclass(frozen=True)
class Exercise:
    """Exercises without end from a generator.

    Attributes:
        generator: its name.
        level: 1 to 3.
        text: a sentence before it, may be empty.
        line: where it begins.
    """

    generator: str
    level: int
    text: str
    line: int


@dataclass(frozen=True)
class Code:
    """A function for the learner to write, checked by `heedmap learn check FILE.py`."""

    function: str
    text: str
    line: int


@dataclass(frozen=True)
class Languages:
    """One function of the arithmetic in several languages side by side."""

    function: str
    text: str
    line: int


@dataclass(frozen=True)
class Option:
    """One answer of a quiz, right or wrong, with the reason."""

    text: str
    right: bool
    reason: str


@dataclass(frozen=True)
class Quiz:
    """One question with answers to choose from; exactly one is right."""

    name: str
    question: str
    options: tuple[Option, ...]
    line: int


@dataclass(frozen=True)
class Explain:
    """Explain it in your own words; `holds` is what a good answer holds."""

    prompt: str
    holds: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Goal:
    """One "you are done when you can ...": the deed that ticks it, and what one can do then."""

    deed: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Done:
    """The goals of a lesson, ticked by doing."""

    goals: tuple[Goal, ...]
    line: int


@dataclass(frozen=True)
class Time:
    """How long a lesson takes, in minutes."""

    minutes: int
    line: int


Piece = (
    Markdown
    | Prose
    | Words
    | Numbers
    | Diagram
    | Live
    | Checkpoint
    | Predict
    | Break
    | Exercise
    | Code
    | Languages
    | Quiz
    | Explain
    | Done
    | Time
    | View
)


@dataclass(frozen=True)
class Lesson:
    """One lesson as it was written: nothing in it is computed yet.

    Attributes:
        number: from its file's name, `07-where-it-sits.md` is 7.
        slug: the rest of the file's name.
        title: its first heading.
        pieces: text and blocks in order.
        path: its file.
    """

    number: int
    slug: str
    title: str
    pieces: tuple[Piece, ...]
    path: Path

    @property
    def numbers(self) -> dict[str, str]:
        """The names that `numbers` blocks give to calls."""
        return {name: call for piece in self.pieces if isinstance(piece, Numbers) for name, call in piece.calls.items()}

    @property
    def kinds(self) -> set[str]:
        """The kinds of block that stand in it."""
        return {kind_of(piece) for piece in self.pieces}

    @property
    def point(self) -> str:
        """The point in a line, or nothing."""
        return next((piece.text for piece in self.pieces if isinstance(piece, Prose) and piece.kind == "point"), "")

    @property
    def minutes(self) -> int | None:
        """How long it takes, where it says so."""
        return next((piece.minutes for piece in self.pieces if isinstance(piece, Time)), None)

    def missing(self) -> list[str]:
        """The kinds of block of which a lesson of the course would have more, and how many there are."""
        there = Counter(map(kind_of, self.pieces))
        return [f"{kind} ({there[kind]} of {least})" for kind, least in COMPLETE.items() if there[kind] < least]


def kind_of(piece: Piece) -> str:
    """The kind as it is written after the colons; `markdown` for text.

    Example:
        >>> kind_of(Time(20, 1)), kind_of(Prose("trade-off", "Sharp or soft", "", 1))
        ('time', 'trade-off')
    """
    return piece.kind if isinstance(piece, Prose) else type(piece).__name__.lower()
