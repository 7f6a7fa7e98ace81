"""No N x N array is made at 16,384 tokens: the peak memory of one layer in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LENGTH = 16384
BOUND = 64 << 20
"""Bytes: a quarter of the smallest N x N array, of bools. Measured: 16 to 45 MB."""

PROGRAM = f"""
import resource, sys, torch
from dataclasses import replace
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_measure import measure

torch.set_num_threads(1)
torch.set_grad_enabled(False)

def call(rule):
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, heads, rule.queries, 16, generator=random) for heads in (2, 1))
    made = AttentionCall(query, key, rule, 0.25)
    return replace(made, logsumexp=made.compute(key)[1])

def statistics(made):
    special = torch.arange(made.rule.keys) % 100 == 0
    return measure(made, COLUMNS, special, received=True)

def rule(kind, length):
    if kind == "causal":
        return MaskRule(length, length, ahead=0)
    if kind == "window":
        return MaskRule(length, length, ahead=0, back=511)
    if kind == "both ways":
        return MaskRule(length, length)
    present = torch.ones(1, length, dtype=torch.bool)
    present[:, : length // 8] = False
    if kind == "holes":
        present[:, length // 2] = False
    if kind == "chunks":
        return MaskRule(length, length, ahead=0, pattern=lambda b, h, q, k: q // 1000 == k // 1000)
    return MaskRule(length, length, ahead=0, present=present)

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) << 10

statistics(call(rule(sys.argv[1], 256)))
before = peak()
if sys.argv[2] == "map":
    torch.ones({LENGTH}, {LENGTH}, dtype=torch.bool)
else:
    statistics(call(rule(sys.argv[1], {LENGTH})))
print(peak() - before)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from Linux's /proc")


def peak_bytes(kind: str, what: str) -> int:
    """How far the peak of resident memory rises; what is freed goes back at once, so that it is that of live arrays."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", PROGRAM, kind, what]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize(
    "kind",
    [
        "window",
        "padding",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("causal", "holes", "both ways", "chunks")),
    ],
)
def test_statistics_make_no_map(kind: str) -> None:
    assert peak_bytes(kind, "statistics") < BOUND


def test_a_map_of_bools_would_be_seen() -> None:
    # The map is 4 bounds; some of its pages may land in memory that the process held already.
    assert peak_bytes("causal", "map") > 3 * BOUND
