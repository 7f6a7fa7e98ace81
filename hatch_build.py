"""Builds the page's program when a wheel or an sdist is made, so that none goes out without it or with an old one.

The program is built from viewer/ and is not committed. A build leaves the hash of the sources that it was made from
beside it (viewer/vite.config.ts); here that hash is compared, and npm runs only where it differs. Editable installs
are left alone: they need no npm, and `make viewer` builds the program when somebody wants pages.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = Path("src/heedmap/drawing/page/bundle")
FILES = ("page.js", "page.css", "application.js", "application.css", "course.js", "course.css", "sources.sha256")
SOURCES = ("src", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


class ViewerHook(BuildHookInterface[Any]):
    """Hatchling's hook: called before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make sure that the program is there and fresh."""
        if version != "editable":
            make_fresh(Path(self.root))


def make_fresh(root: Path) -> None:
    """Build the program of a checkout where it is missing or made from other sources.

    Raises:
        RuntimeError: npm is not there, or the build failed; nothing is packed then.
    """
    if is_fresh(root):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "the page's program (viewer/) must be built before Heedmap is packed, and npm is not here: "
            "install Node 20.19 or newer, which brings npm"
        )
    for command in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        subprocess.run([npm, *command], cwd=root / "viewer", check=True)
    if not is_fresh(root):
        raise RuntimeError("the page's program was built, but not from the sources in viewer/: look at vite.config.ts")


def is_fresh(root: Path) -> bool:
    """Whether the program is there and was made from the sources as they are now."""
    if not all((root / BUNDLE / name).is_file() for name in FILES):
        return False
    return (root / BUNDLE / "sources.sha256").read_text(encoding="utf-8").strip() == source_hash(root / "viewer")


def source_hash(viewer: Path) -> str:
    """The hash of all sources: their names and contents, in the order of their names; as in viewer/vite.config.ts."""
    files = [viewer / name for name in SOURCES]
    files = [file for one in files for file in (one.rglob("*") if one.is_dir() else [one]) if file.is_file()]
    digest = hashlib.sha256()
    for name in sorted(file.relative_to(viewer).as_posix() for file in files):
        digest.update(name.encode() + b"\0" + (viewer / name).read_bytes() + b"\0")
    return digest.hexdigest()
