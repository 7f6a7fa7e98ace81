"""The cache folder, room on the disk, and folders that are never half written."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors import SafetensorError

from heedmap.errors import FileError
from heedmap.models.places import building, cache_folder, is_offline, locked, require_space, writing


def test_heedmap_cache_comes_first_then_xdg_then_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HEEDMAP_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "heedmap"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_folder() == tmp_path / ".cache" / "heedmap"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/heedmap")
    monkeypatch.setenv("HEEDMAP_CACHE", "~/my models")
    assert cache_folder() == tmp_path / "my models"


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("yes", True), ("ON", True), ("0", False), ("", False)])
def test_offline_is_what_the_hub_calls_so(monkeypatch: pytest.MonkeyPatch, value: str, offline: bool) -> None:
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert is_offline() is offline


def test_too_little_room_is_said_before_anything_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=42_000_000))
    folder = tmp_path / "not" / "yet"
    require_space(folder, 41_000_000, "smollm2")
    with pytest.raises(FileError) as caught:
        require_space(folder, 800_000_000, "smollm2")
    assert str(caught.value) == (
        f"smollm2 needs 800 MB of disk and {folder} has 42 MB free: "
        f"make room, or set HEEDMAP_CACHE to a folder on a larger disk"
    )
    assert not folder.parent.exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_disk_that_fills_up_is_one_line_with_the_way_out(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"the disk of .* is full: smollm2 needs 800 MB and .* set HF_HOME to a folder"):  # noqa: SIM117
        with writing(tmp_path, 800_000_000, "smollm2", "HF_HOME"):
            raise error


def test_a_folder_that_may_not_be_written_names_it_and_the_variable(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write in /ro/x: Read-only file system; set HEEDMAP_CACHE to"):  # noqa: SIM117
        with writing(tmp_path, 1, "smollm2"):
            raise OSError(errno.EROFS, "Read-only file system", "/ro/x")


def test_other_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(SafetensorError, match="header too large"), writing(tmp_path, 1, "x"):
        raise SafetensorError("header too large")


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with building(target) as folder:
        (folder / "file").write_text("new")
        assert not target.exists()
    assert (target / "file").read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "file").write_text("old")
    build = building(target)
    (build.__enter__() / "file").write_text("half")
    interrupt = KeyboardInterrupt()
    assert build.__exit__(KeyboardInterrupt, interrupt, None) is False
    assert (target / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_folder_takes_the_place_of_the_old(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").write_text("old")
    with building(target) as folder:
        (folder / "new").write_text("new")
    assert [file.name for file in target.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [target]


def test_files_are_as_readable_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with building(tmp_path / "model") as folder:
            (folder / "private").touch(mode=0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "model" / "private").stat().st_mode & 0o777 == 0o644


BUILDER = """
import sys, time
from pathlib import Path
from heedmap.models.places import building, locked
target = Path(sys.argv[1])
with locked(target, lambda: None), building(target) as folder:
    (folder / "half").write_text("half")
    print("building", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_builder_leaves_nothing_that_the_next_one_meets(tmp_path: Path, how: signal.Signals) -> None:
    target = tmp_path / "model"
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(target)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert builder.stdout is not None
    with builder:
        assert builder.stdout.readline() == "building\n"
        builder.send_signal(how)
        builder.wait(20)
    assert not target.exists()
    started = time.monotonic()
    with locked(target, lambda: pytest.fail("the dead process holds the lock")), building(target) as folder:
        assert [path.name for path in tmp_path.glob(".model.partial-*")] == [folder.name]
        (folder / "whole").write_text("whole")
    assert time.monotonic() - started < 5
    assert [file.name for file in target.iterdir()] == ["whole"]


def test_the_second_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    target, order = tmp_path / "model", []
    inside, waits = threading.Event(), threading.Event()

    def first() -> None:
        with locked(target, lambda: None):
            inside.set()
            assert waits.wait(20)
            order.append("first")

    worker = threading.Thread(target=first)
    worker.start()
    assert inside.wait(20)
    with locked(target, waits.set):
        order.append("second")
    worker.join()
    assert order == ["first", "second"]
