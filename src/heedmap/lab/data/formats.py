"""The formats of data files, and which of them a file is by its content."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from heedmap.errors import DataError
from heedmap.json_text import parse_json
from heedmap.lab.data import blimp, gap, jsonl, winobias, winogender, winograd, winogrande
from heedmap.lab.data.lines import Line, look_ahead
from heedmap.lab.data.reader import Reader

_READERS: dict[str, Reader] = {
    "jsonl": jsonl.read_jsonl,
    "text": jsonl.read_text,
    "winograd-xml": winograd.read_xml,
    "winograd-jsonl": winograd.read_jsonl,
    "xwinograd": winograd.read_xwinograd,
    "winogender": winogender.read,
    "winobias": winobias.read,
    "winogrande": winogrande.read,
    "gap": gap.read,
    "blimp": blimp.read,
}

FORMATS = tuple(_READERS)
"""The names of the formats that a data file may have; the format is found by its content where none is given."""

_BY_KEY = {
    "sentence_good": "blimp",
    "option1": "winogrande",
    "pronoun_start": "winograd-jsonl",
    "texts": "jsonl",
    "text": "jsonl",
}
"""A key of the first object that tells the format, the most telling first."""

_LOOKED_AT = 5


def reader_of(lines: Iterator[Line], name: str, form: str | None) -> tuple[Reader, Iterator[Line]]:
    """How a file is read, and its lines from the first.

    Args:
        lines: of the file.
        name: of the file, for messages.
        form: one of `FORMATS`, or None to find it.

    Raises:
        DataError: the file is empty, there is no such format, or none is known that looks like this.
    """
    if form is not None and form not in _READERS:
        near = get_close_matches(form, FORMATS, n=1)
        hint = f"; nearest: {near[0]}" if near else ""
        raise DataError(f"there is no format {form!r}{hint}; there are {', '.join(FORMATS)}")
    first, lines = look_ahead(lines, _LOOKED_AT)
    if not first:
        raise DataError(f"{name} is empty: expected one sentence or pair a line")
    return _READERS[form or found_format(first, name)], lines


def found_format(first: list[Line], name: str) -> str:
    """The format that the first lines show.

    Raises:
        DataError: they look like none, or like one that holds no sentences.
    """
    readable = [line.text for line in first if not line.broken]
    if not readable:
        raise DataError(f"{name} is no text: {first[0].bad('').reason} in line {first[0].number}")
    text = readable[0].lstrip()
    columns = text.split("\t")
    if text.startswith(("<?xml", "<collection", "<schema")):
        return "winograd-xml"
    if text.startswith("{"):
        return _format_of_object(text, name)
    if text.startswith("["):
        raise DataError(f"{name} is one JSON list: write one object a line (jq -c '.[]' {name})")
    if text.startswith(winogender.TEMPLATES):
        raise DataError(f"{name} holds templates: give all_sentences.tsv of the same set, which holds the sentences")
    if text.strip() == winogender.HEADER:
        return "winogender"
    if tuple(columns[: len(gap.COLUMNS)]) == gap.COLUMNS:
        return "gap"
    if len(columns) == 7 and columns[4].startswith("["):
        return "xwinograd"
    return "winobias" if all(winobias.LINE.fullmatch(line) for line in readable) else "text"


def _format_of_object(text: str, name: str) -> str:
    """The format of JSON lines, by the keys of the first one."""
    try:
        keys = parse_json(text)
    except ValueError:
        return "jsonl"  # whose reader says what is wrong with the line
    for key, form in _BY_KEY.items():
        if key in keys:
            return form
    raise DataError(
        f"{name} has JSON lines of no known format (keys: {', '.join(map(str, keys))}): expected "
        f'"text", or "texts", "word", "candidates" and "answers"; the formats are {", ".join(FORMATS)}'
    )
