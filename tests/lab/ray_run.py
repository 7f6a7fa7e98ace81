"""A real local Ray cluster of two workers, on the loopback alone: run inside `unshare -n`.

python -m tests.lab.ray_run FOLDER MODE     where MODE is "whole" or "killed"

It runs the experiment `sink` on a small encoder with `--engine ray`; "killed" kills a worker in the middle.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ray

from heedmap.cli.main import main as heedmap


def start() -> None:
    """A cluster of this machine, for this process and its children alone."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    ray.init(num_cpus=2, object_store_memory=80 << 20, **quiet)


def workers() -> list[int]:
    """The processes of this cluster that measure at the moment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                if words.startswith("ray::measure_batches") and _is_ours(int(folder.name)):
                    found.append(int(folder.name))
            except OSError:
                continue  # it has ended
    return found


def _is_ours(process: int) -> bool:
    """Whether this process started another one, or one that started it."""
    while process > 1:
        if process == os.getpid():
            return True
        stat = Path(f"/proc/{process}/stat").read_text()
        process = int(stat.rpartition(")")[2].split()[1])
    return False


def kill_one(killed: list[int]) -> None:
    """Kill a worker while it measures."""
    for _ in range(6000):
        busy = workers()
        if len(busy) == 2:
            time.sleep(1.0)
            os.kill(busy[0], signal.SIGKILL)
            killed.append(busy[0])
            return
        time.sleep(0.05)


def main(folder: str, mode: str) -> int:
    """Run, and say which worker was killed."""
    start()
    killed: list[int] = []
    if mode == "killed":
        threading.Thread(target=kill_one, args=(killed,), daemon=True).start()
    arguments = ["lab", "sink", "--model", "minilm", "--engine", "ray", "--batch-size", "1", "-o", folder]
    code = heedmap(arguments)
    ray.shutdown()
    print("killed", killed, file=sys.stderr)  # noqa: T201
    return code if mode != "killed" or killed else 99


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
