"""Data sets on the command line: a file with one text a line."""

from __future__ import annotations

from pathlib import PurePath

from heedmap.cli.common import read_text
from heedmap.errors import EmptyText, FileError
from heedmap.json_text import parse_json

JSON_LINES = (".jsonl", ".ndjson")


def holds_json_lines(argument: str) -> bool:
    """Whether an argument names a file of JSON lines.

    Example:
        >>> holds_json_lines("@prompts.jsonl"), holds_json_lines("@prompts.txt"), holds_json_lines("see a.jsonl")
        (True, False, False)
    """
    return argument.startswith("@") and PurePath(argument).suffix.lower() in JSON_LINES


def read_texts(argument: str) -> list[str]:
    r"""The texts of a data set: each line that is not empty; of `.jsonl` the "text" of each line.

    Args:
        argument: what stood on the command line: `@FILE`, `-` for standard input, or the lines themselves.

    Raises:
        FileError: the file cannot be read, or a line of it holds no text.
        EmptyText: there is no text in it.

    Example:
        >>> read_texts("The cat sat.\n\nIt rained.")
        ['The cat sat.', 'It rained.']
    """
    lines = [(number, line) for number, line in enumerate(read_text(argument).split("\n"), 1) if line.strip()]
    if not holds_json_lines(argument):
        return [line for _, line in lines]
    return [_text_of(argument[1:], number, line) for number, line in lines]


def _text_of(file: str, number: int, line: str) -> str:
    """The text of one line of JSON."""
    try:
        found = parse_json(line)
    except ValueError as error:
        raise FileError(f"{file}, line {number} is not JSON: {getattr(error, 'msg', error)}") from None
    text = found.get("text") if isinstance(found, dict) else None
    if not isinstance(text, str):
        raise FileError(f'{file}, line {number}: expected an object with "text", such as {{"text": "The cat sat."}}')
    if not text.strip():
        raise EmptyText(f"{file}, line {number}: the text is empty")
    return text
