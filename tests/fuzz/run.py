"""`make fuzz`: many cases of every target, each in a process of its own; the counts go into docs/hard-inputs.md.

python -m tests.fuzz.run [--share 1.0] [--seed N] [--only TARGET] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
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


def try_in_process(target: Target, count: int, seed: int) -> dict[str, Any]:
    """What the worker says of so many cases; a process that dies or does not come back is a fault too."""
    command = [sys.executable, "-m", "tests.fuzz.worker", target.name, str(count), str(seed)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HEEDMAP_DEBUG": "0"}
    patience = 120 + target.seconds + count * 2
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        return _dead(target, f"it did not come back within {patience:.0f} s")
    if ended.returncode != 0:
        return _dead(target, f"the process ended with {ended.returncode}: {ended.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def _dead(target: Target, error: str) -> dict[str, Any]:
    failed = {"error": error, "case": "", "where": ""}
    return {
        "target": target.name,
        "tried": 0,
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


def table(results: list[dict[str, Any]], seed: int) -> str:
    """The counts of all targets as Markdown."""
    rows = [
        [
            one["target"],
            TARGETS[one["target"]].says,
            f"{one['tried']:,}",
            f"{one['answered']:,}",
            ", ".join(f"{name} {count:,}" for name, count in one["refused"].items()) or "none",
            f"{one['slowest']:.2f} s",
            f"{one['grown'] / 1e6:,.0f} MB",
            "yes" if one["failed"] else "none",
        ]
        for one in results
    ]
    total = sum(one["tried"] for one in results)
    head = (
        f"{total:,} cases were tried on {datetime.now(UTC):%Y-%m-%d} (seed {seed}; {platform.machine()}, Python "
        f"{platform.python_version()})."
    )
    columns = ["target", "what is fed", "tried", "right answers", "refused as", "slowest", "memory grown", "faults"]
    return f"{head}\n\n{markdown_table(columns, rows)}"


def main() -> int:
    """Try all targets; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of cases")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30), help="to run them again")
    parser.add_argument("--only", choices=list(TARGETS), action="append", help="this target alone; repeatable")
    parser.add_argument("--write", action="store_true", help="put the counts into docs/hard-inputs.md")
    given = parser.parse_args()
    chosen = [TARGETS[name] for name in given.only or TARGETS]
    print(f"seed {given.seed}", flush=True)
    results = []
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(lambda one: try_in_process(one, max(1, int(one.many * given.share)), given.seed), chosen):
            tell(found)
            results.append(found)
    print(f"{sum(one['tried'] for one in results):,} cases were tried", flush=True)
    if given.write:
        write_part(DOCUMENT, "tried", table(results, given.seed))
    return int(any(one["failed"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
