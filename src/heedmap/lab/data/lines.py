"""The lines of a data file or of standard input, one at a time, with their numbers."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO

from heedmap.cut_text import cut_text
from heedmap.errors import FileError
from heedmap.given_files import open_to_read
from heedmap.lab.data.bad_rows import BadRow

STANDARD_INPUT = Path("-")

_LONGEST_REASON = 400
"""Characters of what is wrong with a line at most: a reason may quote it."""

_OF_TEXT = re.compile(r"ascii|utf-8|iso8859-\d+|cp125\d|koi8-[ru]|shift_jis|euc_(jp|kr)|gb(k|18030)|big5")
"""The encodings that may be declared: Python knows others, which are slow or make no text (rot13, base64 ...)."""

_LONGEST = 64 * 2**20
"""Bytes of one line at most: more is no line but another kind of file."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its end.

    Attributes:
        source: the name of the file, for messages.
        number: from 1.
        text: what it holds.
        broken: why it cannot be used at all; None for an ordinary line.
    """

    source: str
    number: int
    text: str
    broken: str | None = None

    def bad(self, reason: str) -> BadRow:
        """The line as one that cannot be used, and why."""
        says = self.broken or reason
        return BadRow(self.source, self.number, cut_text(says, _LONGEST_REASON))


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are not empty; `-` is standard input. Memory stays that of the longest line.

    A byte order mark is dropped, and an XML declaration may name another encoding than UTF-8.

    Raises:
        FileError: it cannot be read, or it is UTF-16.
    """
    name = "standard input" if path == STANDARD_INPUT else str(path)
    try:
        if path == STANDARD_INPUT:
            if sys.stdin is not None:  # it is closed: there is nothing in it
                yield from _lines(name, sys.stdin.buffer)
            return
        with open_to_read(path) as file:
            yield from _lines(name, file)
    except OSError as error:
        raise FileError(f"cannot read {name}: {error.strerror or error}") from error


def look_ahead(lines: Iterator[Line], count: int) -> tuple[list[Line], Iterator[Line]]:
    """The first lines, and all lines again from the first."""
    first = list(islice(lines, count))
    return first, chain(first, lines)


def _lines(name: str, file: IO[bytes]) -> Iterator[Line]:
    """Cut and decode; empty lines are left out."""
    number = 0
    encoding = "utf-8"
    for raw in _cut(file):
        number += 1
        if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise FileError(f"cannot read {name}: it is UTF-16; save it as UTF-8 (iconv -f utf-16 -t utf-8)")
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
            encoding = _declared(raw)
        if len(raw) > _LONGEST:
            yield Line(name, number, "", f"it is longer than {_LONGEST // 2**20} MiB")
            continue
        try:
            text = raw.decode(encoding).strip("\r\n")
        except UnicodeDecodeError as error:
            yield Line(name, number, "", f"byte {error.start + 1} is no {encoding.upper()}: {error.reason}")
            continue
        if text.strip():
            yield Line(name, number, text)


def _cut(file: IO[bytes]) -> Iterator[bytes]:
    """Lines as bytes; of one that is too long, its beginning alone."""
    while raw := file.readline(_LONGEST + 1):
        yield raw
        while len(raw) > _LONGEST and not raw.endswith(b"\n"):
            raw = file.readline(_LONGEST + 1)
            if not raw:
                return


def _declared(first: bytes) -> str:
    """The encoding that an XML declaration names; UTF-8 for all else."""
    if not first.lstrip().startswith(b"<?xml"):
        return "utf-8"
    _, found, name = first.partition(b"encoding=")
    named = name[1:].split(name[:1])[0].decode("ascii", "replace") if found and name[:1] in b"\"'" and name else "utf-8"
    try:
        known = codecs.lookup(named).name
    except (LookupError, ValueError):  # a name with a zero byte
        return "utf-8"
    return known if _OF_TEXT.fullmatch(known) else "utf-8"
