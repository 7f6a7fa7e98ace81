"""Live numbers: a small closed set of named computations that lesson text may ask for, and nothing else.

A call is `name argument argument option=value`, with quotes around an argument that holds blanks. Each module that
offers computations registers them here; text is never run as code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heedmap.arithmetic.checks import parse as parse_number
from heedmap.arithmetic.names import listed, nearest
from heedmap.arithmetic.writing import number
from heedmap.errors import HeedmapError, LessonError
from heedmap.whole_numbers import whole_number

RunCommand = Callable[[list[str]], str]
"""Runs `heedmap` with these arguments and returns what it prints."""

_OPTION = re.compile(r"^(?P<name>[a-z]+(?:\.[^=]+)?)=(?P<value>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """What a computation gave.

    Attributes:
        text: as it is shown: a word or number in a sentence, or lines that keep their columns.
        value: the number behind it, unrounded; `None` for words and tables.
    """

    text: str
    value: float | None = None


@dataclass
class Arguments:
    """What stands after a computation's name; whatever is not taken is refused at the end.

    Attributes:
        words: the arguments not yet taken.
        options: the options not yet taken.
        raw: everything after the name, in order.
        run_command: runs a line of the `heedmap` command and returns what it prints, where that is possible.
    """

    words: list[str]
    options: dict[str, str]
    raw: tuple[str, ...] = ()
    run_command: RunCommand | None = None

    def word(self, what: str) -> str:
        """The next argument.

        Raises:
            LessonError: there is none.
        """
        if not self.words:
            raise LessonError(f"expected {what}, found nothing")
        return self.words.pop(0)

    def words_left(self) -> bool:
        """Whether there are more arguments."""
        return bool(self.words)

    def whole(self, what: str) -> int:
        """The next argument as a whole number, not negative.

        Raises:
            LessonError: it is not one.
        """
        text = self.word(what)
        number = whole_number(text)
        if number is None:
            raise LessonError(f"expected {what} (a whole number), found {text!r}")
        return number

    def numbers(self, what: str) -> list[float]:
        """The next argument as numbers separated by commas."""
        return [parse_number(f"{what}, number {index}", one) for index, one in enumerate(self.word(what).split(","))]

    def rows(self, what: str) -> list[list[float]]:
        """The next argument as rows separated by semicolons: `1,2;3,4`."""
        rows = self.word(what).split(";")
        return [[parse_number(f"{what}, row {index}", one) for one in row.split(",")] for index, row in enumerate(rows)]

    def option(self, name: str, default: str | None = None) -> str | None:
        """An option's text, taken."""
        return self.options.pop(name, default)

    def switch(self, name: str, default: bool) -> bool:
        """An option that is yes or no, taken.

        Raises:
            LessonError: it is neither.
        """
        text = self.options.pop(name, "yes" if default else "no")
        if text not in ("yes", "no"):
            raise LessonError(f"option {name}: expected yes or no, found {text!r}")
        return text == "yes"

    def whole_option(self, name: str, default: int | None = None, *, least: int = 0, most: int | None = None) -> int:
        """An option that is a whole number, taken.

        Raises:
            LessonError: it is not given and has no default, is none, or lies outside.
        """
        text = self.options.pop(name, "" if default is None else str(default))
        number = whole_number(text)
        if number is None or number < least or (most is not None and number > most):
            bounds = "" if most is None else f" from {least} to {most}"
            raise LessonError(f"option {name}: expected a whole number{bounds}, found {text!r}")
        return number

    def digits(self, default: int) -> int:
        """The option `digits`, taken.

        Raises:
            LessonError: it is not a whole number up to 15.
        """
        return self.whole_option("digits", default, most=15)

    def per_token(self, name: str) -> dict[str, list[float]]:
        """Options `name.TOKEN=1,2`, taken: token and its numbers."""
        start = f"{name}."
        found = {key: self.options.pop(key) for key in list(self.options) if key.startswith(start)}
        return {
            key.removeprefix(start): [parse_number(key, one) for one in value.split(",")]
            for key, value in found.items()
        }


@dataclass(frozen=True)
class Computation:
    """A named computation.

    Attributes:
        name: as it is called.
        usage: its arguments, for the documentation.
        says: what it gives, in a line.
        work: what does it.
        block: whether it gives lines rather than a word or number.
        model: whether it runs a language model, so that its result is kept.
    """

    name: str
    usage: str
    says: str
    work: Callable[[Arguments], Figure]
    block: bool = False
    model: bool = False


@dataclass
class Registry:
    """The closed set of computations."""

    known: dict[str, Computation] = field(default_factory=dict)

    def add(
        self, name: str, usage: str, says: str, *, block: bool = False, model: bool = False
    ) -> Callable[[Callable[[Arguments], Figure]], Callable[[Arguments], Figure]]:
        """Register a function as the computation `name`."""

        def register(work: Callable[[Arguments], Figure]) -> Callable[[Arguments], Figure]:
            assert name not in self.known, name
            self.known[name] = Computation(name, usage, says, work, block, model)
            return work

        return register

    def find(self, name: str) -> Computation:
        """The computation of this name.

        Raises:
            LessonError: there is none.
        """
        if name not in self.known:
            raise LessonError(
                f"no computation {name!r}: expected one of {listed(sorted(self.known))}{nearest(name, self.known)}"
            )
        return self.known[name]


REGISTRY = Registry()
"""Every computation that lessons may call."""


def split_call(call: str, names: Mapping[str, str] | None = None) -> tuple[Computation, Arguments]:
    """A call taken apart; `names` are the lesson's own short names for calls.

    Raises:
        LessonError: no such computation, or quotes that do not close.

    Example:
        >>> import heedmap.lessons.live_tools
        >>> computation, arguments = split_call("dot 2,1,0 3,1,4 digits=1")
        >>> computation.name, arguments.words, arguments.options
        ('dot', ['2,1,0', '3,1,4'], {'digits': '1'})
    """
    call = (names or {}).get(call.strip(), call)
    try:
        parts = shlex.split(call)
    except ValueError as error:
        raise LessonError(f"{call!r} cannot be read: {str(error).lower()}") from None
    if not parts:
        raise LessonError("expected a computation, found nothing")
    computation = REGISTRY.find(parts[0])
    words, options = [], {}
    for part in parts[1:]:
        match = _OPTION.match(part)
        if match is None:
            words.append(part)
        elif match["name"] in options:
            raise LessonError(f"option {match['name']} stands twice in {call!r}")
        else:
            options[match["name"]] = match["value"]
    return computation, Arguments(words, options, tuple(parts[1:]))


def compute(call: str, names: Mapping[str, str] | None = None, run_command: RunCommand | None = None) -> Figure:
    """The figure of a call, calculated now.

    Args:
        call: the computation and its arguments, or one of `names`.
        names: the lesson's own short names for calls.
        run_command: what runs the `heedmap` commands that lessons show.

    Raises:
        LessonError: the call is not one of the closed set, or its arguments do not fit.

    Example:
        >>> import heedmap.lessons.live_tools
        >>> compute("dot 2,1,0 3,1,4").text
        '7'
    """
    computation, arguments = split_call(call, names)
    arguments.run_command = run_command
    try:
        figure = computation.work(arguments)
    except HeedmapError as error:
        raise LessonError(f"`{call}`: {error}; it is written `{computation.name} {computation.usage}`") from None
    left = [*arguments.words, *(f"{name}={value}" for name, value in arguments.options.items())]
    if left:
        raise LessonError(
            f"`{call}`: {listed(left)} is too much; it is written `{computation.name} {computation.usage}`"
        )
    return figure


def rounded(value: float, digits: int) -> Figure:
    """A number, rounded for the page.

    Example:
        >>> rounded(2.847718, 2)
        Figure(text='2.85', value=2.847718)
    """
    return Figure(number(value, digits), float(value))
