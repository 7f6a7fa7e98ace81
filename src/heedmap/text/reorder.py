"""The same text with its documents in another order: what stands between them stays where it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from heedmap.errors import OutOfRange, TextError
from heedmap.text.labels import visible
from heedmap.text.ranges import NamedSpan, Range

_MOST_LISTED = 8
"""Up to so many documents all their orders can be counted without much ado."""


@dataclass(frozen=True, slots=True)
class Reordered:
    """A text whose documents changed places.

    Attributes:
        text: the new text.
        pieces: each piece of the source text with where it begins now, in the order of the source.
    """

    text: str
    pieces: tuple[tuple[Range, int], ...]

    def moved(self, span: NamedSpan) -> NamedSpan:
        """A span of characters of the source text, where it stands now.

        Raises:
            TextError: it begins in one document and ends in another, so that it is torn apart.
        """
        return NamedSpan(span.name, tuple(self._moved(start, end, span) for start, end in span.ranges))

    def _moved(self, start: int, end: int, span: NamedSpan) -> Range:
        for (first, past), begins in self.pieces:
            if first <= start and end <= past:
                return begins + start - first, begins + end - first
        raise TextError(
            f"{span} begins in one of the documents and ends outside of it, so it has no place when they are "
            "reordered: let it end inside"
        )


def reorder(text: str, documents: Sequence[Range], order: Sequence[int]) -> Reordered:
    """Put document `order[p]` into place p.

    Args:
        text: the source text.
        documents: the half-open character ranges of the documents, in the order of the text, without overlap.
        order: the number of the document for each place.

    Example:
        >>> reorder("A: one. B: two.", [(3, 6), (11, 14)], [1, 0]).text
        'A: two. B: one.'
    """
    edges = [0, *(edge for span in documents for edge in span), len(text)]
    gaps = list(pairwise(edges))[::2]
    new: list[str] = []
    pieces: list[tuple[Range, int]] = []
    position = 0
    for place, gap in enumerate(gaps):
        for start, end in [gap, *([documents[order[place]]] if place < len(documents) else [])]:
            pieces.append(((start, end), position))
            new.append(text[start:end])
            position += end - start
    return Reordered("".join(new), tuple(sorted(pieces)))


def whole_range(span: NamedSpan) -> Range:
    """The one range of characters of a document.

    Raises:
        TextError: another span cuts it in two, so that it cannot be moved as a whole.
    """
    if len(span.ranges) != 1:
        raise TextError(f"{span} is cut in two by another span, so it cannot change places: name it as one range")
    return span.ranges[0]


def orders(documents: int, wanted: int | None, seed: int) -> list[tuple[int, ...]]:
    """The orders to run: the own order first, then all cyclic shifts, or random ones, no order twice.

    Args:
        documents: how many there are.
        wanted: how many orders in all, the own one included; None for the cyclic shifts, in which each document
            stands once in each place.
        seed: of the random orders.

    Raises:
        OutOfRange: fewer than two documents or orders.

    Example:
        >>> orders(3, None, 0)
        [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    """
    if documents < 2:
        raise OutOfRange(f"{documents} document cannot be reordered: name two or more, or split the text")
    if wanted is None:
        return [tuple((place + shift) % documents for place in range(documents)) for shift in range(documents)]
    if wanted < 2:
        raise OutOfRange(f"{wanted} order says nothing about places: take 2 or more")
    if documents <= _MOST_LISTED:
        wanted = min(wanted, int(np.prod(range(1, documents + 1))))
    found = dict.fromkeys([tuple(range(documents))])
    for order in _random_orders(documents, seed):
        found[order] = None
        if len(found) == wanted:
            break
    return list(found)


def _random_orders(documents: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Random orders without end."""
    random = np.random.default_rng(seed)
    while True:
        yield tuple(int(number) for number in random.permutation(documents))


def chosen(spans: Sequence[NamedSpan], names: Sequence[str]) -> list[NamedSpan]:
    """The spans of these names.

    Raises:
        TextError: there is no such span; the names there are, are listed.
    """
    by_name = {span.name: span for span in spans}
    for name in names:
        if name not in by_name:
            there = ", ".join(visible(one) for one in by_name)
            raise TextError(f"no part is called '{visible(name)}', so it cannot be reordered; there are: {there}")
    return [by_name[name] for name in dict.fromkeys(names)]
