"""What several kinds of block share: fields asked for by name, a name, a text, answers that are computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heedmap.lessons.fields import Field, joined
from heedmap.lessons.scan import Line, Problems, RawBlock

NAME = re.compile(r"^[a-z][a-z0-9-]*$")
_DECIMAL = re.compile(r"^-?\d+(\.\d+)?$")


class Fields:
    """The fields of one block, asked for by name."""

    def __init__(self, raw: RawBlock, fields: Sequence[Field], problems: Problems) -> None:
        self.raw, self.fields, self.problems = raw, fields, problems

    def all(self, name: str) -> list[Field]:
        """Every field of a name."""
        return [item for item in self.fields if item.name == name]

    def one(self, name: str, *, needed: bool = False) -> Field | None:
        """The only field of a name."""
        found = self.all(name)
        if len(found) > 1:
            self.problems.add(found[1].line, f"`{name}:` stands here twice")
        if needed and not (found and found[0].text):
            self.problems.add(self.raw.line, f"the block {self.raw.kind!r} needs `{name}: ...`")
        return found[0] if found else None

    def text(self, name: str, *, needed: bool = False) -> str:
        """The text of the only field of a name, or nothing."""
        found = self.one(name, needed=needed)
        return found.text if found else ""

    def number(self, name: str) -> float | None:
        """The number of the only field of a name, or `None`."""
        found = self.one(name)
        if found is None:
            return None
        if not _DECIMAL.match(found.text):
            self.problems.add(found.line, f"`{name}:` expected a number, found {found.text!r}")
            return None
        return float(found.text)


def computed(fields: Fields, problems: Problems) -> str:
    """The answer: a call in braces, or a word; never a number that someone typed."""
    found = fields.one("answer", needed=True)
    if found is None:
        return ""
    refuse_typed(found.text, found.line, problems)
    return found.text


def refuse_typed(answer: str, line: int, problems: Problems) -> None:
    """Numbers in answers are computed, so that they cannot drift."""
    if _DECIMAL.match(answer):
        problems.add(line, f"the answer {answer} is typed in: write the computation, such as {{{{weight cat cat}}}}")


def name_of(raw: RawBlock, problems: Problems) -> str:
    """The name that follows the kind; progress is kept under it."""
    if not NAME.match(raw.argument):
        found = repr(raw.argument) if raw.argument else "nothing"
        problems.add(raw.line, f"expected `::: {raw.kind} NAME` with a name such as which-word, found {found}")
    return raw.argument


def body_of(raw: RawBlock, lines: Sequence[Line], problems: Problems) -> str:
    """The text of a block that must have one."""
    text = joined(lines)
    if not text:
        problems.add(raw.line, f"the block {raw.kind!r} has no text")
    return text
