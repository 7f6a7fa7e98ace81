"""`make fuzz`: many cases of every target, each in a process of its own; the counts go into docs/hard-inputs.md.

python -m tests.fuzz.run [--share 1.0] [--seed N] [--only TARGET] [--arithmetic NAME] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import markdown_table
from docs.marked import write_part

from tests.fuzz.registry import TARGETS
from tests.fuzz.target import Target

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "hard-inputs.md"


ARITHMETICS: dict[str, dict[str, str]] = {
    "own": {},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"},
    "default": {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"},
}
"""What the instructions of torch and MKL are set to: the best of this machine, or those of older ones."""


def try_in_process(target: Target, count: int, seed: int, arithmetic: str = "own") -> dict[str, Any]:
    """What the worker says of so many cases; a process that dies or does not come back is a fault too."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HEEDMAP_DEBUG": "0", **ARITHMETICS[arithmetic]}
    patience = 120 + target.seconds + count * 2
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.json"
        command = [sys.executable, "-m", "tests.fuzz.worker", target.name, str(count), str(seed), str(journal)]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=patience, check=False
            )
        except subprocess.TimeoutExpired:
            return dead(target, arithmetic, f"it did not come back within {patience:.0f} s", journal)
        if ended.returncode != 0:
            how = f"the process ended with {code_name(ended.returncode)}: {ended.stderr[-2000:]}"
            return dead(target, arithmetic, how, journal)
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def code_name(code: int) -> str:
    """An exit code, or the name of the signal that ended a process."""
    return signal.Signals(-code).name if code < 0 else str(code)


def dead(target: Target, arithmetic: str, error: str, journal: Path) -> dict[str, Any]:
    """What is known of a worker that did not answer: how many cases it tried, and the last of them."""
    last: dict[str, Any] = {"tried": 0, "case": ""}
    if journal.exists():
        last = json.loads(journal.read_text(encoding="utf-8"))
    failed = {"error": error, "case": last["case"][:20_000], "where": ""}
    return {
        "target": target.name,
        "arithmetic": arithmetic,
        "tried": last["tried"],
        "answered": 0,
        "refused": {},
        "slowest": 0.0,
        "grown": 0,
        "failed": failed,
    }


def tell(found: dict[str, Any]) -> None:
    """One target's counts, and what failed."""
    print(
        f"{found['target']}: {found['tried']:,} tried, {found['answered']:,} answered, {found['refused']}", flush=True
    )
    if found["failed"]:
        print(
            "FAULT", found["failed"]["error"], found["failed"]["case"], found["failed"]["where"], sep="\n", flush=True
        )


def rows_of(results: list[dict[str, Any]], seed: int) -> list[list[str]]:
    """The counts of all targets as cells of the table."""
    return [
        [
            one["target"],
            one["arithmetic"],
            TARGETS[one["target"]].says,
            f"{one['tried']:,}",
            f"{one['answered']:,}",
            ", ".join(f"{name} {count:,}" for name, count in one["refused"].items()) or "none",
            f"{one['slowest']:.2f} s",
            f"{one['grown'] / 1e6:,.0f} MB",
            "yes" if one["failed"] else "none",
            f"{datetime.now(UTC):%Y-%m-%d}, {seed}",
        ]
        for one in results
    ]


COLUMNS = [
    *("target", "arithmetic", "what is fed", "tried", "right answers", "refused as", "slowest", "memory grown"),
    *("faults", "when, and seed"),
]


def with_new(before: str, new: list[list[str]]) -> list[list[str]]:
    """The rows of the table that stands in the document, those of the targets and arithmetics just tried anew."""
    lines = [line for line in before.splitlines() if line.startswith("| ") and not line.startswith("| target")]
    old = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_name = {(row[0], row[1]): row for row in old if len(row) == len(COLUMNS)} | {
        (row[0], row[1]): row for row in new
    }
    order = list(TARGETS)
    return sorted((row for row in by_name.values() if row[0] in order), key=lambda row: (order.index(row[0]), row[1]))


def table(rows: list[list[str]]) -> str:
    """The counts as Markdown."""
    total = sum(int(row[3].replace(",", "")) for row in rows)
    head = (
        f"{total:,} cases were tried ({platform.machine()}, Python {platform.python_version()}). The arithmetic is "
        "what torch's kernels compute with; `--arithmetic` asks for those of older processors."
    )
    return f"{head}\n\n{markdown_table(COLUMNS, rows)}"


def main() -> int:
    """Try all targets; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of cases")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30), help="to run them again")
    parser.add_argument("--only", choices=list(TARGETS), action="append", help="this target alone; repeatable")
    parser.add_argument("--arithmetic", choices=list(ARITHMETICS), default="own", help="the instructions of torch, MKL")
    parser.add_argument("--write", action="store_true", help="put the counts into docs/hard-inputs.md")
    given = parser.parse_args()
    chosen = [TARGETS[name] for name in given.only or TARGETS]
    print(f"seed {given.seed}", flush=True)

    def try_one(target: Target) -> dict[str, Any]:
        return try_in_process(target, max(1, int(target.many * given.share)), given.seed, given.arithmetic)

    results = []
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(try_one, chosen):
            tell(found)
            results.append(found)
    print(f"{sum(one['tried'] for one in results):,} cases were tried", flush=True)
    if given.write:
        before = DOCUMENT.read_text(encoding="utf-8")
        write_part(DOCUMENT, "tried", table(with_new(before, rows_of(results, given.seed))))
    return int(any(one["failed"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
