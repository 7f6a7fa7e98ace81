"""One application a user: a second start finds the first, by a note that names its address and proves itself."""

from __future__ import annotations

import json
import os
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from heedmap.files import write_beside
from heedmap.json_text import parse_json

_SECONDS = 2.0
"""How long a running application has to answer."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running application.

    Attributes:
        address: of its page, such as "http://127.0.0.1:8321/".
        process: its number.
        identity: a random word that it answers with, so that nobody else is taken for it.
    """

    address: str
    process: int
    identity: str


def state_folder() -> Path:
    """Where the application keeps its note and the lab's runs: `heedmap` in `$XDG_STATE_HOME` or `~/.local/state`."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state") / "heedmap"


def announce(instance: Instance, folder: Path) -> None:
    """Leave the note, readable by this user alone.

    Raises:
        FileError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with write_beside(_note(folder)) as beside:
        beside.chmod(0o600)
        beside.write_text(json.dumps(asdict(instance)), encoding="utf-8")


def withdraw(instance: Instance, folder: Path) -> None:
    """Take the note away, if it is still this application's."""
    if _read(folder) == instance:
        _note(folder).unlink(missing_ok=True)


def find_running(folder: Path) -> Instance | None:
    """The application that runs already; None when the note is missing, stale or somebody else's."""
    instance = _read(folder)
    if instance is None:
        return None
    try:
        with urllib.request.urlopen(f"{instance.address}api/status", timeout=_SECONDS) as answer:
            told = json.load(answer)
    except (OSError, ValueError):
        return None
    return instance if isinstance(told, dict) and told.get("identity") == instance.identity else None


def _note(folder: Path) -> Path:
    return folder / "application.json"


def _read(folder: Path) -> Instance | None:
    """The note, when it is one."""
    try:
        told = parse_json(_note(folder).read_bytes())
        instance = Instance(str(told["address"]), int(told["process"]), str(told["identity"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return instance if instance.address.startswith("http://") else None
