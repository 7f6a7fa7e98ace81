"""Writing beside and renaming: nothing a user made is lost or half written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import FileError
from heedmap.files import temporary_folder, write_beside


def write(path: str | Path, data: bytes, failure: Exception | None = None) -> None:
    """Write a file through the function under test, and fail before the end where told to."""
    with write_beside(path) as beside:
        beside.write_bytes(data)
        if failure is not None:
            raise failure


def test_a_new_file_appears_whole_and_alone(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"
    with write_beside(target) as beside:
        assert beside.suffix == ".csv"
        assert beside.parent == tmp_path
        beside.write_text("words", encoding="utf-8")
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "words"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_in_the_block_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="half way"):
        write(target, b"new, but onl", RuntimeError("half way"))
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interrupt_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"
    target.write_text("old", encoding="utf-8")
    code = (
        "import sys, time\n"
        "from heedmap.files import write_beside\n"
        "with write_beside(sys.argv[1]) as beside:\n"
        "    beside.write_text('new')\n"
        "    print('started', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        process.communicate()
    assert time.monotonic() - started < 30
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_follow_the_process_or_the_old_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("x", encoding="utf-8")
    target = tmp_path / "map.csv"
    write(target, b"new")
    assert target.stat().st_mode == plain.stat().st_mode
    target.chmod(0o640)
    write(target, b"new")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("old", encoding="utf-8")
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write(link, b"new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no folder .*nowhere; make it first"):
        write(tmp_path / "nowhere" / "map.csv", b"new")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="it is a folder; give a file name"):
        write(tmp_path, b"new")


def test_a_device_is_left_alone() -> None:
    with pytest.raises(FileError, match="cannot write /dev/null: it is not a plain file"):
        write("/dev/null", b"new")
    assert Path("/dev/null").is_char_device()


def test_a_protected_file_or_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o444)
    if os.access(target, os.W_OK):
        pytest.skip("this user may write everywhere (root)")
    with pytest.raises(FileError, match="it is write-protected"):
        write(target, b"new")
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(FileError, match="Permission denied"):
            write(tmp_path / "other.csv", b"new")
    finally:
        tmp_path.chmod(0o755)


def test_a_disk_that_is_full_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the file size stands in for a full disk: both fail in the middle of a write."""
    target = tmp_path / "map.bin"
    target.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(FileError, match=r"cannot write .*map\.bin: File too large"):
            write(target, b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_temporary_folder_is_gone_before_an_interrupt_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree

    def interrupted(*arguments: Any, **options: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        remove(*arguments, **options)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder() as folder:
        (folder / "file").write_text("four words")
    assert not folder.exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
