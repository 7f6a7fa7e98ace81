"""What a learner has done: kept in one file of the user's data folder, written beside and renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from heedmap.errors import FileError
from heedmap.files import write_beside
from heedmap.json_text import parse_json

SCHEMA = "heedmap/progress/1"
VARIABLE = "HEEDMAP_LEARN"
"""The environment variable that moves the folder."""

SOLVED_ENOUGH = 3
"""So many exercises of a kind, solved without help, tick a goal."""


def data_folder() -> Path:
    """Where progress is kept: `$HEEDMAP_LEARN`, or `heedmap` in `$XDG_DATA_HOME` or else in `~/.local/share`."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path there is to be ignored.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "heedmap"


def _is_progress(content: Any) -> bool:
    """Whether a JSON value is of the form that is written here."""
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or not isinstance(content.get("lessons"), dict):
        return False
    return all(isinstance(lesson, dict) for lesson in content["lessons"].values())


class Progress:
    """One learner's progress.

    Every change is read, made and written under a lock, so that two terminals at once lose nothing.

    Args:
        folder: where the file is, or will be.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = data_folder() if folder is None else folder
        self.path = self.folder / "progress.json"

    def read(self) -> dict[str, Any]:
        """All that is kept.

        Raises:
            FileError: the file cannot be read, or is not one of ours.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {"schema": SCHEMA, "last": None, "lessons": {}}
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"cannot read {self.path}: {error}") from None
        try:
            content: dict[str, Any] | None = parse_json(text)
        except ValueError:
            content = None
        if content is None or not _is_progress(content):
            raise FileError(
                f"{self.path} does not hold a learner's progress ({SCHEMA}): rename it to begin anew, "
                f"or set {VARIABLE} to another folder"
            )
        return content

    def lesson(self, slug: str) -> dict[str, Any]:
        """What is kept of one lesson."""
        found: dict[str, Any] = self.read()["lessons"].get(slug, {})
        return found

    @contextmanager
    def changing(self, slug: str) -> Iterator[dict[str, Any]]:
        """What is kept of one lesson, to be changed in the block; it is written when the block ends well.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     progress = Progress(Path(folder))
            ...     with progress.changing("one-word") as lesson:
            ...         lesson["page"] = 2
            ...     progress.lesson("one-word"), progress.read()["last"]
            ({'page': 2}, 'one-word')
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"cannot make the folder {self.folder}: {error.strerror}; set {VARIABLE} to one that you may write in"
            ) from None
        with FileLock(self.path.with_suffix(".lock")):
            content = self.read()
            lesson = content["lessons"].setdefault(slug, {})
            yield lesson
            content["last"] = slug
            with write_beside(self.path) as beside:
                beside.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def forget(self, slug: str | None = None) -> None:
        """Forget one lesson, or all of it."""
        if slug is None:
            self.path.unlink(missing_ok=True)
            return
        with self.changing(slug) as lesson:
            lesson.clear()
