"""Which part of a text each token belongs to.

Every token belongs to exactly one part, so that shares of attention add up: the first token (where the sink usually
sits), the special tokens and what lies in no span are parts of their own. A token through which the end of a span
cuts belongs to the part that holds most of its characters, white space left aside; if two hold equally many, to the
one that holds its first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from heedmap.errors import OutOfRange, TextError
from heedmap.text.labels import visible
from heedmap.text.ranges import NamedSpan, SpansGiven, Unit, named_spans
from heedmap.text.tokens import Token, Tokens

Kind = Literal["first", "span", "special", "rest"]

SET_APART: tuple[Kind, ...] = ("first", "special")
"""Where attention rests whatever the text says: what these leave is shared out among the other parts."""

FIRST, SPECIAL, REST = "first token", "special tokens", "rest"

_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a text with the tokens that count in it.

    Attributes:
        name: the span's name, or what the part is called ("rest" ...).
        kind: "first", "span", "special" or "rest".
        tokens: positions of the tokens that count in it, ascending.
        apart: positions of tokens inside it that count elsewhere: the first token and special ones.
        span: where it came from; `None` for the parts that nobody named.
    """

    name: str
    kind: Kind
    tokens: tuple[int, ...]
    apart: tuple[int, ...] = ()
    span: NamedSpan | None = None


@dataclass(frozen=True, slots=True)
class CutToken:
    """A token through which the end of a span cuts: it belongs to `part`, and `others` hold characters of it too."""

    token: int
    part: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """A text cut into parts so that every token is in exactly one: first token, spans, special tokens, rest.

    The special tokens and the rest are there only when they have tokens.

    Attributes:
        tokens: the tokens.
        parts: the parts, spans in the order given.
        cut: the tokens that the ends of spans cut through.
    """

    tokens: Tokens
    parts: tuple[Part, ...]
    cut: tuple[CutToken, ...] = ()

    @cached_property
    def owner(self) -> npt.NDArray[np.int64]:
        """[token] the number of the part that each token belongs to."""
        owner = np.full(len(self.tokens), _NOWHERE)
        for number, part in enumerate(self.parts):
            owner[list(part.tokens)] = number
        return owner


def partition(
    tokens: Tokens,
    given: SpansGiven | None,
    *,
    found: Sequence[NamedSpan] = (),
    first: int | None = 0,
    rest: str = REST,
) -> Parts:
    """Cut a text into its named spans, the first token, the special tokens and the rest.

    Args:
        tokens: the tokens that ran.
        given: the spans that somebody named; None for none.
        found: further spans, that a rule found: those without a token that counts are left out.
        first: the first token that is not padding, kept apart from the span that holds it; None keeps none apart.
        rest: what to call the tokens that lie in no span.

    Raises:
        TextError: spans that overlap (both are named), that are empty, or whose tokens all count elsewhere; or no span.
        OutOfRange: a span reaches outside the text.

    Example:
        >>> tokens = Tokens("The cat sat", tuple(
        ...     Token(n, n, text, start, start + len(text)) for n, (text, start) in
        ...     enumerate([("The", 0), (" cat", 3), (" sat", 7)])))
        >>> [(part.name, part.tokens) for part in partition(tokens, {"animal": (0, 7)}).parts]
        [('first token', (0,)), ('animal', (1,)), ('rest', (2,))]
    """
    named = [] if given is None else named_spans(given, tokens)
    spans = named_spans([*named, *found], tokens)
    for span in spans:
        _check_ranges(span, tokens)
    holder, cut = _holders(tokens, spans)
    apart = {token.index for token in tokens if token.special} | (set() if first is None else {first})
    counted = [_NOWHERE if index in apart else owner for index, owner in enumerate(holder)]
    members = _by_span(enumerate(counted), len(spans))
    inside = _by_span(((index, holder[index]) for index in sorted(apart)), len(spans))
    for number, span in enumerate(named):
        if not members[number]:
            raise TextError(_why_empty(span, inside[number], tokens))
    if not any(members):
        raise TextError("no part holds a token besides the first and special ones: give a longer text")
    parts = [] if first is None else [Part(FIRST, "first", (first,))]
    for span, held, kept_apart in zip(spans, members, inside, strict=True):
        if held:
            parts.append(Part(span.name, "span", held, kept_apart, span))
    special = tuple(token.index for token in tokens if token.special and token.index != first)
    if special:
        parts.append(Part(SPECIAL, "special", special))
    others = tuple(index for index, owner in enumerate(counted) if owner == _NOWHERE and index not in apart)
    if others:
        parts.append(Part(rest, "rest", others))
    names = {_NOWHERE: rest, **{number: visible(span.name) for number, span in enumerate(spans)}}
    said = [
        CutToken(index, names[holder[index]], tuple(names[other] for other in sharing))
        for index, sharing in cut
        if index not in apart
    ]
    return Parts(tokens, tuple(parts), tuple(said))


def _by_span(owners: Iterable[tuple[int, int]], spans: int) -> list[tuple[int, ...]]:
    """The tokens of each span, from pairs of a token and the span that owns it."""
    members: list[list[int]] = [[] for _ in range(spans)]
    for index, owner in owners:
        if owner != _NOWHERE:
            members[owner].append(index)
    return [tuple(one) for one in members]


def tokens_in(tokens: Tokens, span: NamedSpan) -> tuple[int, ...]:
    """The tokens that belong to one span, special ones and the first included.

    Raises:
        TextError: it is empty, or holds no token.
        OutOfRange: it reaches outside the text.

    Example:
        >>> tokens = Tokens("The cat", (Token(0, 11, "The", 0, 3), Token(1, 12, " cat", 3, 7)))
        >>> tokens_in(tokens, NamedSpan("animal", ((4, 7),)))
        (1,)
    """
    _check_ranges(span, tokens)
    holders, _ = _holders(tokens, [span])
    inside = tuple(index for index, holder in enumerate(holders) if holder != _NOWHERE)
    if not inside:
        raise TextError(_why_empty(span, (), tokens))
    return inside


def _check_ranges(span: NamedSpan, tokens: Tokens) -> None:
    """Refuse ranges that are empty or reach outside."""
    size = len(tokens) if span.unit == "tokens" else len(tokens.text)
    for start, end in span.ranges:
        if start >= end:
            raise TextError(f"span {span} is empty: the end is not counted in, so give start:end with start before end")
        if start < 0 or end > size:
            raise OutOfRange(f"span {span} reaches outside the text, which has {size} {span.unit}, 0:{size}")


def _holders(tokens: Tokens, spans: Sequence[NamedSpan]) -> tuple[list[int], list[tuple[int, list[int]]]]:
    """The span that each token belongs to, and which tokens are cut, with the other spans that hold a part of them."""
    characters = _claim(spans, "characters", len(tokens.text))
    claimed = _claim(spans, "tokens", len(tokens))
    holders: list[int] = []
    cut: list[tuple[int, list[int]]] = []
    for token in tokens:
        held = _held_characters(token, tokens.text, characters)
        owner = max(held, key=lambda one: held[one]) if held else _NOWHERE
        chosen = int(claimed[token.index])
        if chosen != _NOWHERE:
            if owner != _NOWHERE:
                raise TextError(_overlap(spans[owner], spans[chosen], f"token {token.index} ({token.label})"))
            owner, held = chosen, Counter()
        if len(held) > 1:
            cut.append((token.index, [other for other in held if other != owner]))
        holders.append(owner)
    return holders, cut


def _claim(spans: Sequence[NamedSpan], unit: Unit, size: int) -> npt.NDArray[np.int64]:
    """The span that holds each character or token; spans that overlap are refused."""
    claimed = np.full(size, _NOWHERE)
    for number, span in enumerate(spans):
        if span.unit != unit:
            continue
        for start, end in span.ranges:
            taken = np.flatnonzero(claimed[start:end] != _NOWHERE)
            if len(taken):
                place = start + int(taken[0])
                stop = start + int(taken[-1]) + 1
                other = spans[int(claimed[place])]
                raise TextError(_overlap(other, span, f"{unit} {place}:{stop}"))
            claimed[start:end] = number
    return claimed


def _held_characters(token: Token, text: str, characters: npt.NDArray[np.int64]) -> Counter[int]:
    """How many of a token's characters each span holds, in the order they come."""
    if token.start is None or token.end is None or not len(characters):
        return Counter()
    places = range(token.start, token.end) or range(min(token.start, len(characters) - 1), token.start + 1)
    shown = [place for place in places if place < len(characters) and not text[place].isspace()]
    return Counter(int(characters[place]) for place in shown or places)


def _overlap(one: NamedSpan, other: NamedSpan, where: str) -> str:
    return (
        f"spans {one} and {other} overlap in {where}: a token counts in one part only, "
        "so end the one before the other begins"
    )


def _why_empty(span: NamedSpan, inside: Sequence[int], tokens: Tokens) -> str:
    """Why a span holds no token that counts."""
    if inside:
        labels = " ".join(tokens[index].label for index in inside)
        return (
            f"span {span} holds only {labels}: the first token and special tokens are kept apart, so name a longer part"
        )
    if tokens.cut_off:
        return f"span {span} was not read: the last {tokens.cut_off} tokens were cut off to fit the model's positions"
    return (
        f"span {span} holds no token: what it holds is white space, or the smaller part of a token; name a longer one"
    )
