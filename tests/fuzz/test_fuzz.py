"""A handful of every kind of hard input in each run of the tests, and that faults are seen; `make fuzz` tries many."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from heedmap.errors import FileError
from tests.fuzz.registry import TARGETS
from tests.fuzz.run import ROOT, code_name, dead, rows_of, table, try_in_process, with_new
from tests.fuzz.target import Target
from tests.fuzz.worker import try_target

ALL_AT_ONCE = """
import json, sys
from tests.fuzz.registry import TARGETS
from tests.fuzz.worker import try_target
for name in sys.argv[1:]:
    print(json.dumps(try_target(TARGETS[name], TARGETS[name].few, 1)), flush=True)
"""
"""One process for all: what takes time is to begin."""


def test_a_few_of_every_kind() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ALL_AT_ONCE, *TARGETS], capture_output=True, text=True, cwd=ROOT, check=False
    )
    results = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert [one["target"] for one in results] == list(TARGETS)
    for one in results:
        assert one["failed"] is None, one["failed"]
        assert one["tried"] >= TARGETS[one["target"]].few // 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", TARGETS)
def test_more_of_each_in_a_process_of_its_own(name: str) -> None:
    found = try_in_process(TARGETS[name], max(50, TARGETS[name].many // 20), seed=2)
    assert found["failed"] is None, found["failed"]
    assert found["tried"] > 40


def faulty(check: Any, memory: int = 2**28, seconds: float = 0.3) -> Target:
    return Target("made up", "numbers", lambda: (st.integers(0, 100), check), 20, 20, memory, seconds)


def _wrong(number: int) -> None:
    assert number < 40


def _slow(number: int) -> None:
    begun = time.process_time()
    while number > 40 and time.process_time() - begun < 5:
        pass


def _greedy(number: int) -> None:
    np.ones(2**30 if number > 40 else 1, dtype=np.uint8)


def _silent(number: int) -> None:
    raise FileError("")


FAULTS = {"wrong": (_wrong, "AssertionError"), "slow": (_slow, "TooSlow"), "greedy": (_greedy, "MemoryError"),
          "silent": (_silent, "says nothing")}  # fmt: skip


def tell_faults() -> None:
    """Try faulty targets, in a process that may be limited."""
    for kind, (check, _) in FAULTS.items():
        print(json.dumps([kind, try_target(faulty(check), 60, 1)]))  # noqa: T201


@pytest.mark.slow
def test_faults_are_found_and_told() -> None:
    code = "from tests.fuzz.test_fuzz import tell_faults; tell_faults()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    told = dict(json.loads(line) for line in ended.stdout.splitlines())
    for kind, (_, says) in FAULTS.items():
        assert says in told[kind]["failed"]["error"]


def test_the_document_has_a_line_for_each_target() -> None:
    text = (Path(ROOT) / "docs" / "hard-inputs.md").read_text(encoding="utf-8")
    assert [name for name in TARGETS if f"\n| {name} " not in text] == []


def test_the_table_counts_and_keeps_what_was_not_tried_again() -> None:
    one = {"target": "words", "arithmetic": "avx2", "tried": 1200, "answered": 3, "refused": {"TextError": 1197},
           "slowest": 0.5, "grown": 3e6, "failed": None}  # fmt: skip
    first = table(rows_of([one, {**one, "target": "texts"}], 7))
    assert first.startswith("2,400 cases were tried ")
    assert "TextError 1,197" in first
    again = with_new(first, rows_of([{**one, "tried": 100}, {**one, "arithmetic": "default"}], 8))
    assert [(row[0], row[1], row[3]) for row in again] == [
        ("texts", "avx2", "1,200"), ("words", "avx2", "100"), ("words", "default", "1,200")
    ]  # fmt: skip


def _fatal(number: int) -> None:
    if number > 40:
        os.kill(os.getpid(), signal.SIGFPE)


def die(journal: str) -> None:
    """Try a target of which a case ends the process."""
    try_target(faulty(_fatal), 60, 1, Path(journal))


def test_a_process_that_dies_is_a_fault_with_the_case_it_died_of(tmp_path: Path) -> None:
    journal = tmp_path / "journal.json"
    code = f"from tests.fuzz.test_fuzz import die; die({str(journal)!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGFPE
    found = dead(faulty(_fatal), "own", code_name(ended.returncode), journal)
    assert found["failed"]["error"] == "SIGFPE"
    assert int(found["failed"]["case"]) > 40
    assert found["tried"] > 1
