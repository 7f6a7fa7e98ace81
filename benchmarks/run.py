"""`make bench`: all tables, measured side by side on this machine."""

from __future__ import annotations

import platform

import torch
import transformers

from benchmarks import reading, startup


def main() -> None:
    """Print every table."""
    print(
        f"{platform.machine()}, {torch.get_num_threads()} threads, Python {platform.python_version()}, "
        f"torch {torch.__version__}, transformers {transformers.__version__}, smollm2 in float32\n"
    )
    print("## Reading\n")
    print(reading.report(), "\n")
    print("## Start\n")
    print(startup.report())


if __name__ == "__main__":
    main()
