"""What every reader of a format shares: the shape of what it yields, and the checks of a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from heedmap.json_form import shown
from heedmap.json_text import parse_json
from heedmap.lab.data.lines import Line
from heedmap.lab.data.places import name_at, place_of
from heedmap.lab.data.types import Contrast, Pair, Question, Sentence
from heedmap.text.labels import Span

Value = Sentence | Contrast | Question | Pair
"""What a row of a data set can be."""

Read = tuple[Line, Value | str]
"""A line, and what it holds or, as a string, why it cannot be used."""

Reader = Callable[[Iterator[Line]], Iterator[Read]]
"""A format: from lines to what they hold, one at a time."""

BLANK = "_"
"""What stands in the place of the noun in sets that leave it out."""


class Unusable(Exception):  # noqa: N818 - it is no error of the program, and never leaves the readers
    """Why a line cannot be used, and what would have been right."""


def read_each(lines: Iterator[Line], read: Callable[[Line], Value]) -> Iterator[Read]:
    """Read line by line, with the reason where a line cannot be used."""
    for line in lines:
        if line.broken:
            yield line, line.broken
            continue
        try:
            yield line, read(line)
        except Unusable as reason:
            yield line, str(reason)


def json_object(line: Line) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        Unusable: it holds none.
    """
    try:
        found = parse_json(line.text)
    except ValueError as error:
        raise Unusable(f"it is not JSON: {getattr(error, 'msg', error)}") from None
    if not isinstance(found, dict):
        raise Unusable(f"expected a JSON object, found {shown(line.text)}")
    return found


def squeeze(text: str | None) -> str:
    """A text without white space around it, and with one space where there was any inside."""
    return re.sub(r"\s+", " ", text or "").strip()


def text_in(row: dict[str, Any], name: str) -> str:
    """A text that a row must have.

    Raises:
        Unusable: it is not there, or empty.
    """
    found = row.get(name)
    if not isinstance(found, str) or not found.strip():
        raise Unusable(f'expected a text as "{name}", found {shown(found)}')
    return found


def question(
    *,
    id: str,  # noqa: A002 - the field that it becomes
    text: str,
    word: str | Span,
    candidates: tuple[str, str],
    answer: int,
    family: str | None = None,
    unit: str | None = None,
    blank: bool = False,
) -> Question:
    """A question whose parts fit together.

    Args:
        id: unique in the set.
        text: the sentence.
        word: the pronoun as `Tokens.find` takes it, or its place.
        candidates: the two nouns.
        answer: 0 or 1.
        family: its own unit by default: a set that names no families has as many as units.
        unit: its own id by default.
        blank: whether the word is only a blank.

    Raises:
        Unusable: they do not.
    """
    if not all(candidate.strip() for candidate in candidates):
        raise Unusable(f"expected two candidates, found {candidates[0]!r} and {candidates[1]!r}")
    if candidates[0].casefold() == candidates[1].casefold():
        raise Unusable(f"both candidates are {candidates[0]!r}")
    name = word if isinstance(word, str) else name_at(text, word)
    if place_of(text, name) is None:
        raise Unusable(f"the word {name!r} does not stand once in {shown(text)}; a later one is named as {name}#2")
    unit = unit or id
    return Question(id, family or unit, text, name, candidates, answer, unit, blank)
