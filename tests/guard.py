"""A run of the tests always ends, says what it was at, and leaves no process behind, however it ends.

Every process of pytest, each worker of pytest-xdist too, has a guard: a small process in a session of its own. It holds
one end of a pipe, and hears on it which test runs and how long that may take.

- When the pipe closes, the process is gone, for whatever reason. The guard names the test that was running, and kills
  what the process started. It knows that by a mark in the environment, which processes inherit.
- When a test runs longer than pytest-timeout allows, pytest-timeout could not end it: it can only interrupt Python. The
  guard kills the process, and pytest-xdist says which test that was.
- `--session-timeout` ends a run between two tests. When the run does not end then, the guard kills it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psutil
    import pytest

MARK = "HEEDMAP_TESTS"
GRACE = float(os.environ.get("HEEDMAP_TEST_GRACE", "30"))
"""Seconds that pytest-timeout, or a run whose tests were ended, has to end by itself and tell more than a guard can."""

_pipe = -1
_worker_died = False


def start(limit: float = 0) -> None:
    """Start the guard of this process.

    Args:
        limit: after so many seconds whatever this process started is killed, and then this process; 0: never.
    """
    global _pipe
    mark = f"{os.environ.get(MARK, '')}{os.getpid()}-{time.time_ns()}/"
    read, _pipe = os.pipe()
    command = [sys.executable, __file__, str(os.getpid()), mark, str(limit)]
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    os.posix_spawn(sys.executable, command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)], setsid=True)
    os.close(read)
    os.environ[MARK] = mark


def _tell(seconds: float = 0, test: str = "") -> None:
    """Tell the guard which test runs now."""
    with suppress(OSError):  # it was killed
        os.write(_pipe, f"{seconds} {test}\n".encode())


def pytest_configure(config: pytest.Config) -> None:
    start(config.getoption("session_timeout") or 0)


def pytest_collectstart(collector: pytest.Collector) -> None:
    _tell(float(collector.config.getini("timeout")), collector.nodeid)  # pytest-timeout does not limit imports


def pytest_collection_finish() -> None:
    _tell()


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    _tell(settings.timeout, item.nodeid)


def pytest_timeout_cancel_timer() -> None:
    _tell()


def pytest_enter_pdb() -> None:
    _tell()


def pytest_testnodedown(error: object) -> None:
    global _worker_died
    _worker_died = _worker_died or bool(error)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _worker_died and session.exitstatus in (0, 5):  # pytest-xdist's own answer when one dies between tests
        session.exitstatus = 1


def _marked(mark: str) -> Iterator[psutil.Process]:
    """The processes that have a mark."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK, "").startswith(mark) and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def _kill_marked(mark: str) -> None:
    """Kill the processes that have a mark, and those that they start meanwhile."""
    import psutil

    for _ in range(100):
        found = list(_marked(mark))
        if not found:
            return
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        time.sleep(0.05)


def _wait(guarded: int, mark: str, limit: float) -> str:
    """Wait until the process is gone or must be killed; what to say of it, if there is something to say."""
    of_run = time.monotonic() + limit + GRACE if limit else float("inf")
    of_test, test, heard = float("inf"), "", b""
    while os.getppid() == guarded:
        now = time.monotonic()
        if now > of_test:
            return f"was killed: it was at {test} for too long"
        if now > of_run:
            _kill_marked(mark)
            while os.getppid() == guarded and time.monotonic() < now + GRACE:
                time.sleep(0.1)
            return f"was killed: the run may take {limit:g} seconds" + (f", and it was at {test}" if test else "")
        if select.select([0], [], [], max(0, min(1, of_test - now, of_run - now)))[0]:
            read = os.read(0, 65536)
            if not read:
                break
            *lines, heard = (heard + read).split(b"\n")
            if lines:
                seconds, _, test = lines[-1].decode().partition(" ")
                of_test = time.monotonic() + float(seconds) + GRACE if test else float("inf")
    return f"ended at {test}" if test else ""


def _watch(guarded: int, mark: str, limit: float) -> None:
    """Be the guard of a process."""
    says = _wait(guarded, mark, limit)
    if says:
        sys.stderr.write(f"\nguard: process {guarded} {says}\n")
    if os.getppid() == guarded:
        os.kill(guarded, signal.SIGKILL)
    _kill_marked(mark)


if __name__ == "__main__":
    _watch(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
