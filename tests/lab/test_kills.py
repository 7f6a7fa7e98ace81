"""Runs that are killed at random moments, or for which the disk is full, end with the report of one that was not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heedmap.lab.folder import read_json
from heedmap.lab.report import REPORT_FILE

pytest.importorskip("resource", reason="limits and kill -9 are tested on Unix")

ITEMS, PAUSE = 240, 0.006
"""60 batches: a quarter of a second of measuring, beside the start and the report."""

LASTS = 0.7
"""Seconds from "ready" to the end, about; kills fall into them."""


def start(folder: Path, items: int = ITEMS, pause: float = PAUSE, most_bytes: int | None = None) -> Any:
    """Begin or resume the run in a process of its own, and wait until it is under way."""
    limit = [] if most_bytes is None else [str(most_bytes)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.lab.toy_run", str(folder), str(items), str(pause), *limit],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def finish(process: Any) -> tuple[int, str]:
    """The exit code and what was said on stderr."""
    _, errors = process.communicate(timeout=600)
    return process.returncode, errors


def found_by(folder: Path) -> dict[str, Any]:
    """A report without times, paths and versions."""
    report = read_json(folder / REPORT_FILE)
    run = report.pop("run")
    return {**report, "data": run["data"]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of a run that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "report"
    assert finish(start(folder)) == (0, "")
    found = found_by(folder)
    assert found["figures"]["toy.mean"]["n"] == ITEMS
    return found


def kill_and_resume(folder: Path, kills: int, seed: int) -> int:
    """Kill a run so many times at random moments, going on each time, and let it end; how many kills hit it."""
    moments, hits = random.Random(seed), 0
    for _ in range(kills):
        process = start(folder)
        time.sleep(moments.uniform(0, LASTS))
        process.send_signal(signal.SIGKILL)
        code, _ = finish(process)
        hits += code == -signal.SIGKILL
        if code == 0 and moments.random() < 0.5:
            shutil.rmtree(folder)  # it was done: begin anew
    assert finish(start(folder)) == (0, ""), f"seed {seed}"
    return hits


def test_a_run_killed_at_random_moments_ends_with_the_same_report(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    hits = kill_and_resume(tmp_path / "report", 6, seed)
    assert hits >= 2, f"seed {seed}"
    assert found_by(tmp_path / "report") == undisturbed, f"seed {seed}"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fifty_kills(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    hits = 0
    for run in range(10):
        folder = tmp_path / f"report{run}"
        hits += kill_and_resume(folder, 8, seed + run)
        assert found_by(folder) == undisturbed, f"seed {seed}, run {run}"
    assert hits >= 50, f"seed {seed}"


@pytest.mark.parametrize("most_bytes", [1500, 9000, 30_000])
def test_a_disk_that_is_full_stops_a_run_which_goes_on_afterwards(
    tmp_path: Path, undisturbed: dict[str, Any], most_bytes: int
) -> None:
    """A limit on the size of files stands in for a disk: every write beyond it fails, half done."""
    folder = tmp_path / "report"
    code, said = finish(start(folder, pause=0, most_bytes=most_bytes))
    assert code == 1
    assert "cannot write" in said
    assert not (folder / REPORT_FILE).exists()
    assert finish(start(folder, pause=0)) == (0, "")
    now = found_by(folder)
    expected = {**undisturbed, "data": now["data"]}  # another pause among the settings
    assert now == expected


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here (not root)")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_real_disk_that_is_full(tiny_disk: Path, tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    code, said = finish(start(tiny_disk / "report", pause=0))
    assert code == 1
    assert "No space left on device" in said
    shutil.copytree(tiny_disk / "report", tmp_path / "report")
    assert finish(start(tmp_path / "report", pause=0)) == (0, "")
    assert found_by(tmp_path / "report")["figures"] == undisturbed["figures"]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_real_run_from_the_command_line_that_is_killed(tmp_path: Path) -> None:
    """Three kills while a model is loaded, while it measures, and while the report is made."""
    moments = random.SystemRandom()

    def command(folder: Path) -> Any:
        arguments = ["lab", "causal", "--model", "minilm", "--limit", "8", "--resume", "-o", str(folder)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", "heedmap", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    begun = time.monotonic()
    assert finish(command(tmp_path / "whole"))[0] == 0
    lasts = time.monotonic() - begun
    for _ in range(3):
        process = command(tmp_path / "killed")
        time.sleep(moments.uniform(0.2, 1) * lasts)
        process.kill()
        finish(process)
    code, said = finish(command(tmp_path / "killed"))
    assert code == 0, said
    assert found_by(tmp_path / "killed") == found_by(tmp_path / "whole")
