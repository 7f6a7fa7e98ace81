"""Commands in processes of their own that are ended from outside, and disks that are full or may only be read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).parents[2]


def start(*arguments: str, code: str | None = None, **environment: str) -> subprocess.Popen[str]:
    """A command of heedmap, or Python code, under way."""
    command = [sys.executable, *(["-m", "heedmap"] if code is None else ["-c", code]), *arguments]

    def listen_to_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is started without

    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=listen_to_interrupts,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def run(*arguments: str, code: str | None = None, **environment: str) -> tuple[int, str, str]:
    """A command to its end: code, stdout and stderr."""
    process = start(*arguments, code=code, **environment)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def end_after(process: subprocess.Popen[Any], seconds: float, how: signal.Signals) -> tuple[int, str, str]:
    """Send a signal to a process after a time, if it is still there then; what became of it."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.send_signal(how)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def all_end(processes: list[psutil.Process], seconds: float = 60) -> bool:
    """Whether processes end in time; one that nobody has waited for (a zombie) has ended."""

    def lives(process: psutil.Process) -> bool:
        try:
            return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False

    end = time.monotonic() + seconds
    while any(map(lives, processes)):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def mounted(folder: Path, *options: str, source: str = "tmpfs") -> Iterator[None]:
    """Something mounted at a folder, for root; the test is skipped elsewhere."""
    command = ["mount", *options, source, str(folder)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"nothing can be mounted here ({tried.stderr.strip() or 'not root'})")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of so many bytes, such as 64k."""
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", f"size={size}"):
        yield folder


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """A folder that may only be read, by root too: bound to itself, and mounted again."""
    with mounted(folder, "--bind", source=str(folder)):
        again = subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], capture_output=True, check=False)
        if again.returncode != 0:
            pytest.skip("nothing can be mounted read-only here")
        yield folder


def litter(folder: Path) -> list[str]:
    """What is half written under a folder."""
    return sorted(str(path) for path in folder.rglob("*") if ".partial-" in path.name or ".heedmap-" in path.name)
