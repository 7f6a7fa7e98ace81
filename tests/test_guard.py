"""Runs of pytest that are hurt in every way: each ends in time, fails, names its test, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.server.conftest import take_interrupts

ROOT = Path(__file__).parents[1]
HEAD = "import itertools, os, signal, sys, threading, time\nimport pytest\n"
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
TEST = "def test_it():\n    "
SOON = f"@pytest.mark.timeout(1)\n{TEST}"
LAST = f"@pytest.fixture(scope='module', autouse=True)\ndef dying():\n    yield\n    {KILL}\n"

CRASHED = "crashed while running 'test_hurt.py::test_it'"
TOO_LONG = "was killed: it was at test_hurt.py::test_it"
AT_TEST = "ended at test_hurt.py::test_it"
AT_FILE = "ended at test_hurt.py"

SLOW = pytest.mark.slow
HURT = [
    pytest.param(f"{TEST}os.kill(os.getpid(), signal.SIGFPE)", CRASHED, id="ends by SIGFPE"),
    pytest.param(f"{TEST}{KILL}", CRASHED, id="is killed", marks=SLOW),
    pytest.param(f"{TEST}os._exit(0)", CRASHED, id="leaves as if all were well"),
    pytest.param(f"{TEST}os._exit(3)", CRASHED, id="leaves with a code", marks=SLOW),
    pytest.param(
        f"{TEST}os.closerange(0, 200)\n    time.sleep(1000)", CRASHED, id="closes all that is open", marks=SLOW
    ),
    pytest.param(f"{SOON}os.kill(os.getpid(), signal.SIGSTOP)", TOO_LONG, id="is stopped", marks=SLOW),
    pytest.param(f"{SOON}any(itertools.repeat(0))", TOO_LONG, id="hangs in C"),
    pytest.param(f"{LAST}{TEST}pass", AT_TEST, id="dies after its last test", marks=SLOW),
    pytest.param(KILL, AT_FILE, id="dies while it is imported", marks=SLOW),
    pytest.param(
        f"if os.environ['PYTEST_XDIST_WORKER'] == 'gw1':\n    {KILL}", AT_FILE, id="one dies while it is imported"
    ),
]
"""What a worker does in a file of tests, and what must be said of it."""

ENDLESS = [
    pytest.param("any(itertools.repeat(0))", AT_FILE, id="hangs while it is imported", marks=SLOW),
    pytest.param(
        f"{TEST}os.kill(os.getppid(), signal.SIGSTOP)\n    time.sleep(1000)", AT_TEST, id="stops the controller"
    ),
    pytest.param(f"{TEST}time.sleep(1000)", CRASHED, id="goes on and on", marks=SLOW),
]
"""The same, where only the limit of the whole run helps."""


@dataclass(frozen=True)
class Run:
    """A run of pytest in a folder of its own."""

    folder: Path
    process: subprocess.Popen[str]
    mark: str

    def end(self) -> tuple[int, str]:
        """Wait for the end; the exit code and what was printed."""
        out, _ = self.process.communicate(timeout=200)
        return self.process.returncode, out

    def alive(self) -> dict[int, str]:
        """The processes that belong to it, but for guards: each with its name."""
        found = {}
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("PROOF") == self.mark and process.status() != psutil.STATUS_ZOMBIE
                if ours and str(ROOT / "tests" / "guard.py") not in process.cmdline():
                    found[process.pid] = process.name()
            except psutil.Error:
                continue
        return found


def start(folder: Path, code: str, *options: str) -> Run:
    """Start pytest as `make test` does, on one file of tests and on one that is sound."""
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.guard"]\n')
    (folder / "test_hurt.py").write_text(HEAD + code + "\n")
    (folder / "test_sound.py").write_text("def test_sound(): pass\n")
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    few = ["-p", "xdist", "-p", "pytest_timeout"]  # to load all that are installed would take most of the time
    process = subprocess.Popen(
        [*command, *few, "--rootdir", str(folder), "-n", "2", "--dist", "loadfile", *options, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PROOF": mark, "HEEDMAP_TEST_GRACE": "2", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        preexec_fn=take_interrupts,
    )
    return Run(folder, process, mark)


def none_is_left(run: Run) -> bool:
    """Whether all its processes end within a minute."""
    end = time.monotonic() + 60
    while run.alive():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize(("code", "says"), HURT)
def test_a_run_that_is_hurt_fails_and_names_the_test(code: str, says: str, tmp_path: Path) -> None:
    fails_and_says(start(tmp_path, code), says)


@pytest.mark.parametrize(("code", "says"), ENDLESS)
def test_a_run_without_end_is_ended_and_names_the_test(code: str, says: str, tmp_path: Path) -> None:
    fails_and_says(start(tmp_path, code, "--session-timeout", "10"), says)


def fails_and_says(run: Run, says: str) -> None:
    """A run ends with a code that is not 0, has said something, and leaves nothing."""
    exit_code, out = run.end()
    assert exit_code != 0
    assert says in out
    assert none_is_left(run)


STARTS = """
from pathlib import Path
from subprocess import Popen
from tests.browser import chromium
from tests.server.conftest import start

def test_it():
    here = Path(__file__).parent
    Popen([sys.executable, "-c", "import os, time; os.fork(); time.sleep(1000)"], start_new_session=True)
    start(here)
    with chromium():
        (here / "worker").write_text(str(os.getpid()))
        time.sleep(1000)
"""


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Run]:
    """A run that has started an application, a browser, and a process in a session of its own that forked."""
    run = start(tmp_path, STARTS)
    end = time.monotonic() + 200
    while not (tmp_path / "worker").exists() or not (tmp_path / "worker").read_text():
        assert time.monotonic() < end
        assert run.process.poll() is None, run.end()
        time.sleep(0.1)
    yield run
    run.process.kill()
    run.process.communicate(timeout=60)


@pytest.mark.parametrize("how", ["SIGKILL", *(pytest.param(name, marks=SLOW) for name in ("SIGTERM", "SIGINT"))])
@pytest.mark.parametrize("whom", ["controller", "worker"])
def test_what_a_run_started_ends_with_it(busy: Run, whom: str, how: str) -> None:
    names = list(busy.alive().values())
    assert len(names) > 6
    assert any("chrom" in name for name in names)
    victim = busy.process.pid if whom == "controller" else int((busy.folder / "worker").read_text())
    os.kill(victim, signal.Signals[how])
    assert none_is_left(busy), busy.alive()
    assert busy.end()[0] != 0
