"""What the lab costs beside the plain forward passes of its own batches, and its memory over a long run."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import in_fresh_process, markdown_table

if TYPE_CHECKING:
    from heedmap.lab.plan import Part
    from heedmap.reading.model import Model

MODEL = "smollm2"
EXPERIMENTS = ("sink", "causal", "reference", "heads")
SENTENCES = 10_000
LOOKS = (1_000, 2_500, 5_000, 7_500, 10_000)

DATA = Path(os.environ.get("HEEDMAP_DATA", "")) / "winograd"
WINOGRAD = ("WSCollection.xml", "wsc283.jsonl", "wsc283.xml")
"""Names that the 283 schemas go by."""


def winograd() -> Path | None:
    """The file of the 283 Winograd schemas, if HEEDMAP_DATA has it."""
    return next((DATA / name for name in WINOGRAD if (DATA / name).is_file()), None)


def part_of(name: str, limit: int | None) -> Part:
    """An experiment on the schemas, or on the built-in data without them."""
    from heedmap.lab.registry import experiment
    from heedmap.lab.request import Request

    settings = {name: experiment(name).Settings()}
    return Request(name, settings, data=winograd(), skip_bad=True, limit=limit).parts()[0]


@contextmanager
def forward_calls(module: Any) -> Iterator[list[dict[str, Any]]]:
    """The arguments of every forward pass of a module inside the block."""
    calls: list[dict[str, Any]] = []
    handle = module.register_forward_pre_hook(lambda _, args, named: calls.append(dict(named)), with_kwargs=True)
    try:
        yield calls
    finally:
        handle.remove()


def clocked(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def beside_plain_passes(name: str, limit: int | None) -> dict[str, float]:
    """Seconds of the lab and of the plain passes, batch by batch in turn, over a whole run."""
    import torch

    import heedmap
    from heedmap.lab.measure import rows_of_batch
    from heedmap.lab.plan import ALL
    from heedmap.lab.row_files import RowFiles

    model: Model = heedmap.load(MODEL)
    part = part_of(name, limit)
    batches = part.of_shard(ALL)
    rows_of_batch(model, part, batches[0], {})  # checks that are made once
    lab = plain = passes = 0.0
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        files = RowFiles(Path(folder), name)
        for batch in batches:
            with forward_calls(model.module) as calls:
                lab += clocked(lambda batch=batch: files.append(rows_of_batch(model, part, batch, {})))  # type: ignore[misc]
            for call in calls:
                plain += clocked(lambda call=call: model.module(**call))  # type: ignore[misc]
            passes += len(calls)
        files.close()
    return {"lab": lab, "plain": plain, "passes": passes, "items": len(part.items)}


def memory_of_a_long_run() -> dict[str, float]:
    """Megabytes that the process holds when so many sentences are done, and at the end, with the report written."""
    import heedmap
    from heedmap.lab.registry import experiment
    from heedmap.lab.request import Request
    from heedmap.lab.run import RunPlace, perform

    held: dict[str, float] = {}

    def look(done: int, total: int, what: str, /) -> None:
        for count in LOOKS:
            if done >= count and f"{count:,}" not in held:
                held[f"{count:,}"] = megabytes()

    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "sentences.txt"
        words = ("trophy", "suitcase", "river", "garden", "letter", "window", "teacher", "engine")
        texts.write_text(
            "".join(
                f"The {words[number % 8]} number {number} stood by the {words[number // 8 % 8]} for a while.\n"
                for number in range(SENTENCES)
            )
        )
        settings = {"sink": experiment("sink").Settings(controls=False, draws=200)}  # type: ignore[call-arg]
        request = Request("sink", settings, {"name": "minilm"}, data=texts, batch_size=32)
        perform(RunPlace(request, heedmap.load("minilm"), Path(folder) / "report", look))
    held["report written"] = megabytes()
    return held


def megabytes() -> float:
    """What the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def report(experiments: tuple[str, ...] = EXPERIMENTS, limit: int | None = None) -> str:
    """The lab beside plain passes, and its memory, measured now."""
    rows = []
    for name in experiments:
        found = in_fresh_process("benchmarks.lab", name, *([str(limit)] if limit else []))
        assert found is not None
        counts = [f"{found[key]:,.0f}" for key in ("items", "passes")]
        seconds = [f"{found[key]:.0f} s" for key in ("plain", "lab")]
        rows.append([name, *counts, *seconds, f"{found['lab'] / found['plain']:.2f}"])
    memory = in_fresh_process("benchmarks.lab", "memory")
    assert memory is not None
    source = winograd()
    return "\n\n".join(
        [
            f"`heedmap lab` on {source.name if source else 'the built-in data'} with {MODEL}, beside the plain forward "
            "passes of the very same batches, which take turns with it; rows written included:",
            markdown_table(["experiment", "items", "passes", "plain", "lab", "times"], rows),
            f"Memory that `heedmap lab sink` holds over {SENTENCES:,} sentences with minilm, after so many of them:",
            markdown_table(list(memory), [[f"{value:,.0f} MB" for value in memory.values()]]),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name", help="an experiment, or memory")
    parser.add_argument("limit", type=int, nargs="?")
    given = parser.parse_args()
    print(
        json.dumps(memory_of_a_long_run() if given.name == "memory" else beside_plain_passes(given.name, given.limit))
    )
