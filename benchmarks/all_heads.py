"""The statistics of all heads against the plain forward pass, in time and in peak memory."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.measure import in_fresh_process, interleaved, markdown_table, peak_megabytes
from benchmarks.subject import eager_forward, hooked_forward, plain_forward, tokens_of

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Tokens

LENGTHS = (512, 2048, 4096, 8192)
LONGEST_EAGER = 2048
LONGEST_HOOKED = 4096
REPEATS = {512: 5, 2048: 3, 4096: 3, 8192: 1}
"""Timed runs of each task by length, after one that is not timed; one round takes ten minutes at 8,192 tokens."""
SHARES = ("first", "itself", "previous")
SPANS = 64

MEASURED = {
    "first, itself, previous": "shares",
    "whole table": "table",
    "with received": "received",
    f"{SPANS} spans": "spans",
    "with largest": "largest",
}
"""Column of the table and task of the worker."""


def heedmap_tasks(model: Model, tokens: Tokens) -> dict[str, Callable[[], object]]:
    """What is measured of Heedmap, each from a single forward pass with nothing kept."""
    from heedmap.reading.spans import parts_of_text, spans_of_text
    from heedmap.reading.statistics import StatisticsMeter, stats_of_tokens

    edges = [len(tokens) * number // SPANS for number in range(SPANS + 1)]
    named = {f"part {number}": f"tok:{edges[number]}:{edges[number + 1]}" for number in range(SPANS)}
    parts = parts_of_text(tokens, named, None)
    return {
        "shares": lambda: stats_of_tokens(model, StatisticsMeter(tokens, only=SHARES)),
        "table": lambda: stats_of_tokens(model, StatisticsMeter(tokens)),
        "received": lambda: stats_of_tokens(model, StatisticsMeter(tokens, received=True)),
        "spans": lambda: spans_of_text(model, parts, of="all"),
        "largest": lambda: stats_of_tokens(model, StatisticsMeter(tokens, largest=True)),
    }


def work(method: str, length: int, repeats: int) -> dict[str, float]:
    """Median seconds of one task, or of all in turn, in this process; and the peak memory of the process."""
    import heedmap

    model = heedmap.load("smollm2")
    tokens = tokens_of(model, length)
    tasks: dict[str, Callable[[], object]]
    if method in ("eager", "hooked"):
        model.module.set_attn_implementation("eager")
        forward = eager_forward if method == "eager" else hooked_forward
        tasks = {method: lambda: forward(model.module, tokens)}
    else:
        tasks = {"plain": lambda: plain_forward(model.module, tokens), **heedmap_tasks(model, tokens)}
        if method != "all":
            tasks = {method: tasks[method]}
    return {**interleaved(tasks, min(repeats, REPEATS[length])), "peak": peak_megabytes()}


def measured(method: str, length: int, repeats: int) -> dict[str, float] | None:
    """The same in a process of its own."""
    return in_fresh_process("benchmarks.all_heads", method, str(length), str(repeats))


def report(lengths: tuple[int, ...] = LENGTHS) -> str:
    """Time and memory as multiples of the plain forward pass, measured now."""
    times, memory = [], []
    for length in lengths:
        seconds = measured("all", length, REPEATS[length])
        peaks = {name: measured(name, length, 0) for name in ("plain", *MEASURED.values())}
        assert seconds is not None
        assert peaks["plain"] is not None
        slow = {
            "eager": measured("eager", length, 2) if length <= LONGEST_EAGER else None,
            "hooked": measured("hooked", length, 2) if length <= LONGEST_HOOKED else None,
        }
        plain, floor = seconds["plain"], peaks["plain"]["peak"]
        times.append(
            [f"{length:,}", f"{plain:.2f} s"]
            + [f"{seconds[task] / plain:.2f}" for task in MEASURED.values()]
            + [f"{one[name] / plain:.2f}" if (one := slow[name]) else "-" for name in slow]
        )
        memory.append(
            [f"{length:,}", f"{floor:,.0f} MB"]
            + [f"{one['peak'] / floor:.2f}" if (one := peaks[task]) else "-" for task in MEASURED.values()]
            + [f"{one['peak'] / floor:.2f}" if (one := slow[name]) else "-" for name in slow]
        )
    columns = ["tokens", "plain SDPA", *MEASURED, "eager, all maps", "eager, reducing hook"]
    return "\n\n".join(
        [
            "Time, in multiples of the plain forward pass:",
            markdown_table(columns, times),
            "Peak memory of the process, in multiples of the plain one's:",
            markdown_table(columns, memory),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("length", type=int)
    parser.add_argument("repeats", type=int)
    given = parser.parse_args()
    print(json.dumps(work(given.method, given.length, given.repeats)))
