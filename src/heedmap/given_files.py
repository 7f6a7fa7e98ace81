"""Reading files that somebody names: what has no end is no file, and what is too large is told."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from heedmap.errors import FileError

LARGEST = 256 * 2**20
"""Bytes of a file that is read as a whole, at most: as text they are some sixty million tokens."""


def open_to_read(path: str | Path) -> IO[bytes]:
    """A file, or a pipe, open to be read.

    Raises:
        OSError: it cannot be opened, or is a device, most of which never end (a terminal does).
    """
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - the caller closes it
    except ValueError:  # a zero byte, or half of a surrogate pair
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    mode = os.fstat(file.fileno()).st_mode
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not file.isatty():
        file.close()
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    return file


def read_bytes(path: str | Path) -> bytes:
    """The whole content of a file.

    Raises:
        FileError: it cannot be read, is a device, or is larger than `LARGEST`.

    Example:
        >>> read_bytes("/dev/zero")
        Traceback (most recent call last):
        heedmap.errors.FileError: cannot read /dev/zero: it is a device, not a file
    """
    try:
        with open_to_read(path) as file:
            return read_all(file, str(path))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None


def read_all(file: IO[bytes], name: str) -> bytes:
    """What is left of an open file.

    Raises:
        FileError: it is more than `LARGEST`.
    """
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise FileError(f"{name} holds more than {LARGEST // 2**20} MiB: give a part of it")
    return content
