"""Ranges of a text as a person writes them, with a name: characters by default, tokens with `tok:` before them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from heedmap.errors import TextError
from heedmap.text.labels import visible

if TYPE_CHECKING:
    from heedmap.text.tokens import Tokens

Range: TypeAlias = tuple[int, int]
Unit = Literal["characters", "tokens"]

_RANGE = re.compile(r"(?P<unit>tok:)?(?P<start>\d{0,18}):(?P<end>\d{0,18})")


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """A named part of a text, before it is known which tokens it holds.

    Attributes:
        name: what to call it.
        ranges: half-open ranges of the source text's characters or of tokens; mostly one.
        unit: what the ranges count; "tokens" count special tokens too, as `@0`, `@1` ... do.
    """

    name: str
    ranges: tuple[Range, ...]
    unit: Unit = "characters"

    def __str__(self) -> str:
        prefix = "tok:" if self.unit == "tokens" else ""
        return f"'{visible(self.name)}' ({', '.join(f'{prefix}{start}:{end}' for start, end in self.ranges)})"


SpansGiven: TypeAlias = Mapping[str, str | Range] | Iterable[NamedSpan]
"""Spans as a caller may write them: {"doc": "tok:0:200", "task": (0, 812)}, or `NamedSpan`s."""


def parse_range(text: str, size_characters: int, size_tokens: int) -> tuple[Range, Unit] | None:
    """A range as a person writes it; `None` when it is not one.

    Args:
        text: "0:812" for characters, "tok:0:200" for tokens; a missing end means the text's own.
        size_characters: how many characters there are.
        size_tokens: how many tokens there are.

    Example:
        >>> parse_range("tok:3:", 812, 200), parse_range("it", 812, 200)
        (((3, 200), 'tokens'), None)
    """
    found = _RANGE.fullmatch(text)
    if found is None or text in (":", "tok:"):
        return None
    unit: Unit = "tokens" if found["unit"] else "characters"
    size = size_tokens if found["unit"] else size_characters
    return (int(found["start"] or 0), int(found["end"] or size)), unit


def named_spans(given: SpansGiven, tokens: Tokens) -> list[NamedSpan]:
    """Spans as a caller wrote them, as `NamedSpan`s.

    Raises:
        TextError: no span, two of one name, or something that is not a range.

    Example:
        >>> from heedmap.text.tokens import Token, Tokens
        >>> tokens = Tokens("The cat", (Token(0, 11, "The", 0, 3), Token(1, 12, " cat", 3, 7)))
        >>> named_spans({"animal": "4:7"}, tokens)
        [NamedSpan(name='animal', ranges=((4, 7),), unit='characters')]
    """
    if isinstance(given, Mapping):
        spans = [_named_span(name, where, tokens) for name, where in given.items()]
    else:
        spans = list(given)
    if not spans:
        raise TextError("no span was given: name at least one part, such as instructions=0:812 or doc1=tok:0:200")
    twice = [name for name, count in Counter(span.name for span in spans).items() if count > 1]
    if twice:
        raise TextError(f"two spans are called '{visible(twice[0])}': give each a name of its own")
    return spans


def _named_span(name: str, where: str | Range, tokens: Tokens) -> NamedSpan:
    if isinstance(where, str):
        found = parse_range(where, len(tokens.text), len(tokens))
        if found is None:
            raise TextError(
                f"span '{visible(name)}' is not a range: {visible(where)!r}; write start:end in characters, such as "
                "0:812, or tok:start:end in tokens"
            )
        return NamedSpan(name, (found[0],), found[1])
    start, end = where
    return NamedSpan(name, ((int(start), int(end)),))
