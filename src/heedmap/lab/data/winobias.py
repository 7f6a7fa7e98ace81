"""WinoBias: numbered lines in which brackets mark a noun and the pronoun that means it; two lines share their nouns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from heedmap.lab.data.lines import Line
from heedmap.lab.data.places import noun_of, noun_place
from heedmap.lab.data.reader import Read, Unusable, question
from heedmap.lab.data.types import Question

LINE = re.compile(r"\s*(\d{1,18})\s+(.*\[.*)")
"""A number, and a sentence with brackets."""

_BRACKET = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class _Marked:
    """A line taken apart: its number, its text without brackets, and what stood in them with its places."""

    number: int
    text: str
    marked: tuple[tuple[str, int], ...]


def read(lines: Iterator[Line]) -> Iterator[Read]:
    """Lines 1 and 2, 3 and 4 ... are a pair: each names one noun of the other's text."""
    before: tuple[Line, _Marked] | None = None
    for line in lines:
        marked = None if line.broken else _take_apart(line.text)
        if marked is None:
            yield line, line.broken or "expected a number and a sentence with brackets: 1 [The cook] sat as [she] sang."
            continue
        if before is not None and before[1].number + 1 == marked.number and marked.number % 2 == 0:
            yield before[0], _read(before[1], marked)
            yield line, _read(marked, before[1])
            before = None
            continue
        if before is not None:
            yield before[0], _read(before[1], None)
        before = (line, marked)
    if before is not None:
        yield before[0], _read(before[1], None)


def _take_apart(text: str) -> _Marked | None:
    """A line's number, text and brackets; None where it has no such form."""
    found = LINE.fullmatch(text)
    if found is None:
        return None
    plain, marked, reached = "", [], 0
    for bracket in _BRACKET.finditer(found[2]):
        plain += found[2][reached : bracket.start()]
        marked.append((bracket[1], len(plain)))
        plain += bracket[1]
        reached = bracket.end()
    return _Marked(int(found[1]), plain + found[2][reached:], tuple(marked))


def _read(own: _Marked, twin: _Marked | None) -> Question | str:
    """The question of a line; what it lacks, as a string."""
    try:
        return _question(own, twin)
    except Unusable as reason:
        return str(reason)


def _question(own: _Marked, twin: _Marked | None) -> Question:
    if len(own.marked) != 2:
        raise Unusable(f"expected two brackets (a noun and its pronoun), found {len(own.marked)}")
    if twin is None or not twin.marked:
        raise Unusable("the other line of its pair, which names the other noun, is not beside it")
    nouns = [noun_of(one.marked[0][0]) for one in (own, twin)]
    if noun_place(own.text, nouns[1]) is None:
        raise Unusable(f"the other noun, {nouns[1]!r} in the line beside it, does not stand in this one")
    first, second = sorted(nouns, key=str.casefold)
    word, start = own.marked[1]
    even = max(own.number, twin.number)
    return question(
        id=f"winobias-{own.number}",
        text=own.text,
        word=(start, start + len(word)),
        candidates=(f"the {first}", f"the {second}"),
        answer=(first, second).index(nouns[0]),
        # The same two people meet in several pairs, which therefore never stand in different halves.
        family=f"{first}/{second}",
        unit=f"winobias-{even - 1}-{even}",
    )
