"""From a file, or nothing, to a stream of sentences, pairs, questions or contrasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import TypeVar

from heedmap.errors import DataError
from heedmap.lab.data.bad_rows import BadRows, meet
from heedmap.lab.data.formats import reader_of
from heedmap.lab.data.lines import Line, read_lines
from heedmap.lab.data.places import filled
from heedmap.lab.data.reader import Read, Value
from heedmap.lab.data.twins import pair_up
from heedmap.lab.data.types import Contrast, Pair, Question, Sentence

Made = TypeVar("Made")

SENTENCES, PAIRS = "sentences.jsonl", "pairs.jsonl"
"""The built-in data, beside this file."""


def sentences(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Sentence]:
    """Sentences, one at a time: the built-in ones, or every text of a file.

    Args:
        source: a data file; `Path("-")` is standard input; None are the built-in sentences.
        form: one of `FORMATS`; None finds it by the content.
        skipped: collects bad rows; None raises at the first.

    Raises:
        DataError: a bad row, a file of no known format, or one without anything that was asked for.
        FileError: the file cannot be read.

    Example:
        >>> next(sentences()).text
        'An old fisherman rowed out before sunrise and came home in the evening with a single silver eel.'
    """
    return _each(_read(source, SENTENCES, form), _sentences_of, skipped, "sentence")


def pairs(source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None) -> Iterator[Pair]:
    """Pairs, one at a time: the built-in ones, or those of a file; questions without a twin are bad rows.

    Args and errors are those of `sentences`.

    Example:
        >>> next(pairs()).candidates
        ('the trophy', 'the suitcase')
    """
    return _each(pair_up(_read(source, PAIRS, form)), _pair_of, skipped, "pair")


def units(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Pair | Question]:
    """Pairs where a question has a twin, and questions where it has none.

    Args and errors are those of `sentences`.

    Example:
        >>> next(units()).id
        'size-trophy'
    """
    return _each(pair_up(_read(source, PAIRS, form)), _unit_of, skipped, "pair or question")


def questions(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Question]:
    """Questions, one at a time, in the order of the file: those of pairs, and those without a twin.

    Args and errors are those of `sentences`.

    Example:
        >>> [question.answer for question, _ in zip(questions(), range(4))]
        [0, 1, 0, 1]
    """
    return _each(_read(source, PAIRS, form), _questions_of, skipped, "question")


def contrasts(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Contrast]:
    """Two texts that part somewhere: the versions of a pair, or a question with either noun in the word's place.

    Args and errors are those of `sentences`.

    Example:
        >>> next(contrasts()).texts[1]
        'The trophy did not fit in the suitcase because it was too small.'
    """
    return _each(_read(source, PAIRS, form), _contrasts_of, skipped, "contrast")


def _read(source: Path | None, built_in: str, form: str | None) -> Iterator[Read]:
    """What the lines of a file hold; ids that come again get a number."""
    if source is None:
        with resources.as_file(resources.files(__package__).joinpath(built_in)) as path:
            yield from _read(path, built_in, "jsonl")
        return
    reader, lines = reader_of(read_lines(source), str(source), form)
    yield from _with_own_ids(reader(lines))


def _with_own_ids(rows: Iterator[Read]) -> Iterator[Read]:
    """Rows whose ids are unique: results are kept, found and merged by them."""
    seen: set[str] = set()
    for line, value in rows:
        if not isinstance(value, str):
            if value.id in seen:
                value = f"the id {value.id!r} stands in an earlier line too; ids are unique"
            else:
                seen.add(value.id)
        yield line, value


def _each(
    rows: Iterable[Read], make: Callable[[Value], Iterable[Made] | str], skipped: BadRows | None, wanted: str
) -> Iterator[Made]:
    """What is made of each row; bad rows are raised or collected."""
    found = False
    line: Line | None = None
    for line, value in rows:
        made = value if isinstance(value, str) else make(value)
        if isinstance(made, str):
            meet(line.bad(made), skipped)
            continue
        found = True
        yield from made
    if not found:
        name = line.source if line is not None else "the file"
        raise DataError(f"{name} holds no {wanted} that can be used; docs/lab-data.md shows what each format gives")


def _sentences_of(value: Value) -> Iterable[Sentence] | str:
    if isinstance(value, Sentence):
        return [value]
    if isinstance(value, Question):
        text = filled(value)[value.answer].text if value.blank else value.text
        return [Sentence(value.id, value.family, text)]
    return [Sentence(f"{value.id}/{number}", value.family, text) for number, text in enumerate(value.texts, 1)]


def _pair_of(value: Value) -> Iterable[Pair] | str:
    if isinstance(value, Pair):
        return [value]
    if isinstance(value, Question):
        return "it has no twin in which the word means the other noun"
    return f"it is a {_kind(value)}: a pair has texts, word, candidates and answers"


def _unit_of(value: Value) -> Iterable[Pair | Question] | str:
    if isinstance(value, Pair | Question):
        return [value]
    return f"it is a {_kind(value)}: a pair has texts, word, candidates and answers"


def _questions_of(value: Value) -> Iterable[Question] | str:
    if isinstance(value, Pair):
        return value.questions
    if isinstance(value, Question):
        return [value]
    return f"it is a {_kind(value)}: a question has a text, a word in it and two candidates"


def _contrasts_of(value: Value) -> Iterable[Contrast] | str:
    if isinstance(value, Pair):
        return [Contrast(value.id, value.family, value.texts)]
    if isinstance(value, Question):
        first, second = filled(value)
        return [Contrast(value.id, value.family, (first.text, second.text))]
    return [value] if isinstance(value, Contrast) else f"it is a {_kind(value)}: a contrast has two texts"


def _kind(value: Value) -> str:
    """What a row is, in a word."""
    return type(value).__name__.lower()
