"""Where models are kept: the cache folder, building a folder without half-written states, room on the disk."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heedmap.errors import FileError

CACHE_VARIABLE = "HEEDMAP_CACHE"
"""The environment variable that moves Heedmap's cache."""

HUB_VARIABLE = "HF_HOME"
"""The environment variable that moves the Hub's cache."""

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}


def cache_folder() -> Path:
    """The folder of Heedmap's own copies: `$HEEDMAP_CACHE`, or `heedmap` in `$XDG_CACHE_HOME` or else `~/.cache`."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path there is to be ignored.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "heedmap"


def is_offline() -> bool:
    """Whether the user has asked for no network, by the Hub's variables `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in {"1", "ON", "YES", "TRUE"}


def megabytes(size: int) -> str:
    """A size in bytes as people say it.

    Example:
        >>> megabytes(92_871_040), megabytes(1_072_419_256)
        ('93 MB', '1.1 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def require_space(folder: Path, needed: int, what: str, variable: str = CACHE_VARIABLE) -> None:
    """Refuse to start writing what the disk has no room for.

    Args:
        folder: where it would be written; it need not exist yet.
        needed: bytes wanted at the peak.
        what: what would be written, for the message.
        variable: the environment variable that moves the folder.

    Raises:
        FileError: too little is free.
    """
    existing = folder
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if free < needed:
        raise FileError(
            f"{what} needs {megabytes(needed)} of disk and {folder} has {megabytes(free)} free: "
            f"make room, or set {variable} to a folder on a larger disk"
        )


@contextmanager
def writing(folder: Path, needed: int, what: str, variable: str = CACHE_VARIABLE) -> Iterator[None]:
    """Turn a full or forbidden disk, met while writing, into a FileError that names the place and the way out."""
    try:
        yield
    except Exception as error:
        if _is_disk_full(error):
            free = shutil.disk_usage(folder if folder.exists() else folder.parent).free
            raise FileError(
                f"the disk of {folder} is full: {what} needs {megabytes(needed)} and {megabytes(free)} is free; "
                f"make room, or set {variable} to a folder on a larger disk"
            ) from None
        if isinstance(error, OSError) and error.errno in _NOT_WRITABLE:
            raise FileError(
                f"cannot write in {error.filename or folder}: {error.strerror}; "
                f"set {variable} to a folder that you may write in"
            ) from None
        raise


def _is_disk_full(error: Exception) -> bool:
    """Whether an exception means that nothing more fits; safetensors tells it only in the text of its own class."""
    if isinstance(error, OSError):
        return error.errno in _DISK_FULL
    return type(error).__name__ == "SafetensorError" and "No space left" in str(error)


@contextmanager
def locked(target: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a folder that is to be built, and sweep away what killed builders of it left behind.

    Args:
        target: the folder to be built. The lock is a file beside it, which the system frees when its holder dies.
        waiting: called once if another process holds the lock.

    Raises:
        FileError: the folder around it cannot be made.
    """
    from filelock import FileLock, Timeout

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot make the folder {target.parent}: {error.strerror}; "
            f"set {CACHE_VARIABLE} to one that you may write in"
        ) from None
    lock = FileLock(target.parent / f".{target.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        for leftover in target.parent.glob(f".{target.name}.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield
    finally:
        lock.release()


@contextmanager
def building(target: Path) -> Iterator[Path]:
    """A fresh folder beside `target` that takes its place when the block ends well, and vanishes otherwise.

    Call it under `locked(target)`. A reader sees the old folder or the new one, never a mixture.
    """
    folder = target.parent / f".{target.name}.partial-{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
        # safetensors writes files that only their owner may read; a cache may be shared, so the umask decides.
        mode = folder.stat().st_mode & 0o666
        for file in folder.iterdir():
            if file.is_file():
                file.chmod(mode)
        if target.exists():
            target.replace(target.parent / f".{target.name}.partial-{uuid.uuid4().hex}")
        folder.replace(target)
    finally:
        for leftover in target.parent.glob(f".{target.name}.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)
