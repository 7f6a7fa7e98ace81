"""A run of the lab in a process of its own: reads a request from stdin, tells its progress in JSON lines on stdout.

It is ended by SIGINT and loses nothing: the rows measured so far lie in the folder, and the next run goes on there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from heedmap.errors import HeedmapError

_PAUSE = 0.2
"""Seconds between two lines of progress."""


def main(folder: Path) -> int:
    """Run the request on stdin in a folder; 0 when the report is written, 1 when it failed, 130 when stopped."""
    asked = json.load(sys.stdin)
    last = 0.0

    def progress(done: int, total: int, what: str, /) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total or now - last > _PAUSE:
            last = now
            _say({"progress": [done, total, what]})

    try:
        _say({"progress": [0, 0, "loading the model"]})
        _run(asked, folder, progress)
    except KeyboardInterrupt:
        _say({"stopped": True})
        return 130
    except HeedmapError as error:
        _say({"failed": {"kind": type(error).__name__, "message": str(error)}})
        return 1
    except Exception as error:  # the page must say something, and a traceback on stderr is read by nobody
        says = f"this failed inside Heedmap ({type(error).__name__}: {error}); what was measured is kept"
        _say({"failed": {"kind": "InternalError", "message": says}})
        return 1
    _say({"finished": True})
    return 0


def _run(asked: dict[str, Any], folder: Path, progress: Any) -> None:
    """Run and write the report; what a folder holds already is not measured again."""
    from heedmap.lab.request import Request
    from heedmap.lab.run import RunPlace, perform

    request = Request.from_json(asked)
    place = RunPlace(request, request.load(), folder, progress=progress, note=lambda text: _say({"note": text}))
    perform(place, resume=True, command=["heedmap", "lab", request.name])


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201 - stdout is the channel


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
