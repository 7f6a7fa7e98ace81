"""Other tools on the same task, each head's mean share on the first token, beside Heedmap and the plain pass."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import in_fresh_process, interleaved, markdown_table, peak_megabytes
from benchmarks.subject import plain_forward, tokens_of

PYTHON = Path(__file__).parents[1] / ".venv-peers" / "bin" / "python"
WORKER = Path(__file__).parent / "peers_worker.py"
TOOLS = {"TransformerLens": "transformer_lens", "nnsight": "nnsight", "attnread": "attnread"}
LONGEST = {"transformer_lens": 4096, "nnsight": 4096, "attnread": 128}
"""attnread runs the model again for every 64 tokens of every layer: 1,024 tokens would take ten minutes."""

LENGTHS = (128, 512, 2048, 4096)
PATIENCE = 900
TOLERANCE = 1e-4
"""The tools' shares are means of float32 weights, each right to about 1e-5."""


def ours(length: int, repeats: int) -> dict[str, Any]:
    """Plain pass and Heedmap in this process: seconds, and the shares."""
    import heedmap
    from heedmap.reading.statistics import StatisticsMeter, stats_of_tokens

    model = heedmap.load("smollm2")
    tokens = tokens_of(model, length)

    def stats() -> Any:
        return stats_of_tokens(model, StatisticsMeter(tokens, only=["first"]))

    seconds = interleaved({"plain": lambda: plain_forward(model.module, tokens), "heedmap": stats}, repeats)
    shares = np.asarray(stats()["first"], dtype=float).reshape(len(model.layers), -1).tolist()
    return {**seconds, "shares": shares, "ids": tokens.ids, "peak": peak_megabytes()}


def theirs(method: str, folder: str, ids: list[int], repeats: int) -> dict[str, Any] | str:
    """One tool in its own environment: its answer, or why there is none."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ids, file)
        file.flush()
        command = [str(PYTHON), str(WORKER), method, folder, file.name, str(repeats)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return f"over {PATIENCE // 60} minutes"
    if result.returncode != 0:
        return "out of memory" if result.returncode < 0 else "failed: " + result.stderr.strip().splitlines()[-1][:60]
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer


def report(lengths: tuple[int, ...] = LENGTHS) -> str:
    """Multiples of the plain pass for each tool; every tool's shares are compared with Heedmap's."""
    if not PYTHON.exists():
        return "Other tools were not measured: `make bench` sets up their environment, .venv-peers."
    from heedmap.models.catalogue import find_entry
    from heedmap.models.fetch import find_copy

    entry = find_entry("smollm2")
    assert entry is not None
    copy = find_copy(entry)
    assert copy is not None
    rows = []
    for length in lengths:
        base = in_fresh_process("benchmarks.peers", str(length), "3")
        assert base is not None
        row = [f"{length:,}", f"{base['plain']:.2f} s", f"{base['heedmap'] / base['plain']:.2f}"]
        for method in TOOLS.values():
            if length > LONGEST[method]:
                row.append("-")
                continue
            answer = theirs(method, str(copy.folder), base["ids"], 2)
            if isinstance(answer, str):
                row.append(answer)
                continue
            difference = np.abs(np.array(answer["shares"]) - np.array(base["shares"])).max()
            agrees = "" if difference < TOLERANCE else f" (differs by {difference:.1g})"
            row.append(f"{answer['seconds'] / base['plain']:.2f}, {answer['peak'] / base['peak']:.2f}{agrees}")
        rows.append(row)
    note = (
        "Each head's mean share on the first token, all 270 heads: time in multiples of the plain pass and, after the "
        f"comma, peak memory in multiples of Heedmap's. All tools agree to {TOLERANCE:g} unless it says so."
    )
    return note + "\n\n" + markdown_table(["tokens", "plain SDPA", "Heedmap", *TOOLS], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("length", type=int)
    parser.add_argument("repeats", type=int)
    given = parser.parse_args()
    print(json.dumps(ours(given.length, given.repeats)))
