"""Who looks: the last token, every token, a word, or a range, as a caller may write it."""

from __future__ import annotations

from dataclasses import dataclass

from heedmap.text.labels import visible
from heedmap.text.ranges import NamedSpan, parse_range
from heedmap.text.spans import tokens_in
from heedmap.text.tokens import Tokens

LAST, ALL = "last", "all"


@dataclass(frozen=True, slots=True)
class Asking:
    """The tokens that look.

    Attributes:
        name: how to say it in a sentence after "from": "its last token", "“it”", "characters 0:80" ...
        tokens: their positions, ascending.
    """

    name: str
    tokens: tuple[int, ...]


def asking(tokens: Tokens, of: str) -> Asking:
    """The tokens that are meant.

    Args:
        tokens: all tokens.
        of: "last", "all", a range ("0:80" in characters, "tok:3:9" in tokens), or a word as `Tokens.find` takes it;
            `last#1` is the word "last".

    Raises:
        WordNotFound, AmbiguousWord, OutOfRange: the word or range is not there.
        TextError: the range holds no token.

    Example:
        >>> from heedmap.text.tokens import Token
        >>> tokens = Tokens("The cat", (Token(0, 11, "The", 0, 3), Token(1, 12, " cat", 3, 7)))
        >>> asking(tokens, "last"), asking(tokens, "tok:0:2").tokens
        (Asking(name='its last token', tokens=(1,)), (0, 1))
    """
    if of == LAST:
        return Asking("its last token", (len(tokens) - 1,))
    if of == ALL:
        return Asking("all its tokens", tuple(range(len(tokens))))
    found = parse_range(of, len(tokens.text), len(tokens))
    if found is not None:
        span, unit = found
        return Asking(f"{unit} {span[0]}:{span[1]}", tokens_in(tokens, NamedSpan(of, (span,), unit)))
    word = tokens.find(of)
    return Asking(f"“{visible(word.name)}”", word.tokens)
