"""From a file, or nothing, to a stream of sentences, pairs, questions or contrasts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from heedmap.lab.data.bad_rows import BadRows
from heedmap.lab.data.types import Contrast, Pair, Question, Sentence

FORMATS = (
    "jsonl",
    "text",
    "winograd-xml",
    "winograd-jsonl",
    "xwinograd",
    "winogender",
    "winobias",
    "winogrande",
    "gap",
    "blimp",
)
"""The names of the formats that a data file may have; the format is found by its content where none is given."""


def sentences(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Sentence]:
    """Sentences, one at a time: the built-in ones, or every text of a file.

    Args:
        source: a data file; `Path("-")` is standard input; None are the built-in sentences.
        form: one of `FORMATS`; None finds it by the content.
        skipped: collects bad rows; None raises at the first.

    Raises:
        DataError: a bad row, or a file of no known format.
        FileError: the file cannot be read.
    """
    raise NotImplementedError


def pairs(source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None) -> Iterator[Pair]:
    """Pairs, one at a time: the built-in ones, or those of a file; questions without a twin are left out.

    Args and errors are those of `sentences`.
    """
    raise NotImplementedError


def questions(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Question]:
    """Questions, one at a time, twins side by side: also those of sets that have no pairs, and those without a twin.

    Args and errors are those of `sentences`.
    """
    raise NotImplementedError


def contrasts(
    source: Path | None = None, *, form: str | None = None, skipped: BadRows | None = None
) -> Iterator[Contrast]:
    """Two texts that part somewhere: the versions of a pair, or good and bad sentence of BLiMP.

    Args and errors are those of `sentences`.
    """
    raise NotImplementedError
