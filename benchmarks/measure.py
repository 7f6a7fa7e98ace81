"""How the benchmarks measure: interleaved runs with medians for time, a fresh process for peak memory."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def interleaved(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each task, run in turn so that a slow minute of the machine hits all alike.

    Each task runs once before it is timed; with no repeats, that is all, and the answer is empty.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items() if values}


def in_fresh_process(module: str, *arguments: str) -> dict[str, Any] | None:
    """What a worker module printed as JSON in its last line, or None when it ran out of memory."""
    command = [sys.executable, "-m", module, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        if "memory" in result.stderr.lower() or result.returncode < 0:
            return None
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr}")
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer


def peak_megabytes() -> float:
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def markdown_table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table with aligned columns.

    Example:
        >>> print(markdown_table(["tokens", "s"], [["512", "0.5"]]))
        | tokens | s   |
        |--------|-----|
        | 512    | 0.5 |
    """
    widths = [max(len(cell) for cell in cells) for cells in zip(columns, *rows, strict=True)]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(columns), rule, *(line(row) for row in rows)])
