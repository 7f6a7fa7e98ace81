"""Cutting a text into parts by rule: paragraphs, sentences, turns of a talk, or what follows a marker.

The rules are simple and said here, since a share of attention means little when nobody knows what was counted:

- A paragraph ends at a blank line.
- A sentence ends at its terminator (`.`, `!`, `?`, `…` and the marks of Unicode's Sentence_Terminal property, such as
  `؟`, `।`, `።`), with closing quotes and brackets, when white space or the end follows; `。`, `！`, `？`, `｡`, `။`, `។`
  and `៕` end one whatever follows. A full stop before a small letter does not ("approx. here"), and neither does a
  line break; a blank line does.
- A turn is what is said after `Name:` at the beginning of a line, or after `<|im_start|>role` where the text holds it.
  A name has up to three words, of which the second and third do not begin with a small letter.
- With a marker, a part is from one marker to the next. What stands before the first is in no part.

White space around a part does not belong to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import regex  # type: ignore[import-untyped]

from heedmap.errors import TextError
from heedmap.text.clusters import clusters
from heedmap.text.labels import visible
from heedmap.text.ranges import NamedSpan, Range

RULES = ("paragraphs", "sentences", "turns")

_BLANK_LINE = re.compile(r"(?:\r\n|[\r\n])(?:[^\S\r\n]*(?:\r\n|[\r\n]))+|\u2029")
_SENTENCE_END = regex.compile(
    r"(?:[。．！？｡။។៕]+|[\p{Sentence_Terminal}…]+(?=[\p{Pe}\p{Pf}\p{Pi}\"']*(?:\s|$))(?!(?<=\.)\s+\p{Ll}))"
    r"[\p{Pe}\p{Pf}\p{Pi}\"']*"
)
_SPEAKER = regex.compile(
    r"^[^\S\r\n]*(?P<role>\p{L}[^\s:：]*(?: [\p{Lu}\p{Lt}\p{Lo}\p{N}][^\s:：]*){0,2})[^\S\r\n]*[:：](?!//)",
    regex.MULTILINE,
)
_CHAT_TURN = re.compile(r"<\|im_start\|>(?P<role>[^\s<]+)\s(?P<said>.*?)(?:<\|im_end\|>|\Z)", re.DOTALL)

_NAME_WORDS, _NAME_CHARACTERS = 4, 24


def split(text: str, rule: str, *, outside: Iterable[Range] = ()) -> list[NamedSpan]:
    r"""Cut a text into named spans.

    Args:
        text: the text.
        rule: "paragraphs", "sentences", "turns", or any other string: a marker that begins each part.
        outside: ranges of characters that belong to other spans: they are cut out of the parts found.

    Returns:
        The parts in the order of the text, named by their number and first words, by the line of their marker, or by
        who speaks.

    Raises:
        TextError: there is no such marker or turn, or nothing is left.

    Example:
        >>> [span.name for span in split("It rains.\n\nThe cat sat.", "paragraphs")]
        ['1 It rains.', '2 The cat sat.']
        >>> split("### Doc A\nx\n### Doc B\ny", "### Doc")[1]
        NamedSpan(name='Doc B', ranges=((12, 23),), unit='characters')
    """
    taken = sorted(outside)
    if rule == "turns":
        left = [(name, _without(text, span, taken)) for name, span in _turns(text)]
    else:
        parts = [_without(text, span, taken) for span in _by_rule(text, rule)]
        left = [(_name(text, rule, number, part), part) for number, part in enumerate(parts, start=1) if part]
    left = [(name, part) for name, part in left if part]
    if not left:
        raise TextError(
            f"splitting the text at {visible(rule)!r} leaves no part that was read, outside named spans: name less"
        )
    names = _told_apart([name for name, _ in left])
    return [NamedSpan(name, part) for name, (_, part) in zip(names, left, strict=True)]


def number_roles(roles: Sequence[str]) -> list[str]:
    """Names for turns: the role and which of its turns it is; the system's only turn has no number.

    Example:
        >>> number_roles(["system", "user", "assistant", "user"])
        ['system', 'user 1', 'assistant 1', 'user 2']
    """
    total, seen = Counter(roles), Counter[str]()
    names = []
    for role in roles:
        seen[role] += 1
        names.append(role if role == "system" and total[role] == 1 else f"{role} {seen[role]}")
    return names


def _by_rule(text: str, rule: str) -> list[Range]:
    """The range of each part, but for turns."""
    if rule not in RULES:
        return _marked(text, rule)
    paragraphs = list(_between(text, [match.span() for match in _BLANK_LINE.finditer(text)], (0, len(text))))
    if rule == "paragraphs":
        return paragraphs
    return [
        sentence
        for start, end in paragraphs
        for sentence in _between(
            text, [(match.end(), match.end()) for match in _SENTENCE_END.finditer(text, start, end)], (start, end)
        )
    ]


def _name(text: str, rule: str, number: int, part: Sequence[Range]) -> str:
    """What a part is called: its number and first words, or the line of its marker."""
    said = text[slice(*part[0])]
    if rule in RULES:
        return f"{number} {_first_words(said)}"
    title = re.sub(r"^\W+|\W+$", "", rule)
    after = said.removeprefix(rule).split("\n")[0].strip(" \t\r:#*-=")
    named = title if rule.endswith("\n") else f"{title} {after}".strip()
    return _first_words(named if title else said.removeprefix(rule)) or visible(rule.strip())


def _between(text: str, separators: Iterable[Range], within: Range) -> Iterator[Range]:
    """What stands between separators, without white space around it."""
    begin = within[0]
    for start, end in [*separators, (within[1], within[1])]:
        span = _trimmed(text, (begin, start))
        if span[0] < span[1]:
            yield span
        begin = end


def _trimmed(text: str, span: Range) -> Range:
    """A range without the white space at its ends."""
    start, end = span
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - (len(inside) - len(inside.rstrip()))


def _marked(text: str, marker: str) -> list[Range]:
    """The parts that a literal marker begins."""
    if not marker.strip():
        raise TextError("the marker to split at is empty: give paragraphs, sentences, turns, or some text to look for")
    starts = [match.start() for match in re.finditer(re.escape(marker), text)]
    if not starts:
        raise TextError(
            f"the marker {visible(marker)!r} does not stand in the text: split at paragraphs, sentences, turns, "
            "or at a string that does"
        )
    return [_trimmed(text, span) for span in zip(starts, [*starts[1:], len(text)], strict=True)]


def _turns(text: str) -> list[tuple[str, Range]]:
    """What each speaker says, in turn."""
    chat = [(match["role"], match.span("said")) for match in _CHAT_TURN.finditer(text)]
    if not chat:
        heads = list(_SPEAKER.finditer(text))
        ends = [*(match.start() for match in heads), len(text)][1:]
        chat = [(match["role"], (match.end(), end)) for match, end in zip(heads, ends, strict=True)]
    said = [(role, _trimmed(text, span)) for role, span in chat if text[slice(*span)].strip()]
    if not said:
        raise TextError(
            "the text has no turns: begin each with a name and a colon on a line of its own (User: ...), "
            "or give the messages with --chat"
        )
    return list(zip(number_roles([role for role, _ in said]), (span for _, span in said), strict=True))


def _first_words(text: str) -> str:
    """The first words, few enough for a name."""
    words = text.split()
    short = " ".join(words[:_NAME_WORDS])
    letters = clusters(short)
    if len(letters) > _NAME_CHARACTERS:
        return "".join(letters[: _NAME_CHARACTERS - 1]).rstrip() + "…"
    return short if len(words) <= _NAME_WORDS else f"{short}…"


def _told_apart(names: Sequence[str]) -> list[str]:
    """The names, with a number where several are alike."""
    total, seen = Counter(names), Counter[str]()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if total[name] == 1 else f"{name} {seen[name]}")
    return told if len(set(told)) == len(told) else [f"{number} {name}" for number, name in enumerate(names, 1)]


def _without(text: str, span: Range, taken: Sequence[Range]) -> tuple[Range, ...]:
    """A range without what lies in others, as one or more ranges."""
    inside = [(max(start, span[0]), min(end, span[1])) for start, end in taken if start < span[1] and end > span[0]]
    return tuple(_between(text, inside, span))
