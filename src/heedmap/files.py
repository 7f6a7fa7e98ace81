"""Writing files so that nothing is ever half written or left behind: beside the target first, then renamed over it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heedmap.errors import FileError

BESIDE = ".heedmap-"
"""How the name of a file begins that is not complete yet; one that is left over belonged to a killed process."""


@contextmanager
def write_beside(path: str | Path) -> Iterator[Path]:
    """A temporary path in the folder of `path`, which takes its place when the block ends well.

    An existing file stays as it was until its successor is complete on the disk, and stays for good when the
    block raises or is interrupted. The temporary path has the same suffix, for writers that go by it.
    A symbolic link is followed, and an existing file's permissions are kept.

    Args:
        path: the file to write. Its folder must exist.

    Yields:
        The path to write to; it exists and is empty.

    Raises:
        FileError: the folder does not exist or may not be written, `path` is something other than a plain
            file or is write-protected, or the system refused a write in the block (disk full, too large).

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with write_beside(Path(folder) / "note.txt") as beside:
        ...         _ = beside.write_text("four words", encoding="utf-8")
        ...     (Path(folder) / "note.txt").read_text(encoding="utf-8")
        'four words'
    """
    beside = None
    try:
        target = Path(path).resolve()
        _check_target(target, path)
        beside = target.with_name(f"{BESIDE}{secrets.token_hex(6)}{target.suffix}")
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        yield beside
        _flush_to_disk(beside)
        beside.replace(target)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise FileError(f"cannot write {path}: {reason}") from error
    finally:
        if beside is not None:
            with suppress(OSError):  # after the rename it is gone, as it should be
                beside.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone after the block; an interrupt while it goes is answered when it is gone."""
    folder = tempfile.mkdtemp(prefix=BESIDE)
    interrupts: list[int] = []
    try:
        yield Path(folder)
    finally:
        main = threading.current_thread() is threading.main_thread()  # no other thread is interrupted
        before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if main else None
        shutil.rmtree(folder, ignore_errors=True)
        if main:
            signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt


def _check_target(target: Path, given: str | Path) -> None:
    """Refuse what a rename cannot replace, or would replace wrongly (a device, a protected file)."""
    if not target.parent.is_dir():
        raise FileError(f"cannot write {given}: there is no folder {target.parent}; make it first")
    if not target.exists():
        return
    if target.is_dir():
        raise FileError(f"cannot write {given}: it is a folder; give a file name")
    if not target.is_file():
        raise FileError(f"cannot write {given}: it is not a plain file; give another name")
    if not os.access(target, os.W_OK):
        raise FileError(f"cannot write {given}: it is write-protected; make it writable, or give another name")


def _flush_to_disk(path: Path) -> None:
    """Wait for the disk: a rename that outruns the content can leave an empty file after a crash."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
