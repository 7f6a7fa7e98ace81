"""The folder of a run: one run at a time, and the rows in it belong to one plan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heedmap.errors import FileError
from heedmap.files import BESIDE, write_beside
from heedmap.given_files import read_bytes
from heedmap.json_form import Every, Maybe, check_form
from heedmap.json_text import parse_json
from heedmap.lab.plan import differences

RUN_SCHEMA = "heedmap/run/1"
RUN_FILE = "run.json"
LOCK_FILE = ".lock"

_FORM = {
    "parts": dict,
    "model": dict,
    "shard": str,
    "request": dict,
    "run": {"begun": str, "model": dict, "skipped_items": Maybe(Every(Every(str)))},
}
"""What `run.json` must hold; `Request.from_json` looks closer at the request."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, made where need be, for this run alone; the lock goes with the process, however that ends.

    Raises:
        FileError: another run is writing into it, or it cannot be made.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_FILE, timeout=0)
        lock.acquire()
    except Timeout:
        raise FileError(f"another run is writing into {folder}: wait for its end, or give another folder") from None
    except OSError as error:
        raise FileError(f"cannot write into {folder}: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()


def begin(folder: Path, plan: Mapping[str, Any], *, resume: bool) -> None:
    """Write down what this run is, or make sure that it is the one that was begun here.

    Args:
        folder: of the run, locked.
        plan: what must be the same for rows to belong together, and under "run" what need not.
        resume: whether the folder may hold a run already.

    Raises:
        FileError: the folder holds another run, or one and `resume` is False, or something else.
    """
    path = folder / RUN_FILE
    if not path.exists():
        others = sorted(one.name for one in folder.iterdir() if not one.name.startswith((LOCK_FILE, BESIDE)))
        if others:
            raise FileError(f"{folder} is not empty ({others[0]} ...) and holds no run: give a new folder")
    for left in (one for part in (".", "rows", "charts") for one in (folder / part).glob(f"{BESIDE}*")):
        left.unlink()  # a run that was killed while it wrote a file left it beside
    if not path.exists():
        write_json(path, {"schema": RUN_SCHEMA, **plan})
        return
    if not resume:
        raise FileError(f"{folder} holds a run already: go on with it by --resume, or give another folder")
    before = read_run(folder)
    found = differences(_fixed(before), _fixed(plan))
    if found:
        raise FileError(f"{folder} holds another run ({'; '.join(found[:3])}): give another folder")


def _fixed(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same; read back from JSON, so that tuples and lists are one."""
    kept = {name: value for name, value in plan.items() if name not in ("schema", "run", "request")}
    plain: dict[str, Any] = json.loads(json.dumps(kept))
    return plain


def read_run(folder: Path) -> dict[str, Any]:
    """What stands in a folder's `run.json`.

    Raises:
        FileError: there is none, or it is none of ours.
    """
    found = read_json(folder / RUN_FILE)
    if found.get("schema") != RUN_SCHEMA:
        raise FileError(f"{folder / RUN_FILE} is not the plan of a run ({RUN_SCHEMA})")
    check_form(found, _FORM, str(folder / RUN_FILE))
    return found


def finish_shard(folder: Path, skipped: Mapping[str, Mapping[str, str]]) -> None:
    """Write down that a shard is done, and which items of each experiment it could not measure."""
    plan = read_run(folder)
    write_json(folder / RUN_FILE, {**plan, "run": {**plan["run"], "skipped_items": skipped}})


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        FileError: it cannot be read, or is no JSON object.
    """
    try:
        found = parse_json(read_bytes(path), strict=True)
    except ValueError as error:
        raise FileError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise FileError(f"{path} holds no JSON object")
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write strict JSON, whole or not at all."""
    with write_beside(path) as beside:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
        beside.write_text(text + "\n", encoding="utf-8")
