"""Runs commands in forks of one process that has loaded everything, each interrupted at a moment of its own.

To load torch takes longer than all that a tiny model does, so that interrupts at random times would meet nothing else.
Here a command begins loaded, and a moment is exact: the nth file opened to be read, the nth opened to be written, the
nth rename, or so much processor time. (What is met while loading is tried with processes of their own.)

`python -m tests.faults.forker` takes one JSON object a line and answers each with one; `Forker` speaks with it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

KINDS = ("read", "write", "rename", "processor time")


@dataclass(frozen=True, slots=True)
class Moment:
    """When a command is interrupted: at the nth event of a kind, or after so much processor time."""

    kind: str
    number: float


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a command, and how often each kind of event came until then."""

    code: int
    out: str
    err: str
    met: dict[str, float]


class Forker:
    """A process that runs commands in forks of itself."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def run(self, arguments: list[str], environment: dict[str, str], moment: Moment | None = None) -> Ended:
        """Run a command to its end, or interrupt it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {} if moment is None else {"kind": moment.kind, "number": moment.number}
        job = {"arguments": arguments, "environment": environment, "folder": str(self.folder), **asked}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        out, err = ((self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
        return Ended(answer["code"], out, err, answer["met"])

    def __enter__(self) -> Forker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)


def _interrupt(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _watch(kind: str | None, number: float) -> dict[str, float]:
    """Count what this process opens and renames, and interrupt it at the moment that is asked for."""
    met: dict[str, float] = dict.fromkeys(KINDS, 0)

    def hear(event: str, given: tuple[Any, ...]) -> None:
        if event == "os.rename":
            found = "rename"
        elif event == "open" and isinstance(given[0], str | bytes) and not os.fsdecode(given[0]).startswith("/dev/"):
            found = "write" if given[2] & (os.O_WRONLY | os.O_RDWR) else "read"
        else:
            return
        met[found] += 1
        if found == kind and met[found] == number:
            _interrupt()

    sys.addaudithook(hear)
    if kind == "processor time":
        signal.signal(signal.SIGPROF, _interrupt)
        signal.setitimer(signal.ITIMER_PROF, number)
    return met


def _child(job: dict[str, Any]) -> None:
    """Become the command; does not come back."""
    from heedmap.cli.main import run

    place = Path(job["folder"])
    for descriptor, path in ((0, Path(os.devnull)), (1, place / "out"), (2, place / "err")):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags), descriptor)
    os.environ.update(job["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begun = time.process_time()
    met = _watch(job.get("kind"), job.get("number", 0))
    code = 99
    try:
        run(job["arguments"])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    except BaseException:
        traceback.print_exc()
    signal.setitimer(signal.ITIMER_PROF, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    met["processor time"] = time.process_time() - begun
    (place / "met").write_text(json.dumps({"met": met, "modules": sorted(sys.modules)}))
    os._exit(code)


def _load(modules: list[str]) -> None:
    """Load what a command loaded, for those that come after it."""
    for name in modules:
        with suppress(Exception):  # what is made under way, by other names than files have
            import_module(name)


def main() -> None:
    """Run one command after the other; each finds loaded what those before it have loaded."""
    import torch

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        job = json.loads(line)
        told = Path(job["folder"]) / "met"
        told.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            _child(job)
        _, status = os.waitpid(child, 0)
        found = json.loads(told.read_text()) if told.exists() else {"met": {}, "modules": []}
        _load(found["modules"])
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "met": found["met"]}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
