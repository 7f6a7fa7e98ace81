"""What stands inside a block: fields (`answer: ...`), lists, task lists and the text before them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from heedmap.lessons.scan import Line

_FIELD = re.compile(r"^(?P<name>[a-z]+)(?: +(?P<argument>\{\{.*?\}\}|[^:{]*?))? *:(?: +(?P<text>.*)|$)")
_ITEM = re.compile(r"^[-*] +(?P<text>.*)$")
_TASK = re.compile(r"^[-*] +\[(?P<mark>[ xX])\] +(?P<text>.*)$")


@dataclass(frozen=True)
class Field:
    """A named part of a block: `name: text`, `name argument: text`, and the indented or plain lines after it."""

    name: str
    argument: str
    text: str
    line: int


@dataclass(frozen=True)
class Item:
    """One item of a list; `right` is set for a task list (`[x]`), and `reason` is the text indented under it."""

    text: str
    reason: str
    right: bool | None
    line: int


def split_fields(lines: Sequence[Line], known: Collection[str]) -> tuple[list[Line], list[Field]]:
    """The lines before the first field, and the fields.

    Only a line that begins with a known name and a colon begins a field; every other line belongs to what it stands
    under.

    Args:
        lines: the content of a block.
        known: the names of its fields.

    Example:
        >>> lines = [Line("How much?", 2), Line("answer: {{root 2}}", 3), Line("wrong {{root 3}}: not three", 4)]
        >>> split_fields(lines, {"answer", "wrong"})[1][1]
        Field(name='wrong', argument='{{root 3}}', text='not three', line=4)
    """
    before: list[Line] = []
    found: list[tuple[re.Match[str], int, list[str]]] = []
    for line in lines:
        match = _FIELD.match(line.text)
        if match is not None and match["name"] in known:
            found.append((match, line.number, [match["text"] or ""]))
        elif found:
            found[-1][2].append(line.text)
        else:
            before.append(line)
    fields = [Field(match["name"], match["argument"] or "", dedent(texts), line) for match, line, texts in found]
    return before, fields


def split_items(lines: Sequence[Line], *, tasks: bool = False) -> tuple[list[Line], list[Item]]:
    """The lines before a list, and its items.

    Args:
        lines: the content of a block.
        tasks: whether each item is `- [x] text` or `- [ ] text`; what is indented below it is its reason.

    Example:
        >>> _, items = split_items([Line("- [x] cat", 2), Line("  It has the largest product.", 3)], tasks=True)
        >>> items[0].right, items[0].text, items[0].reason
        (True, 'cat', 'It has the largest product.')
    """
    pattern = _TASK if tasks else _ITEM
    before: list[Line] = []
    found: list[tuple[re.Match[str], int, list[str]]] = []
    for line in lines:
        match = pattern.match(line.text)
        if match is not None:
            found.append((match, line.number, []))
        elif found:
            found[-1][2].append(line.text)
        else:
            before.append(line)
    items = []
    for match, number, under in found:
        right = match["mark"] in "xX" if tasks else None
        text, reason = match["text"], dedent(under)
        if not tasks and reason:
            text, reason = f"{text} {' '.join(reason.split())}", ""
        items.append(Item(text, reason, right, number))
    return before, items


def joined(lines: Sequence[Line]) -> str:
    """Lines as one text without empty lines around it."""
    return "\n".join(line.text for line in lines).strip("\n").rstrip()


def dedent(texts: Sequence[str]) -> str:
    r"""Lines as one text, without the indentation they share after the first, and without empty ends.

    Example:
        >>> dedent(["No:", "  softmax gives", "  each a share."])
        'No:\nsoftmax gives\neach a share.'
    """
    rest = [text for text in texts[1:] if text.strip()]
    depth = min((len(text) - len(text.lstrip()) for text in rest), default=0)
    return "\n".join([texts[0].strip(), *(text[depth:] for text in texts[1:])]).strip() if texts else ""
