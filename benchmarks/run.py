"""`make bench`: all tables, measured side by side on this machine; `--write` puts them into docs/performance.md."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch
import transformers
from docs.marked import write_part

from benchmarks import all_heads, lab, peers, reading, startup

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"

PARTS: dict[str, Callable[[], str]] = {
    "Reading": reading.report,
    "Statistics of all heads": all_heads.report,
    "Experiments": lab.report,
    "Other tools": peers.report,
    "Start": startup.report,
}


def measure(names: list[str]) -> str:
    """The chosen tables as Markdown, printed as they come."""
    machine = (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {platform.machine()}, {torch.get_num_threads()} threads, "
        f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}, "
        "smollm2 (30 layers, 9 query heads, 3 key-value heads) in float32."
    )
    pages = [machine]
    print(machine, flush=True)
    for name in names:
        page = f"### {name}\n\n{PARTS[name]()}"
        print(f"\n{page}", flush=True)
        pages.append(page)
    return "\n\n".join(pages)


def main() -> None:
    """Measure, print, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="measure this part alone; repeatable")
    given = parser.parse_args()
    tables = measure(given.only or list(PARTS))
    if given.write:
        write_part(DOCUMENT, "measured", tables)


if __name__ == "__main__":
    main()
