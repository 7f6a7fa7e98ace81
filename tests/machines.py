"""The tests on other machines, as far as this one can be them: other instructions, other numbers of threads.

    python -m tests.machines                          which there are, and which of them this machine can be
    python -m tests.machines run avx2 -q tests/lab    pytest on one of them; `turn`: on the one whose turn it is
    python -m tests.machines each -q tests/lab        pytest on each, with examples drawn by SEED, or by chance

An order of summation decides the last bits of a number, and torch, MKL and oneDNN choose it by what the processor can
do, by the number of threads and by the layout of memory. A test that holds by luck on one machine fails on another.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tests import guard

MACHINES: dict[str, dict[str, str]] = {
    "native": {},
    "default": {"ATEN_CPU_CAPABILITY": "default"},
    "libraries": {"MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_CBWR": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    },
    "avx512": {
        "ATEN_CPU_CAPABILITY": "avx512",
        "MKL_CBWR": "AVX512",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
    },
    "threads-2": {"HEEDMAP_TEST_THREADS": "2"},
    "threads-4": {"HEEDMAP_TEST_THREADS": "4"},
    "shifted": {"HEEDMAP_TEST_LAYOUT": "shifted"},
    "rounded": {"HEEDMAP_TEST_LAYOUT": "rounded"},
}
"""What to set for each. Only Intel's processors heed MKL_CBWR beyond COMPATIBLE, and MKL_ENABLE_INSTRUCTIONS."""

TURNS = ("native", "default", "libraries", "avx2", "shifted")
"""Those that `make test` takes by turns. With more threads than cores it would take too long."""

LEVELS = ("DEFAULT", "AVX2", "AVX512")


def why_not(name: str) -> str:
    """Why this machine cannot be another; empty when it can."""
    import torch

    here = torch.backends.cpu.get_cpu_capability()
    level = MACHINES[name].get("ATEN_CPU_CAPABILITY", "").upper()
    if (level or "MKL_CBWR" in MACHINES[name]) and not torch.backends.mkl.is_available():
        return "torch is built without MKL here"
    if level and (here not in LEVELS or LEVELS.index(level) > LEVELS.index(here)):
        return f"the processor has {here}"
    return ""


def turn(commit: str) -> str:
    """The machine whose turn it is: each commit has one."""
    able = [name for name in TURNS if not why_not(name)]
    return able[int(commit[:12], 16) % len(able)]


def commit() -> str:
    """The commit that is checked out; `0`, which is native's, where there is none."""
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "0"
    return asked.stdout.strip()


def listed() -> None:
    """Print which machines there are."""
    for name, settings in MACHINES.items():
        words = " ".join(f"{variable}={value}" for variable, value in settings.items())
        print(f"{name:10} {words or 'nothing set'}" + (f" (not here: {why_not(name)})" if why_not(name) else ""))
    print(f"\n`make test` takes {', '.join(TURNS)} by turns; this commit's is {turn(commit())}")


def run(name: str, why: str, arguments: list[str]) -> None:
    """Become pytest on a machine."""
    print(f"machine: {name}{why}", flush=True)
    os.execve(sys.executable, [sys.executable, "-m", "pytest", *arguments], os.environ | MACHINES[name])


def each(seed: int, arguments: list[str]) -> int:
    """Run pytest on each machine; 1 when it failed on one."""
    guard.start()
    rows = []
    failed = ""
    for name in MACHINES:
        without = why_not(name)
        if without:
            rows.append(f"{name:10} not here: {without}")
            continue
        print(f"\nmachine: {name}, seed {seed}", flush=True)
        begun = time.monotonic()
        command = [sys.executable, "-m", "pytest", f"--hypothesis-seed={seed}", *arguments]
        environment = os.environ | MACHINES[name] | {"HYPOTHESIS_PROFILE": "seeded"}
        code = subprocess.run(command, env=environment, check=False).returncode
        failed = failed or (name if code else "")
        rows.append(f"{name:10} {'failed' if code else 'passed'} {time.monotonic() - begun:6.0f} s")
    print("\n" + "\n".join(rows))
    if failed:
        again = f"HYPOTHESIS_PROFILE=seeded python -m tests.machines run {failed} --hypothesis-seed={seed}"
        print(f"\nthe same examples again: make test-machines SEED={seed}; on one machine: {again} tests/...")
    return int(bool(failed))


def main(arguments: list[str]) -> int:
    """List machines, or run pytest on one or on each."""
    os.chdir(Path(__file__).parents[1])
    match arguments:
        case []:
            listed()
        case ["each", *rest]:
            return each(int(os.environ.get("SEED") or random.randrange(2**32)), rest)
        case ["run", "turn", *rest]:
            run(turn(commit()), ", whose turn it is with this commit (another: make test MACHINE=NAME)", rest)
        case ["run", name, *rest] if name in MACHINES:
            if why_not(name):
                print(f"{name} cannot be tried here: {why_not(name)}", file=sys.stderr)
                return 2
            run(name, "", rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
