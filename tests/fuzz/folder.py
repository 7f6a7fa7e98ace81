"""A folder for the files of a target, gone when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path


def fresh_folder() -> Path:
    """An empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="heedmap-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
