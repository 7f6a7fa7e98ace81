"""From token numbers alone to tokens and the text they spell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedmap.errors import EmptyText, TextError
from heedmap.text.align import align
from heedmap.text.labels import REPLACEMENT, START_MARK, label_tokens
from heedmap.text.pieces import Pieces
from heedmap.text.tokens import Token, Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


def from_ids(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> Tokens:
    """Tokens of which only the numbers are known: random ones, or ones that a model generated.

    The text is what the numbers spell, special tokens by their names. Bytes that are not text are one replacement
    character each in the text and named in the label; everything else has its exact place.

    Args:
        tokenizer: a fast tokenizer of transformers.
        ids: numbers in its vocabulary; numbers beyond it, which padded models have, spell nothing.

    Raises:
        EmptyText: no numbers.
        TextError: a negative number.
        TokenizerMissing: no tokenizer, or one whose spelling is not known.

    Example, with the tokenizer of SmolLM2:
        `from_ids(tokenizer, [504, 2644]).text` is `'The cat'`.
    """
    pieces = Pieces(tokenizer)
    ids = [int(number) for number in ids]
    if not ids:
        raise EmptyText("no token numbers were given: give at least one")
    if min(ids) < 0:
        raise TextError(f"token numbers count from 0, and {min(ids)} was given")
    known = pieces.spell(ids)
    spelled = [piece or b"" for piece in known]
    if pieces.adds_first_space:
        spelled[0] = spelled[0].removeprefix(b" ")
    # Bytes that are not text stay apart as lone surrogates (PEP 383), one character a byte.
    text = b"".join(spelled).decode(errors="surrogateescape")
    spans = align(text, spelled)
    assert spans is not None, "the text was made of these bytes"
    shown = [i for i, (start, end) in enumerate(spans) if start < end and ids[i] not in pieces.special]
    labels = dict(zip(shown, label_tokens(text, [spans[i] for i in shown]), strict=True))
    text = _ESCAPED_BYTE.sub(REPLACEMENT, text)
    tokens = []
    for i, (number, (start, end)) in enumerate(zip(ids, spans, strict=True)):
        if name := pieces.special.get(number):
            start = max(end - len(name), start)  # WordPiece counts the space before it
            token = Token(i, number, name, start, end, special=True, label=pieces.label_special(number))
        else:
            nothing = f"⟨id {number}⟩" if known[i] is None else START_MARK
            token = Token(i, number, text[start:end], start, end, label=labels.get(i, nothing))
        tokens.append(token)
    return Tokens(text, tuple(tokens))
