"""From the text of a lesson file to a `Lesson`, or an error that names every broken block with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from heedmap.errors import FileError
from heedmap.given_files import read_bytes
from heedmap.lessons import blocks
from heedmap.lessons.fields import joined
from heedmap.lessons.read import read_block
from heedmap.lessons.scan import Problems, RawBlock, RawText, scan

_FILE_NAME = re.compile(r"^(?P<number>\d{2,3})-(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)\.md$")
_NAMED = (blocks.Checkpoint, blocks.Predict, blocks.Quiz)


def parse_file(path: Path) -> blocks.Lesson:
    """The lesson in a file.

    Args:
        path: named `NN-some-words.md`; NN orders the course.

    Raises:
        FileError: it cannot be read, or is not UTF-8.
        LessonError: its name or a block is broken; the message has a line `file:line: problem` for each.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8") from None
    return parse(text, path)


def parse(text: str, path: Path) -> blocks.Lesson:
    r"""The lesson in a text.

    Args:
        text: the content of a lesson file.
        path: where it stands; the file's name gives number and slug.

    Raises:
        LessonError: the name or a block is broken; the message has a line `file:line: problem` for each.

    Example:
        >>> lesson = parse("# Looking back\n\n::: time 5\n:::\n", Path("01-looking-back.md"))
        >>> lesson.number, lesson.title, lesson.minutes
        (1, 'Looking back', 5)
        >>> parse("# Looking back\n\n::: tme 5\n:::\n", Path("01-looking-back.md"))
        Traceback (most recent call last):
        heedmap.errors.LessonError: 01-looking-back.md:3: no block 'tme': ... did you mean "time"?
    """
    problems = Problems(path)
    name = _FILE_NAME.match(path.name)
    if name is None:
        problems.add(1, f"expected a file name like 03-frozen-meaning.md, found {path.name}")
    parts = scan(text, problems)
    title = _title(parts, problems)
    pieces = tuple(_pieces(parts, problems))
    _check_names(pieces, problems)
    _check_goals(pieces, problems)
    problems.raise_any()
    assert name is not None
    return blocks.Lesson(int(name["number"]), name["slug"], title, pieces, path)


def _title(parts: list[RawBlock | RawText], problems: Problems) -> str:
    """The first line, which is the title."""
    first = parts[0] if parts else None
    if not isinstance(first, RawText) or not first.lines[0].text.startswith("# "):
        problems.add(1, "expected the title first: `# One word looks back`")
        return ""
    return first.lines[0].text[2:].strip()


def _pieces(parts: list[RawBlock | RawText], problems: Problems) -> Iterator[blocks.Piece]:
    """Text and blocks in order; the title is not repeated."""
    for index, part in enumerate(parts):
        if isinstance(part, RawBlock):
            piece = read_block(part, problems)
            if piece is not None:
                yield piece
            continue
        lines = part.lines[1:] if index == 0 and part.lines[0].text.startswith("# ") else part.lines
        text = joined(lines)
        if text:
            begins = next(line.number for line in lines if line.text.strip())
            yield blocks.Markdown(text, begins)


def _check_names(pieces: tuple[blocks.Piece, ...], problems: Problems) -> None:
    """Progress is kept by name: no two blocks of a kind may share one."""
    seen: set[tuple[str, str]] = set()
    for piece in pieces:
        if isinstance(piece, _NAMED):
            key = blocks.kind_of(piece), piece.name
            if key in seen and piece.name:
                problems.add(piece.line, f"a second {key[0]} named {piece.name!r}: give it a name of its own")
            seen.add(key)


def _check_goals(pieces: tuple[blocks.Piece, ...], problems: Problems) -> None:
    """A goal can be ticked only by what stands in the lesson."""
    has = {blocks.kind_of(piece) for piece in pieces}
    kinds = {"quiz": "quiz", "checkpoints": "checkpoint", "predictions": "predict", "breaks": "break"}
    exercises = {(piece.generator, str(piece.level)) for piece in pieces if isinstance(piece, blocks.Exercise)}
    functions = {piece.function for piece in pieces if isinstance(piece, blocks.Code)}
    for piece in pieces:
        for goal in piece.goals if isinstance(piece, blocks.Done) else ():
            deed, *rest = goal.deed
            if deed == "exercise":
                there = tuple(rest) in exercises
            elif deed == "code":
                there = rest[0] in functions
            else:
                there = kinds.get(deed, deed) in has
            if not there:
                problems.add(piece.line, f"the goal {' '.join(goal.deed)!r} cannot be ticked: no such block here")
