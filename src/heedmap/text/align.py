r"""Places of tokens by counting bytes, for tokenizers that spell a text byte for byte.

Nothing needs to be believed then: a byte-level tokenizer's tokens are the text's bytes in their order, save those it
has no token for, which it leaves out without a word. (The places that come from the tokenizer itself are wrong
beside such bytes: in "\x04@", with no token for the first byte, "@" is said to stand at 0.)
"""

from __future__ import annotations

from collections.abc import Sequence

from heedmap.text.labels import Span


def align(text: str, spelled: Sequence[bytes], dropped: frozenset[int] = frozenset()) -> list[Span] | None:
    r"""The characters that each token has a byte of, or `None` if the tokens do not spell the text from its beginning.

    Args:
        text: the source text; lone surrogates stand for bytes that are not text (PEP 383).
        spelled: the bytes each token spells; a space that the tokenizer put before a word may be among them.
        dropped: bytes that the tokenizer has no token for.

    >>> align("\x04@é", [b"@", b"\xc3", b"\xa9"], frozenset([4]))
    [(1, 2), (2, 3), (2, 3)]
    """
    source = text.encode(errors="surrogateescape")
    ranges: list[Span] = []
    position = 0
    for piece in spelled:
        found = _match(source, position, piece, dropped)
        if found is None and piece.startswith(b" "):
            found = _match(source, position, piece[1:], dropped)
        if found is None:
            return None
        ranges.append(found)
        position = found[1]
    return _characters(text, ranges)


def _match(source: bytes, position: int, piece: bytes, dropped: frozenset[int]) -> Span | None:
    """Where the bytes of a token stand, from a position on, with nothing but dropped bytes before or between them."""
    if source.startswith(piece, position):
        return position, position + len(piece)
    start: int | None = None
    for byte in piece:
        while position < len(source) and source[position] != byte and source[position] in dropped:
            position += 1
        if position == len(source) or source[position] != byte:
            return None
        start = position if start is None else start
        position += 1
    return (position if start is None else start), position


def _characters(text: str, ranges: Sequence[Span]) -> list[Span]:
    """The characters that ranges of bytes belong to; empty ones stay empty."""
    owner = [i for i, character in enumerate(text) for _ in character.encode(errors="surrogateescape")]
    owner.append(len(text))
    return [(owner[start], owner[end - 1] + 1 if end > start else owner[start]) for start, end in ranges]
