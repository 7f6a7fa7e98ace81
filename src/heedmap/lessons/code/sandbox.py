"""Runs a learner's file in a process of its own, with a limit on time and memory.

The file is the learner's own: this keeps an endless loop or a list without end from taking the machine. It does not
stop code that means harm.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedmap.errors import FileError
from heedmap.files import temporary_folder
from heedmap.json_text import parse_json

CHILD = Path(__file__).with_name("child.py")
SECONDS = 10.0
"""How long all calls together may take."""
MEMORY = 2 * 2**30
"""How much address space the process may have, in bytes; NumPy alone wants half a gigabyte."""


@dataclass(frozen=True)
class Ran:
    """What came of running a file.

    Attributes:
        answers: what each call gave, or `None` when the file did not get that far.
        problem: why not, as a sentence; empty when all is well.
        printed: what the code printed meanwhile.
    """

    answers: list[dict[str, Any]] | None
    problem: str
    printed: str


def run_calls(path: Path, calls: Sequence[dict[str, Any]], *, seconds: float = SECONDS, memory: int = MEMORY) -> Ran:
    """Make calls to the functions of a learner's file.

    Args:
        path: the file.
        calls: each `{"function": name, "arguments": [...]}`.
        seconds: the most time for all of them.
        memory: the most address space in bytes, where the system can limit it.

    Raises:
        FileError: there is no such file.
    """
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    with temporary_folder() as folder:
        answer_file = folder / "answer.json"
        command = [sys.executable, "-I", "-B", str(CHILD), str(path.resolve()), str(answer_file)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
            preexec_fn=_limits(seconds, memory),
        )
        try:
            _, errors = process.communicate(json.dumps(list(calls)), timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return Ran(None, f"it did not end within {seconds:g} seconds: is there a loop without end?", "")
        finally:
            _end(process)
        if not answer_file.exists():
            return Ran(None, _how_it_died(process.returncode, errors, seconds), "")
        try:
            answer = parse_json(answer_file.read_bytes())
        except ValueError as error:
            return Ran(None, f"what it answered cannot be read: {error}", "")
    if "broken" in answer:
        return Ran(None, f"it cannot be loaded: {sentence(answer['broken'])}", answer["printed"])
    return Ran(answer["answers"], "", answer["printed"])


def sentence(error: dict[str, Any]) -> str:
    """An error of the learner's code in one line.

    Example:
        >>> sentence({"error": "NameError", "says": "name 'ex' is not defined", "line": 4})
        "line 4: NameError: name 'ex' is not defined"
    """
    at = f"line {error['line']}: " if error.get("line") else ""
    said = f": {error['says']}" if error.get("says") else ""
    return f"{at}{error['error']}{said}"


def _limits(seconds: float, memory: int) -> Callable[[], None] | None:
    """What the new process does first, where the system knows such limits."""
    try:
        import resource
    except ImportError:  # Windows: the time limit still holds
        return None

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(int(seconds) + 2)  # asleep, it outlives neither its time nor a parent that was killed

    return limit


def _end(process: subprocess.Popen[str]) -> None:
    """End the process and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _how_it_died(code: int, errors: str, seconds: float) -> str:
    """Why there is no answer, in a sentence."""
    if code < 0 and -code == getattr(signal, "SIGXCPU", None):
        return f"it did not end within {seconds:g} seconds: is there a loop without end?"
    if "MemoryError" in errors:
        return "it used more memory than it may: is there a list that grows without end?"
    last = errors.strip().splitlines()[-1] if errors.strip() else f"the process ended with code {code}"
    return f"it broke off: {last}"
