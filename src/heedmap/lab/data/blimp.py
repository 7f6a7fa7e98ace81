"""BLiMP: a good sentence and a bad one that differ in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heedmap.lab.data.difference import difference
from heedmap.lab.data.lines import Line
from heedmap.lab.data.reader import Read, Unusable, json_object, question, read_each, text_in
from heedmap.lab.data.types import Question
from heedmap.text.labels import Span

_LAST_WORD = re.compile(r"\S+(?=\s*$)")
_NEXT_WORD = re.compile(r"\s*\S+")


def read(lines: Iterator[Line]) -> Iterator[Read]:
    """JSON lines with sentence_good and sentence_bad: which words belong where they differ?"""
    return read_each(lines, _row)


def _row(line: Line) -> Question:
    row = json_object(line)
    good, bad = text_in(row, "sentence_good"), text_in(row, "sentence_bad")
    if good == bad:
        raise Unusable("both sentences are the same")
    place, instead = _difference(good, bad)
    right = good[slice(*place)]
    # In the order of the alphabet, so that the right one is not always the first.
    first, second = sorted((right, instead))
    family = str(row.get("UID", line.number))
    return question(
        id=f"{family}-{row.get('pairID', line.number)}",
        text=good,
        word=place,
        candidates=(first, second),
        answer=(first, second).index(right),
        family=family,
        blank=True,
    )


def _difference(good: str, bad: str) -> tuple[Span, str]:
    """The range of the words that differ in the good sentence, and those of the bad one.

    A neighbour is taken in where one sentence only has a word more.

    Example:
        >>> _difference("The cat that sat ran.", "The cat sat ran.")
        ((4, 12), 'cat')
    """
    own, other = difference(good, bad)
    if own[0] == own[1] or other[0] == other[1]:
        before = _LAST_WORD.search(good[: own[0]])
        if before is not None:
            own, other = ((before.start(), span[1] if span[0] < span[1] else before.end()) for span in (own, other))
        else:
            own, other = _with_next_word(good, own), _with_next_word(bad, other)
    return own, bad[slice(*other)]


def _with_next_word(text: str, span: Span) -> Span:
    """A range and the word after it."""
    after = _NEXT_WORD.match(text, span[1])
    return span if after is None else (span[0], after.end())
