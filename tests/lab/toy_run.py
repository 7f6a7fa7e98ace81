"""A process that runs the made-up experiment: it says "ready" when it begins, and may have a limit on file sizes.

python -m tests.lab.toy_run FOLDER ITEMS PAUSE [BYTES]
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from heedmap.errors import HeedmapError
from heedmap.lab.registry import EXPERIMENTS
from tests.lab.making import TOY, run_toy


def main(folder: str, items: str, pause: str, most_bytes: str = "") -> int:
    """Run, going on with what is there; 1 with a message on stderr where that fails."""
    EXPERIMENTS["toy"] = TOY
    if most_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most_bytes), int(most_bytes)))
    print("ready", flush=True)  # noqa: T201
    try:
        run_toy(Path(folder), items=int(items), pause=float(pause), resume=True)
    except HeedmapError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
