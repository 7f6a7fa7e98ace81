"""A command as from a shell, in this process: an exit code of ours and one line, or the answer."""

from __future__ import annotations

import contextlib
import io
import sys

from heedmap.cli.main import main
from heedmap.errors import HeedmapError


class Refused(HeedmapError):  # noqa: N818 - it reads as what became of the command
    """The command ended with code 1 (failed), 2 (not parsed) or 3 (a claim that is not met)."""


class Failed(Refused):
    """1."""


class NotParsed(Refused):
    """2."""


class NotMet(Refused):
    """3."""


def run(arguments: list[str], given: bytes = b"") -> str:
    """What a command prints.

    Raises:
        Refused: it ended with another code than 0, having said why.
        AssertionError: it called its end a bug, or ended in a way that no command may.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    err.reconfigure(errors="backslashreplace")
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = stdin
    for stream in (out, err):
        stream.flush()
    printed, said = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
    assert "unexpected error" not in said, said
    assert "Traceback" not in said, said
    if code == 0:
        return printed
    kinds = {1: Failed, 2: NotParsed, 3: NotMet}
    assert code in kinds, f"exit code {code}: {said}"
    assert said.strip(), f"exit code {code} and nothing said"
    if code == 1:
        assert len(said.strip().splitlines()) <= 4, said
    raise kinds[code](said.strip().splitlines()[-1])
