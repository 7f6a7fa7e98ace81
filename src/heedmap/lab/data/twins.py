"""Which questions belong together as the two versions of a pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from heedmap.lab.data.lines import Line
from heedmap.lab.data.places import noun_of
from heedmap.lab.data.reader import Read
from heedmap.lab.data.types import Pair, Question

WAITING = 10_000
"""So many questions wait for their twins at most; published sets have them within a few lines."""


def beside_each_other(rows: Iterator[Read]) -> Iterator[Read]:
    """Make a unit of two neighbours that name the same nouns and mean different ones; others stay alone."""
    before: Question | None = None
    for line, value in rows:
        if not isinstance(value, Question):
            before = None
        elif before is not None and _same_nouns(before, value) and before.answer != value.answer:
            value = replace(value, unit=before.unit, family=before.family)
            before = None
        else:
            before = value
        yield line, value


def _same_nouns(first: Question, second: Question) -> bool:
    names = [[noun_of(candidate).casefold() for candidate in one.candidates] for one in (first, second)]
    return names[0] == names[1]


def pair_up(rows: Iterator[Read]) -> Iterator[Read]:
    """Join the two questions of each unit into a pair; those without a twin come as questions, after the others."""
    waiting: dict[str, tuple[Line, Question]] = {}
    for line, value in rows:
        if not isinstance(value, Question):
            yield line, value
            continue
        twin = waiting.pop(value.unit, None)
        pair = None if twin is None else join(twin[1], value)
        if twin is not None and pair is not None:
            yield twin[0], pair
            continue
        if twin is not None:
            yield twin
        waiting[value.unit] = (line, value)
        if len(waiting) > WAITING:
            yield waiting.pop(next(iter(waiting)))
    yield from waiting.values()


def join(first: Question, second: Question) -> Pair | None:
    """Two questions as one pair; None where their nouns differ or both mean the same.

    Example:
        >>> one = Question("1", "f", "Ann saw Eve as she ran.", "she", ("Ann", "Eve"), 0, "u")
        >>> join(one, replace(one, id="2", text="Ann saw Eve as she sat.", candidates=("Eve", "Ann"))).answers
        (0, 1)
    """
    if not _same_nouns(first, second):
        second = replace(second, candidates=second.candidates[::-1], answer=1 - second.answer)
    if not _same_nouns(first, second) or first.answer == second.answer or first.text == second.text:
        return None
    return Pair(
        first.unit,
        first.family,
        (first.text, second.text),
        (first.word, second.word),
        first.candidates,
        (first.answer, second.answer),
        blank=first.blank,
    )
