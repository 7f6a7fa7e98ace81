"""Heedmap's own format: JSON lines of sentences, of contrasts and of pairs; and plain text, a sentence a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heedmap.json_form import shown
from heedmap.lab.data.lines import Line
from heedmap.lab.data.places import noun_place, place_of
from heedmap.lab.data.reader import Read, Unusable, Value, json_object, read_each, text_in
from heedmap.lab.data.types import Contrast, Pair, Sentence

_OF_A_PAIR = ("word", "candidates", "answers")


def read_text(lines: Iterator[Line]) -> Iterator[Read]:
    """Plain text: every line is a sentence."""
    return read_each(lines, lambda line: Sentence(str(line.number), str(line.number), line.text.strip()))


def read_jsonl(lines: Iterator[Line]) -> Iterator[Read]:
    """JSON lines: `{"text"}`, `{"texts": [2]}`, or a whole pair."""
    return read_each(lines, _row)


def _row(line: Line) -> Value:
    row = json_object(line)
    name = str(row.get("id", line.number))
    family = str(row.get("family", name))
    if "texts" not in row and "text" not in row:
        raise Unusable('expected "text" (a sentence) or "texts" (two versions of one)')
    if "texts" not in row:
        return Sentence(name, family, text_in(row, "text"))
    texts = _two(row, "texts")
    given = [key for key in _OF_A_PAIR if key in row]
    if not given:
        return Contrast(name, family, texts)
    if len(given) < len(_OF_A_PAIR):
        missing = next(key for key in _OF_A_PAIR if key not in row)
        raise Unusable(f'it has "{given[0]}" and no "{missing}": a pair has "texts", "word", "candidates", "answers"')
    words = _two(row, "word") if isinstance(row["word"], list) else (text_in(row, "word"),) * 2
    other = _two(row, "other_order") if row.get("other_order") is not None else None
    pair = Pair(name, family, texts, words, _two(row, "candidates"), _answers(row["answers"]), other)
    _check(pair)
    return pair


def _two(row: dict[str, Any], name: str) -> tuple[str, str]:
    """Two texts that a row must have.

    Raises:
        Unusable: it has not.
    """
    found = row[name]
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(one, str) and one.strip() for one in found):
        raise Unusable(f'expected two texts as "{name}", found {shown(found)}')
    return found[0], found[1]


def _answers(found: Any) -> tuple[int, int]:
    """The two answers.

    Raises:
        Unusable: they are no answers, or alike: then nothing in the pair flips.
    """
    if not isinstance(found, list) or sorted(map(str, found)) != ["0", "1"]:
        raise Unusable(
            f'expected "answers" to be [0, 1] or [1, 0] (the versions mean different nouns), found {shown(found)}'
        )
    return int(found[0]), int(found[1])


def _check(pair: Pair) -> None:
    """Refuse a pair whose parts do not fit together.

    Raises:
        Unusable: saying which.
    """
    if pair.candidates[0].casefold() == pair.candidates[1].casefold():
        raise Unusable(f"both candidates are {pair.candidates[0]!r}")
    if pair.texts[0] == pair.texts[1]:
        raise Unusable("both texts are the same")
    for texts in (pair.texts, pair.other_order or pair.texts):
        for text, word in zip(texts, pair.words, strict=True):
            if place_of(text, word) is None:
                raise Unusable(f"the word {word!r} does not stand once in {shown(text)}; name one, such as {word}#2")
    if pair.other_order is not None and _first(pair.texts[0], pair) == _first(pair.other_order[0], pair):
        raise Unusable('the nouns of "other_order" do not both stand there, or in the same order as in "texts"')


def _first(text: str, pair: Pair) -> int | None:
    """Which noun comes first in a text; None where one is not there."""
    places = [noun_place(text, candidate) for candidate in pair.candidates]
    if places[0] is None or places[1] is None:
        return None
    return int(places[1] < places[0])
