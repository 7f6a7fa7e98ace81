"""Finding words in a text, in any script.

A word begins and ends between two clusters that are not both letters ("it" does not stand in "suitcase", and does
in "it's"). Where a script writes no spaces between words, every character may begin or end a word. Composed and
decomposed spellings of a character are the same character.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from heedmap.text.clusters import (
    cluster_at,
    cluster_starts,
    clusters,
    is_border,
    is_letter,
    is_unspaced,
)
from heedmap.text.labels import Span


@dataclass(frozen=True)
class _Folded:
    """A text in which spellings of one character are alike, with the way back to the source.

    Attributes:
        text: the folded text.
        borders: where clusters begin in it; entry `n` belongs to entry `n` of the source's cluster starts.
    """

    text: str
    borders: Sequence[int]

    def between(self, first: int, last: int) -> str:
        """The folded text of a range of clusters."""
        return self.text[self.borders[first] : self.borders[last]]

    def border(self, position: int) -> int | None:
        """The number of the cluster that begins at a position of the folded text."""
        number = bisect_left(self.borders, position)
        return number if number < len(self.borders) and self.borders[number] == position else None


def _fold(cluster: str, *, ignore_case: bool) -> str:
    if ignore_case:
        cluster = unicodedata.normalize("NFD", cluster).casefold()
    return unicodedata.normalize("NFC", cluster)


def _fold_all(text: str, *, ignore_case: bool) -> _Folded:
    if text.isascii():
        return _Folded(text.casefold() if ignore_case else text, range(len(text) + 1))
    folded, borders, position = [], [0], 0
    for cluster in clusters(text):
        folded.append(_fold(cluster, ignore_case=ignore_case))
        position += len(folded[-1])
        borders.append(position)
    return _Folded("".join(folded), borders)


class TextIndex:
    """A text made ready to be searched; what it needs is worked out when first asked for.

    Args:
        text: the source text.
        markers: ranges that are no words whatever they look like (special tokens typed in the text).
    """

    def __init__(self, text: str, markers: Sequence[Span] = ()) -> None:
        self.text = text
        self._markers = markers
        self._cuts = {position for span in markers for position in span}
        self._foldings: dict[bool, _Folded] = {}
        self._places: dict[bool, dict[str, list[int]]] = {}

    def find(self, query: str, *, ignore_case: bool = False, whole: bool = True) -> list[Span]:
        """Where a word or phrase stands, as ranges of the source text, from left to right, none overlapping.

        Args:
            query: the word; white space in it stands for any white space.
            ignore_case: whether `the` finds `The`.
            whole: whether it must begin and end as a word does, rather than anywhere between two clusters.

        >>> TextIndex("It suits it.").find("it")
        [(9, 11)]
        """
        parts = query.split()
        if not parts:
            return []
        folded = self._folded(ignore_case)
        phrase = re.compile(r"\s+".join(re.escape(_fold_all(p, ignore_case=ignore_case).text) for p in parts))
        spans = []
        reached = 0
        for position in self._candidates(parts[0], ignore_case=ignore_case, whole=whole):
            match = phrase.match(folded.text, position)
            if match is None or position < reached:
                continue
            first, last = folded.border(match.start()), folded.border(match.end())
            if first is None or last is None:
                continue
            if not whole or (self._is_border(first) and self._is_border(last)):
                spans.append((self._starts[first], self._starts[last]))
                reached = match.end()
        return spans

    def words(self) -> list[Span]:
        """What stands between white space, punctuation included, as ranges of the source text.

        In scripts written without spaces each letter stands alone, so that a sentence is never one word.

        >>> [TextIndex(text).words() for text in ("two-week trip.", "你好。")]
        [[(0, 8), (9, 14)], [(0, 1), (1, 3)]]
        """
        text = self.text
        for start, end in self._markers:
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return [span for run in re.finditer(r"\S+", text) for span in self._divide(*run.span())]

    @cached_property
    def _starts(self) -> Sequence[int]:
        return cluster_starts(self.text)

    def _folded(self, ignore_case: bool) -> _Folded:
        if ignore_case not in self._foldings:
            self._foldings[ignore_case] = _fold_all(self.text, ignore_case=ignore_case)
        return self._foldings[ignore_case]

    def _letter_places(self, ignore_case: bool) -> dict[str, list[int]]:
        """The clusters at which each folded run of letters begins."""
        if ignore_case not in self._places:
            places = self._places[ignore_case] = {}
            for first, last in self._letter_runs():
                places.setdefault(self._folded(ignore_case).between(first, last), []).append(first)
        return self._places[ignore_case]

    def _letter_runs(self) -> Iterator[tuple[int, int]]:
        """The longest runs of letters without a border inside, as ranges of clusters."""
        first: int | None = None
        for number in range(len(self._starts) - 1):
            if first is not None and self._is_border(number):
                yield first, number
                first = None
            if first is None and is_letter(self._cluster(number)):
                first = number
        if first is not None:
            yield first, len(self._starts) - 1

    def _candidates(self, query: str, *, ignore_case: bool, whole: bool) -> Iterator[int]:
        """The places in the folded text, in order, where a query without white space may begin."""
        folded = self._folded(ignore_case)
        wanted = TextIndex(query)
        run = next(wanted._letter_runs(), None)
        if whole and run is not None:
            # A word begins and ends at borders, so its first run of letters is one of the text's.
            key = wanted._folded(ignore_case).between(*run)
            for number in self._letter_places(ignore_case).get(key, ()):
                if number >= run[0]:
                    yield folded.borders[number - run[0]]
            return
        position = -1
        while (position := folded.text.find(wanted._folded(ignore_case).text, position + 1)) >= 0:
            yield position

    def _cluster(self, number: int) -> str:
        return self.text[self._starts[number] : self._starts[number + 1]]

    def _is_border(self, number: int) -> bool:
        """Whether a word may begin or end before a cluster."""
        if number in (0, len(self._starts) - 1) or self._starts[number] in self._cuts:
            return True
        return is_border(self._cluster(number - 1), self._cluster(number))

    def _divide(self, start: int, end: int) -> Iterator[Span]:
        """Cut a run without white space where a script without spaces begins a new letter."""
        if self.text[start:end].isascii():
            yield start, end
            return
        # White space can carry an accent; a word begins after both.
        first = bisect_left(self._starts, start)
        last = cluster_at(self._starts, end)
        begin = first
        for number in range(first + 1, last):
            before, after = self._cluster(number - 1), self._cluster(number)
            if is_unspaced(after) or (is_letter(after) and is_unspaced(before)):
                yield self._starts[begin], self._starts[number]
                begin = number
        if begin < last:
            yield self._starts[begin], self._starts[last]
