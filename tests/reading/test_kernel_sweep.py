"""No call ends the process: thousands of them in a process of their own, each compared with the whole map."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def sweep(name: str, every: int, tmp_path: Path) -> int:
    """How many calls a sweep made; where it ended early, the call at which it did is named."""
    last = tmp_path / "last.txt"
    command = [sys.executable, "-m", "tests.reading.kernel_sweep", name, str(last), str(every)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    if done.returncode:
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit code {done.returncode}"
        pytest.fail(f"{how} at {last.read_text() if last.exists() else 'its start'}\n{done.stderr[-2000:]}")
    return int(done.stdout)


@pytest.mark.parametrize(("name", "every", "calls"), [("attend", 10, 2_000), ("rules", 61, 651)])
def test_no_call_ends_the_process(name: str, every: int, calls: int, tmp_path: Path) -> None:
    assert sweep(name, every, tmp_path) == calls


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("name", "calls"), [("attend", 20_000), ("rules", 39_690)])
def test_no_call_at_all_ends_the_process(name: str, calls: int, tmp_path: Path) -> None:
    assert sweep(name, 1, tmp_path) == calls
