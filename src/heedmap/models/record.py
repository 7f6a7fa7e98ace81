"""`source.json`: what lies in a folder of the cache, where it came from, and whether it is still whole."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from heedmap._version import __version__
from heedmap.errors import FileError
from heedmap.files import write_beside
from heedmap.json_text import parse_json

SCHEMA = "heedmap/source/1"
FILE = "source.json"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Record:
    """What is known of a folder in the cache.

    Attributes:
        name: catalogue name, or the path of the GGUF file it was made from.
        origin: where it came from, in words.
        origin_sha256: hash of the file it was made from; the weights' own hash where nothing was converted.
        files: for each file its `size` in bytes and `sha256`; for the weights also `mtime_ns`.
        when: when it was written, UTC.
        versions: of the packages that wrote it.
    """

    name: str
    origin: str
    origin_sha256: str
    files: dict[str, dict[str, Any]]
    when: str
    versions: dict[str, str]

    @property
    def sha256(self) -> str:
        """The hash of the weights file."""
        return str(self.files[WEIGHTS]["sha256"])


def write_record(folder: Path, *, name: str, origin: str, origin_sha256: str) -> Record:
    """Hash every file of a finished folder and write its `source.json`, last of all."""
    files: dict[str, dict[str, Any]] = {}
    for file in sorted(file for file in folder.iterdir() if file.is_file()):
        files[file.name] = {"size": file.stat().st_size, "sha256": sha256_of(file)}
    files[WEIGHTS]["mtime_ns"] = (folder / WEIGHTS).stat().st_mtime_ns
    packages = ("transformers", "torch", "gguf", "safetensors")
    record = Record(
        name=name,
        origin=origin,
        origin_sha256=origin_sha256,
        files=files,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={"heedmap": __version__, **{package: version(package) for package in packages}},
    )
    _save(folder, record)
    return record


def read_record(folder: Path) -> Record | None:
    """The record of a folder that is whole, or None where nothing whole lies there.

    Sizes are always compared. The weights are hashed again only when their time has changed (the folder was copied,
    say), so that a start does not read half a gigabyte for nothing.
    """
    try:
        value = parse_json((folder / FILE).read_bytes())
        if value.pop("schema") != SCHEMA:
            return None
        record = Record(**value)
        for file, known in record.files.items():
            if (folder / file).stat().st_size != known["size"]:
                return None
        weights = record.files[WEIGHTS]
        modified = (folder / WEIGHTS).stat().st_mtime_ns
        if modified != weights["mtime_ns"]:
            if sha256_of(folder / WEIGHTS) != weights["sha256"]:
                return None
            weights["mtime_ns"] = modified
            _save_if_possible(folder, record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return record


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _save(folder: Path, record: Record) -> None:
    """Put the record into the folder."""
    with write_beside(folder / FILE) as beside:
        beside.write_text(json.dumps({"schema": SCHEMA, **asdict(record)}, indent=2, ensure_ascii=False), "utf-8")


def _save_if_possible(folder: Path, record: Record) -> None:
    """Update the record; a cache that may only be read stays as it is and is hashed again next time."""
    with suppress(FileError):
        _save(folder, record)
