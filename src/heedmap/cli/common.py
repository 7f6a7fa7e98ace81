"""What several commands share: texts from arguments, files or stdin, and strict JSON on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from heedmap.controls import json_without_controls, without_controls
from heedmap.errors import EmptyText, FileError
from heedmap.given_files import read_all, read_bytes


def read_text(argument: str) -> str:
    """The text that an argument stands for: itself, `@file`, or `-` for standard input.

    Args:
        argument: what stood on the command line. `@@` at the start stands for a literal `@`.

    Raises:
        FileError: the file cannot be read, or is not UTF-8.
        EmptyText: there is nothing in it.

    Example:
        >>> read_text("The cat sat")
        'The cat sat'
    """
    if argument == "-":
        text = _decode(_standard_input(), "standard input")
    elif argument.startswith("@@"):
        text = argument[1:]
    elif argument.startswith("@"):
        text = _decode(read_bytes(argument[1:]), argument[1:])
    else:
        text = argument
    if not text.strip():
        raise EmptyText("the text is empty: give some words, @FILE, or - for standard input")
    return text


def _standard_input() -> bytes:
    """All of standard input; nothing where it is closed."""
    return b"" if sys.stdin is None else read_all(sys.stdin.buffer, "standard input")


def _decode(data: bytes, name: str) -> str:
    """UTF-8 bytes as text, with Windows line ends and a byte-order mark taken off."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} is not UTF-8 text (byte {error.start} is 0x{data[error.start]:02x}): convert it first, "
            f"for example with `iconv -t UTF-8`"
        ) from None
    return text.replace("\r\n", "\n")


def print_json(value: Any) -> None:
    """Print one value as strict JSON on stdout: no NaN, real letters instead of escapes."""
    click.echo(json_without_controls(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def note(message: str) -> None:
    """Say something about the result on stderr, where it does not mix with data."""
    click.echo(without_controls(message), err=True)


def show(renderable: Any) -> None:
    """Print a rich renderable or string on stdout, at the terminal's width, without colour where none is wanted."""
    from heedmap.drawing.terminal import console

    console().print(renderable)
