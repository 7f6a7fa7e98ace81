"""Whether the places a tokenizer gives for its tokens can be believed.

Tokenizers that normalise text have been known to count characters of the normalised text instead (after "ï" every
token is off by one). A label cut at such places names the wrong word, so places are held against what each token
spells before they are used.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from heedmap.errors import TextError
from heedmap.text.labels import Span, visible

# How far from its stated place a token's text is looked for.
_REACH = 8


def check_offsets(
    text: str,
    spans: Sequence[Span],
    spelled: Sequence[bytes | None],
    normalize: Callable[[str], str] | None = None,
) -> None:
    """Raise unless tokens stand where they are said to stand.

    Args:
        text: the source text.
        spans: the stated half-open character range of each token, in order.
        spelled: the bytes each token spells, `None` where nothing can be said (unknown tokens).
        normalize: the tokenizer's own normaliser, if it has one.

    Raises:
        TextError: places outside the text or out of order, two tokens or more that are found a few characters
            away from their place, or more than half of the tokens elsewhere than stated.

    >>> check_offsets("naïve cat", [(0, 5), (6, 9)], [b"naive", b"cat"])
    >>> check_offsets("naïve big cat", [(0, 5), (7, 10), (11, 13)], [b"naive", b"big", b"cat"])
    Traceback (most recent call last):
    ...
    heedmap.errors.TextError: the tokenizer misplaces tokens: 'big' is said to stand at characters 7 to 10 ...
    """
    for start, end in spans:
        if not 0 <= start <= end <= len(text):
            raise TextError(
                f"the tokenizer places a token at characters {start} to {end} of a text of {len(text)}: "
                "its offsets cannot be used; load the model's own fast tokenizer"
            )
    for (before, _), (after, _) in pairwise(spans):
        if after < before:
            raise TextError(
                f"the tokenizer places a token at character {after} after one at {before}: its offsets are out of "
                "order and cannot be used; load the model's own fast tokenizer"
            )
    misplaced = list(_misplaced(text, spans, spelled, normalize))
    drifted = [(number, moved) for number, moved in misplaced if moved is not None]
    comparable = sum(piece is not None and _fold(piece) not in (None, "") for piece in spelled)
    if len(drifted) >= 2 or 2 * len(misplaced) > comparable:
        raise TextError(_explain(text, spans, spelled, *(drifted or misplaced)[0]))


def _explain(text: str, spans: Sequence[Span], spelled: Sequence[bytes | None], number: int, moved: int | None) -> str:
    start, end = spans[number]
    piece = visible((spelled[number] or b"").decode(errors="replace"))
    found = f", but stands at {start + moved} to {end + moved}" if moved is not None else ""
    return (
        f"the tokenizer misplaces tokens: {piece!r} is said to stand at characters {start} to {end} "
        f"({visible(text[start:end])!r}){found}; words would get their neighbours' weights, so it is not used: "
        "load the model's own fast tokenizer, or update the tokenizers package"
    )


def _misplaced(
    text: str,
    spans: Sequence[Span],
    spelled: Sequence[bytes | None],
    normalize: Callable[[str], str] | None,
) -> Iterator[tuple[int, int | None]]:
    """The tokens that do not spell their place, each with how far away it is found, if it is near."""
    for number, ((start, end), piece) in enumerate(zip(spans, spelled, strict=True)):
        if piece is None or piece == text[start:end].encode():
            continue
        expected = _fold(piece)
        if not expected:
            continue
        stated = [text[start:end]]
        if normalize is not None:
            stated.append(normalize(text[start:end]))
        folded = [_fold_text(slice_) for slice_ in stated]
        shared = any(
            0 <= other < len(spans) and spans[other][0] < end and start < spans[other][1]
            for other in (number - 1, number + 1)
        )
        if expected in folded or (shared and any(expected in slice_ or slice_ in expected for slice_ in folded)):
            continue
        shifts = (shift for size in range(1, _REACH + 1) for shift in (size, -size) if start + shift >= 0)
        yield (
            number,
            next((s for s in shifts if _fold_text(text[start + s : end + s]) == expected), None),
        )


def _fold(piece: bytes) -> str | None:
    """What a token spells, ready to compare; `None` for part of a character."""
    try:
        return _fold_text(piece.decode())
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=1 << 16)
def _fold_text(text: str) -> str:
    """A text without what normalisers commonly change: case, accents, compatibility forms, white space, controls.

    SentencePiece's mark is white space to it also where somebody typed it.
    """
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in decomposed if unicodedata.category(c)[0] not in "MCZ" and c != "▁" and not c.isspace())
