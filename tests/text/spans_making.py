"""Tokens made by hand: words with the space before them, as byte-level tokenizers make them."""

from __future__ import annotations

import re

from heedmap.text.tokens import Token, Tokens


def tokens_of(text: str, pattern: str = r" ?\S+|\s+", special: tuple[str, ...] = ()) -> Tokens:
    """A text cut by a pattern; pieces named in `special` are special tokens that were typed."""
    made = [
        Token(index, index, match[0].strip() if match[0].strip() in special else match[0], *match.span(),
              special=match[0].strip() in special)
        for index, match in enumerate(re.finditer(pattern, text))
    ]  # fmt: skip
    return Tokens(text, tuple(made))


def framed(text: str) -> Tokens:
    """The words of a text between two special tokens that were added, as BERT has them."""
    words = tokens_of(text, r"\S+")
    inner = [Token(token.index + 1, token.id, token.text, token.start, token.end) for token in words]
    begin, end = Token(0, 101, "[CLS]", None, None, True), Token(len(inner) + 1, 102, "[SEP]", None, None, True)
    return Tokens(text, (begin, *inner, end))
