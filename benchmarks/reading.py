"""Reading a text against the plain forward pass, and transformers' eager attention beside it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from benchmarks.measure import in_fresh_process, interleaved, markdown_table, peak_megabytes
from benchmarks.subject import eager_forward, plain_forward, tokens_of

LENGTHS = (512, 2048, 4096)
LONGEST_EAGER = 2048
"""Eager keeps every map: 4,096 tokens of this model would take 18 GB."""

TABLE = (
    "tokens",
    "plain SDPA",
    "read, all layers",
    "ratio",
    "row of one head",
    "of the pass",
    "eager",
    "ratio",
)
MEMORY_TABLE = ("tokens", "plain SDPA", "read, all layers", "added", "a token", "eager")


def work(method: str, length: int, repeats: int) -> dict[str, float]:
    """One measurement in this process: median seconds by task, and the peak memory of the process."""
    import heedmap

    model = heedmap.load("smollm2")
    tokens = tokens_of(model, length)
    tasks: dict[str, Callable[[], object]] = {}
    if method == "plain":
        tasks = {"plain": lambda: plain_forward(model.module, tokens)}
    elif method == "read":
        tasks = {"read": lambda: model.read_tokens(tokens)}
    elif method == "eager":
        model.module.set_attn_implementation("eager")
        tasks = {"eager": lambda: eager_forward(model.module, tokens)}
    elif method == "times":
        tasks = {
            "plain": lambda: plain_forward(model.module, tokens),
            "read": lambda: model.read_tokens(tokens),
        }
    seconds = interleaved(tasks, repeats)
    if method == "times":
        reading = model.read_tokens(tokens)
        last = f"@{length - 1}"
        seconds["row"] = interleaved({"row": lambda: reading.row(last, 15, 3)}, 20)["row"]
    return {**seconds, "peak": peak_megabytes()}


def report(lengths: tuple[int, ...] = LENGTHS, repeats: int = 5) -> str:
    """Both tables, measured now."""
    times, memory = [], []
    for length in lengths:
        both = in_fresh_process("benchmarks.reading", "times", str(length), str(repeats))
        plain = in_fresh_process("benchmarks.reading", "plain", str(length), "0")
        read = in_fresh_process("benchmarks.reading", "read", str(length), "0")
        assert both is not None
        assert plain is not None
        assert read is not None
        eager = in_fresh_process("benchmarks.reading", "eager", str(length), "2") if length <= LONGEST_EAGER else None
        added = read["peak"] - plain["peak"]
        times.append(
            [
                f"{length:,}",
                f"{both['plain']:.2f} s",
                f"{both['read']:.2f} s",
                f"{both['read'] / both['plain']:.2f}",
                f"{both['row'] * 1000:.1f} ms",
                f"{both['row'] / both['plain']:.2%}",
                f"{eager['eager']:.2f} s" if eager else "out of memory",
                f"{eager['eager'] / both['plain']:.2f}" if eager else "-",
            ]
        )
        memory.append(
            [
                f"{length:,}",
                f"{plain['peak']:,.0f} MB",
                f"{read['peak']:,.0f} MB",
                f"{added:,.0f} MB",
                f"{added * 1024 / length:.0f} kB",
                f"{eager['peak']:,.0f} MB" if eager else "out of memory",
            ]
        )
    return "\n\n".join([markdown_table(list(TABLE), times), markdown_table(list(MEMORY_TABLE), memory)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=["plain", "read", "eager", "times"])
    parser.add_argument("length", type=int)
    parser.add_argument("repeats", type=int)
    given = parser.parse_args()
    print(json.dumps(work(given.method, given.length, given.repeats)))
