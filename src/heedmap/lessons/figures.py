"""Puts live numbers into a lesson's text, and keeps those that need a model so that it need not run again."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import heedmap.lessons.computations  # noqa: F401 - brings every computation into the registry
from heedmap._version import __version__
from heedmap.arithmetic.names import label
from heedmap.errors import FileError, LessonError
from heedmap.files import write_beside
from heedmap.json_text import parse_json
from heedmap.lessons.blocks import Lesson
from heedmap.lessons.course import FOLDER
from heedmap.lessons.live import Figure, RunCommand, compute, split_call

SCHEMA = "heedmap/figures/1"
SHIPPED = FOLDER / "figures.json"
"""The figures of the course that need a model, as they were when it was built."""

_BRACES = re.compile(r"\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_NAMED = re.compile(r"@([a-z][a-z0-9-]*)")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#])")


class Kept:
    """Figures that were computed before, by call.

    Those of the package come first; new ones go to a file of the reader's cache, for this version of Heedmap only.

    Args:
        own: the file of the reader's cache; `None` keeps nothing.
        shipped: the file of the package; `None` to compute everything anew.
    """

    def __init__(self, own: Path | None, shipped: Path | None = SHIPPED) -> None:
        self.own = own
        self.figures: dict[str, Figure] = {}
        if shipped is not None and shipped.exists():
            self.figures.update(read_figures(shipped))
        if own is not None and own.exists():
            with suppress(FileError):  # a cache that is damaged, or of another version, is computed again
                self.figures.update(read_figures(own, __version__))

    def add(self, call: str, figure: Figure) -> None:
        """Keep one more."""
        self.figures[call] = figure
        if self.own is not None:
            self.own.parent.mkdir(parents=True, exist_ok=True)
            write_figures(self.own, self.figures)


def read_figures(path: Path, version: str | None = None) -> dict[str, Figure]:
    """The figures of a file.

    Raises:
        FileError: it cannot be read, is none, or is of another version than asked for.
    """
    try:
        content = parse_json(path.read_bytes())
        if content["schema"] != SCHEMA or (version is not None and content["version"] != version):
            raise FileError(f"{path} holds no figures of this version: delete it, and they are computed again")
        return {item["call"]: Figure(item["text"], item["value"]) for item in content["figures"]}
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{path} holds no figures: delete it, and they are computed again") from None


def write_figures(path: Path, figures: Mapping[str, Figure]) -> None:
    """Write figures, sorted, one a line."""
    items = [
        json.dumps({"call": call, "text": figure.text, "value": figure.value}, ensure_ascii=False, allow_nan=False)
        for call, figure in sorted(figures.items())
    ]
    head = f'{{"schema": "{SCHEMA}", "version": "{__version__}", "figures": [\n'
    with write_beside(path) as beside:
        beside.write_text(head + ",\n".join(items) + "\n]}\n", encoding="utf-8")


class Calculator:
    """Computes the live numbers of lessons.

    Args:
        run_command: runs a `heedmap` command and returns what it prints; `None` where commands cannot be run.
        kept: figures that need not be computed again.
        tell: told in a line what is computed when it takes a while.
    """

    def __init__(
        self, run_command: RunCommand | None = None, kept: Kept | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self.run_command = run_command
        self.kept = kept if kept is not None else Kept(None)
        self.tell = tell

    def figure(self, call: str, lesson: Lesson, line: int) -> Figure:
        """The figure of a call.

        Args:
            call: the computation, or one of the lesson's names for one.
            lesson: where it stands.
            line: the line, for the error.

        Raises:
            LessonError: the call is none, or cannot be computed; the message begins with file and line.
        """
        names = lesson.numbers
        try:
            return self._of(names.get(call.strip(), call), names)
        except LessonError as error:
            raise LessonError(f"{lesson.path}:{line}: {error}") from None

    def in_full(self, call: str, lesson: Lesson) -> str:
        """A call as it is computed: short names for calls, and each `@name` in one, are replaced.

        Raises:
            LessonError: the call is none.

        Example:
            >>> from heedmap.lessons.course import load_course
            >>> Calculator().in_full("luckiest @heads 10", load_course().find("12"))
            'luckiest 270 10'
        """
        return self._in_full(lesson.numbers.get(call.strip(), call), lesson.numbers)

    def _in_full(self, call: str, names: Mapping[str, str]) -> str:
        """The same with these names; calls that need a model are kept under what is written, and have no `@name`."""
        full = " ".join(call.split())
        return full if split_call(full)[0].model else self._with_names(full, names)

    def _of(self, call: str, names: Mapping[str, str]) -> Figure:
        """The figure of a call; `@name` in it stands for the figure of one of these names."""
        full = self._in_full(call, names)
        if not split_call(full)[0].model:
            return compute(full)
        if full not in self.kept.figures:
            if self.tell is not None:
                self.tell(f"computing: {full}")
            self.kept.add(full, compute(full, run_command=self.run_command))
        return self.kept.figures[full]

    def _with_names(self, call: str, names: Mapping[str, str]) -> str:
        """A call with each `@name` replaced; a name's own call may use the names that stand before it."""

        def put(match: re.Match[str]) -> str:
            if match[1] not in names:
                return match[0]
            before = dict(itertools.takewhile(lambda item: item[0] != match[1], names.items()))
            return self._of(names[match[1]], before).text

        return _NAMED.sub(put, call)

    def fill(self, text: str, lesson: Lesson, line: int, *, escape: bool = True) -> str:
        """A text with each `{{call}}` replaced by its figure.

        Args:
            text: Markdown, or plain text.
            lesson: where it stands.
            line: where it begins, for errors.
            escape: whether the figure is to be shown as it is in Markdown.
        """

        def put(match: re.Match[str]) -> str:
            at = line + text.count("\n", 0, match.start())
            shown = self.figure(match[1], lesson, at).text
            return _MARKDOWN.sub(r"\\\1", shown) if escape else shown

        return _BRACES.sub(put, text)

    def fill_diagram(self, text: str, lesson: Lesson, line: int) -> str:
        """A drawing with each `{{call}}` replaced by its figure, at the width that its braces took."""

        def put(match: re.Match[str]) -> str:
            at = line + text.count("\n", 0, match.start())
            return label(self.figure(match[1], lesson, at).text).ljust(len(match[0]))

        return "\n".join(line.rstrip() for line in _BRACES.sub(put, text).split("\n"))


def calls_of(lesson: Lesson) -> dict[str, int]:
    """Every call of a lesson with a line where it stands, as it will be computed.

    Example:
        >>> from heedmap.lessons.course import load_course
        >>> "weight cat cat" in calls_of(load_course().lessons[0])
        True
    """
    names = lesson.numbers
    found: dict[str, int] = {}

    def note(call: str, line: int) -> None:
        found.setdefault(" ".join(names.get(call.strip(), call).split()), line)

    def search(value: Any, line: int) -> None:
        if isinstance(value, str):
            for match in _BRACES.finditer(value):
                note(match[1], line + value.count("\n", 0, match.start()))
        elif isinstance(value, Mapping):
            for one in value.values():
                search(one, line)
        elif isinstance(value, tuple):
            for one in value:
                search(one, line)
        elif hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                search(getattr(value, name), line)

    for piece in lesson.pieces:
        search(piece, piece.line)
        for name in ("run", "call"):
            if hasattr(piece, name):
                note(getattr(piece, name), piece.line)
        for call in getattr(piece, "calls", {}).values():
            note(call, piece.line)
    return found
