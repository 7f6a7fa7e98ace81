"""Finds the blocks of a lesson file: where each begins and ends, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heedmap.errors import LessonError

_OPEN = re.compile(r"^::: *(?P<kind>[^\s:]\S*)(?: +(?P<argument>.*\S))? *$")
_CLOSE = re.compile(r"^:::\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


@dataclass(frozen=True)
class Line:
    """One line of a file and its number, from 1."""

    text: str
    number: int


@dataclass(frozen=True)
class RawBlock:
    """A block as it stands in the file: `::: kind argument`, its lines, `:::`."""

    kind: str
    argument: str
    lines: tuple[Line, ...]
    line: int


@dataclass(frozen=True)
class RawText:
    """Lines that stand outside every block."""

    lines: tuple[Line, ...]

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.lines[0].number


@dataclass
class Problems:
    """What is wrong with a file, all of it, each with its line."""

    path: Path
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, message: str) -> None:
        """Note one."""
        self.found.append((line, message))

    def raise_any(self) -> None:
        """Raise them together, in the order of the lines.

        Raises:
            LessonError: there is at least one.
        """
        if self.found:
            raise LessonError("\n".join(f"{self.path}:{line}: {message}" for line, message in sorted(self.found)))


def scan(text: str, problems: Problems) -> list[RawBlock | RawText]:
    r"""The blocks of a file and the text between them, in order.

    A block begins with a line `::: kind` or `::: kind argument` and ends with a line `:::`. What stands in a code
    fence (three backticks or tildes) is text, whatever it looks like.

    Args:
        text: the file's content.
        problems: receives a block that is never closed, and an end without a beginning.

    Example:
        >>> parts = scan("Four words.\n\n::: point\nOne looks back.\n:::\n", Problems(Path("01-a.md")))
        >>> [type(part).__name__ for part in parts], parts[1].kind, parts[1].line
        (['RawText', 'RawBlock'], 'point', 3)
    """
    parts: list[RawBlock | RawText] = []
    lines = [Line(one, number) for number, one in enumerate(text.splitlines(), 1)]
    between: list[Line] = []
    position, fence = 0, ""
    while position < len(lines):
        line = lines[position]
        fence = _fence_after(line.text, fence)
        opening = None if fence else _OPEN.match(line.text)
        if opening is None:
            if not fence and _CLOSE.match(line.text):
                problems.add(line.number, "a block ends here that never began: expected `::: KIND` before it")
            else:
                between.append(line)
            position += 1
            continue
        _flush(between, parts)
        end = _end(lines, position)
        if end < len(lines) and _CLOSE.match(lines[end].text):
            content = tuple(lines[position + 1 : end])
            parts.append(RawBlock(opening["kind"], opening["argument"] or "", content, line.number))
            position = end + 1
        else:
            problems.add(line.number, f"the block {opening['kind']!r} is never closed: put a line `:::` after it")
            position = end
    _flush(between, parts)
    return parts


def _end(lines: Sequence[Line], start: int) -> int:
    """The line that closes the block opened at `start`, or where another opens before that, or the file's end."""
    fence = ""
    for index in range(start + 1, len(lines)):
        text = lines[index].text
        fence = _fence_after(text, fence)
        if fence:
            continue
        if _CLOSE.match(text) or _OPEN.match(text):
            return index
    return len(lines)


def _fence_after(text: str, fence: str) -> str:
    """The code fence that is open after this line: the one that was, a new one, or none."""
    match = _FENCE.match(text)
    if match is None:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) and text.strip() == match[1] else fence


def _flush(between: list[Line], parts: list[RawBlock | RawText]) -> None:
    """Keep the text gathered so far, without empty lines around it."""
    while between and not between[0].text.strip():
        del between[0]
    while between and not between[-1].text.strip():
        del between[-1]
    if between:
        parts.append(RawText(tuple(between)))
        between.clear()
