"""Where two texts differ: the words between a common beginning and a common end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heedmap.text.labels import Span

_WORDS = re.compile(r"\w+|[^\w\s]")


def difference(first: str, second: str) -> tuple[Span, Span]:
    """The words that differ, as a range of characters in each text.

    A range is empty where one text only has a word more.

    Example:
        >>> one, other = "It was too big.", "It was too small."
        >>> [text[slice(*span)] for text, span in zip((one, other), difference(one, other))]
        ['big', 'small']
    """
    words = [[found.span() for found in _WORDS.finditer(text)] for text in (first, second)]
    named = [[text[slice(*span)] for span in spans] for text, spans in zip((first, second), words, strict=True)]
    before = _alike(*named)
    after = min(_alike(named[0][::-1], named[1][::-1]), min(map(len, named)) - before)
    ranges = [
        _range(text, spans, before, len(spans) - after) for text, spans in zip((first, second), words, strict=True)
    ]
    return ranges[0], ranges[1]


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two texts have in common from the beginning."""
    together = list(zip(first, second, strict=False))
    return next((place for place, (one, other) in enumerate(together) if one != other), len(together))


def _range(text: str, words: Sequence[Span], first: int, stop: int) -> Span:
    """The characters of some words; where there are none, the place before the next."""
    if first < stop:
        return words[first][0], words[stop - 1][1]
    place = words[first][0] if first < len(words) else len(text)
    return place, place
