"""One report under two arithmetics: a rerun says the same, and rows that were measured under both make one report.

`ATEN_CPU_CAPABILITY=default` and `MKL_CBWR=COMPATIBLE` make one machine round as an older one does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedmap.lab.agreement import compare
from heedmap.lab.report import read_report

NATIVE: dict[str, str] = {}
OLDER = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "OMP_NUM_THREADS": "1"}

SMALL = {
    "causal": ("--limit", "6"),
    "sink": ("--limit", "6"),
    "heads": ("--limit", "8"),
    "reference": ("--limit", "8"),
    "roles": ("--sequences", "8"),
    "compare": ("--limit", "8"),
    "dilution": ("--facts", "6", "--amounts", "0", "--amounts", "40"),
    "matters": ("--limit", "2", "--scatter", "0"),
}
"""Runs that are small, and large enough that every part of the conclusion is reached."""


def lab(arithmetic: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`heedmap lab` in a process of its own."""
    command = [sys.executable, "-m", "heedmap", "lab", *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **arithmetic}, capture_output=True, text=True)


def rerun_says_the_same(name: str, folder: Path, model: str) -> None:
    """Run under one arithmetic and rerun under the other."""
    done = lab(NATIVE, name, *SMALL[name], "--model", model, "-o", folder / "report")
    assert done.returncode == 0, done.stderr
    again = lab(OLDER, "rerun", folder / "report" / "report.json", "-o", folder / "again", "--json")
    assert again.returncode == 0, again.stdout[:3000] + again.stderr
    assert json.loads(again.stdout)["same"] is True
    (_, before, _), (_, after, _) = (read_report(folder / one / "report.json") for one in ("report", "again"))
    assert before == after


@pytest.mark.parametrize("name", ["causal", "sink"])
def test_a_rerun_says_the_same(name: str, tmp_path: Path) -> None:
    rerun_says_the_same(name, tmp_path, "minilm")


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_rerun_of_every_experiment_says_the_same(name: str, tmp_path: Path) -> None:
    rerun_says_the_same(name, tmp_path, "smollm2")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heads", "reference", "sink"])
def test_shards_of_two_arithmetics_make_one_report(name: str, tmp_path: Path) -> None:
    whole = (name, *SMALL[name], "--batch-size", "2")
    assert lab(NATIVE, *whole, "-o", tmp_path / "whole").returncode == 0
    for number, arithmetic in ((1, NATIVE), (2, OLDER)):
        done = lab(arithmetic, *whole, "--shard", f"{number}/2", "-o", tmp_path / f"shard{number}")
        assert done.returncode == 0, done.stderr
    merged = lab(NATIVE, "merge", tmp_path / "shard1", tmp_path / "shard2", "-o", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    whole_run, of_shards = (read_report(tmp_path / one / "report.json")[0] for one in ("whole", "merged"))
    assert [str(line) for line in compare(whole_run, of_shards) if not line.agrees] == []
