"""Ctrl-C and kills at any moment of a command: exit code 130, no traceback, no half file, no process left."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.processes import end_after, litter, start
from tests.models.making import save_tiny_model
from tests.server import conftest as server

TEXT = "the cat sat on the mat"
COMMANDS = {
    "map": ("map", TEXT, "-o", "{folder}/map.png"),
    "view": ("view", TEXT, "-o", "{folder}/view.html"),
    "stats": ("stats", TEXT, "-o", "{folder}/stats.csv"),
    "generate": ("read", TEXT, "--generate", "40", "--json"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def interrupted(name: str, model: Path, folder: Path, seconds: float | None) -> int:
    """Run a command, interrupt it after a time, and look at what it left; its exit code."""
    arguments = [one.format(folder=folder) for one in COMMANDS[name]]
    process = start(*arguments, "--model", str(model))
    if seconds is None:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return 0
    code, _, err = end_after(process, seconds, signal.SIGINT)
    assert code in (0, 130), f"after {seconds:.2f} s: {code}, {err}"
    assert "Traceback" not in err, f"after {seconds:.2f} s: {err}"
    assert litter(folder) == []
    return code


def test_interrupted_in_the_middle_of_its_imports(model: Path, tmp_path: Path) -> None:
    assert interrupted("map", model, tmp_path, 1.2) in (0, 130)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", COMMANDS)
def test_interrupted_at_random_moments(name: str, model: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    interrupted(name, model, tmp_path, None)
    lasts = time.monotonic() - begun
    # Before half a second Python itself starts: there is no code of ours yet that could answer.
    moments = [random.SystemRandom().uniform(0.5, max(0.6, lasts)) for _ in range(12)]
    codes = [interrupted(name, model, tmp_path, moment) for moment in moments]
    assert 130 in codes


@pytest.fixture
def application(tmp_path: Path) -> Iterator[server.Asker]:
    running = server.start(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.communicate(timeout=30)


@pytest.mark.slow
def test_a_killed_application_leaves_no_worker_and_no_lock(application: server.Asker, tmp_path: Path) -> None:
    """Killed while it answers: the worker ends by itself, and the next start takes over."""
    application.read("The cat sat on the mat.")
    worker = application.ask("GET", "/api/status").json["worker"]
    application.process.kill()
    application.process.communicate(timeout=30)
    deadline = time.monotonic() + 30
    while _lives(worker):
        assert time.monotonic() < deadline, "the worker outlives the application"
        time.sleep(0.1)
    again = server.start(tmp_path)
    assert again.ask("GET", "/api/status").status == 200
    assert server.end(again)[0] == 130


def _lives(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.getpid() != process
