"""From a text to the tokens a model will see, each with its place in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heedmap.errors import EmptyText, TextError, TextTooLong
from heedmap.text.align import align
from heedmap.text.from_ids import from_ids as from_ids
from heedmap.text.labels import START_MARK, Span, label_tokens, visible
from heedmap.text.offsets import check_offsets
from heedmap.text.pieces import Pieces
from heedmap.text.tokens import Token, Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


_PER_POSITION, _ANY_LENGTH, _POSITIONS = 64, 1_000_000, 250_000
"""A text of more characters than so many for each position of the model (so many positions where it has no limit), and
longer than so many, is refused unread: of plain text a token holds four or five, and a tokenizer takes minutes for what
a model has no room for. What may be cut is bounded as if the model had no limit."""


def tokenize(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    *,
    special_tokens: bool | None = None,
    limit: int | None = None,
    truncate: bool = False,
) -> Tokens:
    """Cut a text into the tokens a model will see, each with its place in the text.

    Args:
        tokenizer: a fast tokenizer of transformers.
        text: the text, as the person wrote it.
        special_tokens: whether to add special tokens: `None` as the tokenizer does by itself, `False` none, `True`
            what it does by itself or, where that is nothing, its begin-of-text token.
        limit: how many tokens the model has positions for, `None` for no limit.
        truncate: whether to leave out what does not fit, at the end where the tokenizer cuts, rather than raise.

    Returns:
        The tokens. Markers typed in the text that the tokenizer reads as special tokens are special, with a place.

    Raises:
        EmptyText: the text is empty, or the tokenizer makes nothing of it.
        TextTooLong: more tokens than `limit`, and not `truncate`; or many times more characters than could fit.
        TextError: not a text, or not valid Unicode, or the tokenizer gives wrong places.
        TokenizerMissing: no tokenizer, or one that gives no places.

    Example, with the tokenizer of SmolLM2:
        `tokenize(tokenizer, "naïve café").labels` is `['na', 'ïve', 'café']`.
    """
    pieces = Pieces(tokenizer)
    _check_text(text)
    _check_length(text, None if truncate else limit)
    add = special_tokens is not False
    ids, places = _encode(tokenizer, text, add)
    begin = _begin_of_text(tokenizer, ids, places) if special_tokens else []
    count = len(begin) + len(ids)
    if limit is not None and count > limit:
        if not truncate:
            raise TextTooLong(
                f"the text is {count} tokens long and the model has {limit} positions: shorten it by "
                f"{count - limit} tokens, or keep what fits with --truncate (truncate=True)"
            )
        ids, places = _encode(tokenizer, text, add, limit=limit - len(begin))
    if all(place is None for place in places):
        raise EmptyText(f"the tokenizer makes no token of {visible(text[:40])!r}: give a text with words to read")
    tokens = _make_tokens(tokenizer, pieces, text, begin + ids, [None] * len(begin) + places)
    return Tokens(text, tuple(tokens), cut_off=count - len(tokens))


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TextError(
            f"one text (a str) was expected, not {type(text).__name__}: read several with model.read_batch(texts)"
        )
    if not text:
        raise EmptyText("the text is empty: give at least one word")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"character {error.start} of the text is half of a surrogate pair (U+{ord(text[error.start]):04X}), "
            "which no tokenizer can read: decode the file as UTF-8, with errors='replace' if it is damaged"
        ) from None


def _check_length(text: str, limit: int | None) -> None:
    """Refuse what is too long by far, before minutes go into its tokens."""
    most = max(_ANY_LENGTH, _PER_POSITION * (_POSITIONS if limit is None else limit))
    if len(text) > most:
        positions = "" if limit is None else f", and the model has {limit:,} positions"
        raise TextTooLong(f"the text has {len(text):,} characters{positions}: give a part of it, {most:,} at most")


def _encode(
    tokenizer: Any, text: str, add_special_tokens: bool, limit: int | None = None
) -> tuple[list[int], list[Span | None]]:
    """The numbers a tokenizer makes of a text, and their places, `None` for those it adds.

    Raises:
        TextError: it fails, as it may with a damaged tokenizer_config.json.
    """
    try:
        encoded = tokenizer(
            text,
            add_special_tokens=add_special_tokens,
            truncation=limit is not None,
            max_length=limit,
            padding=False,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            verbose=False,
        )
    except Exception as error:  # damaged settings fail in as many ways as there are
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise TextError(f"the tokenizer cannot cut the text ({reason}): load the model's own fast tokenizer") from error
    places = zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
    return list(encoded["input_ids"]), [None if added else (start, end) for (start, end), added in places]


def _begin_of_text(tokenizer: Any, ids: Sequence[int], places: Sequence[Span | None]) -> list[int]:
    """The begin-of-text token where special tokens are wanted and the tokenizer adds none by itself."""
    if None in places:
        return []
    begin: int | None = tokenizer.bos_token_id
    if begin is None:
        raise TextError(
            "special tokens were asked for, but the tokenizer adds none and has no begin-of-text token: "
            "leave --special-tokens (special_tokens=True) out"
        )
    return [] if ids and ids[0] == begin else [begin]


def _make_tokens(
    tokenizer: Any, pieces: Pieces, text: str, ids: Sequence[int], places: Sequence[Span | None]
) -> list[Token]:
    unknown = [
        place is not None and number == pieces.unknown_id and pieces.unknown_name not in text[slice(*place)]
        for number, place in zip(ids, places, strict=True)
    ]
    special = [number in pieces.special and not missed for number, missed in zip(ids, unknown, strict=True)]
    spelled = [None if missed else piece for piece, missed in zip(pieces.spell(ids), unknown, strict=True)]
    places = _count_bytes(pieces, text, spelled, places) or places
    plain = {i: place for i, place in enumerate(places) if place is not None and not special[i]}
    normalizer = tokenizer.backend_tokenizer.normalizer
    check_offsets(
        text,
        list(plain.values()),
        [spelled[i] for i in plain],
        normalizer.normalize_str if normalizer is not None else None,
    )
    plain |= _start_marks(text, plain, spelled)
    shown = {i: place for i, place in plain.items() if place[0] < place[1]}
    labels = dict(zip(shown, label_tokens(text, list(shown.values())), strict=True))
    tokens = []
    for i, (number, place) in enumerate(zip(ids, places, strict=True)):
        if special[i]:
            name = pieces.special[number]
            start, end = _typed_place(text, place, name) if place is not None else (None, None)
            tokens.append(Token(i, number, name, start, end, special=True, label=pieces.label_special(number)))
            continue
        start, end = plain[i]
        label = labels.get(i, START_MARK)
        if unknown[i]:
            label = f"{label} {pieces.unknown_name}"
        tokens.append(Token(i, number, text[start:end], start, end, unknown=unknown[i], label=label))
    return tokens


def _count_bytes(
    pieces: Pieces, text: str, spelled: Sequence[bytes | None], places: Sequence[Span | None]
) -> list[Span | None] | None:
    """The places by counting bytes, where the tokenizer spells a text byte for byte."""
    if pieces.dropped_bytes is None:
        return None
    standing = [i for i, place in enumerate(places) if place is not None]
    counted = align(text, [spelled[i] or b"" for i in standing], pieces.dropped_bytes)
    if counted is None:
        return None
    exact = dict(zip(standing, counted, strict=True))
    return [exact.get(i) for i in range(len(places))]


def _start_marks(text: str, plain: dict[int, Span], spelled: Sequence[bytes | None]) -> dict[int, Span]:
    """Empty places for tokens that spell only white space, but are given the first character of the next token.

    SentencePiece puts a mark before the first word. Alone, it is said to stand at a character it has no part in.
    """
    marks = {}
    following = list(plain)[1:]
    for i, after in zip(plain, following, strict=False):
        (start, end), piece = plain[i], spelled[i]
        if piece is None or piece.strip() or text[start:end].isspace():
            continue
        if plain[after][0] < end or start == end:
            marks[i] = (start, start)
    return marks


def _typed_place(text: str, place: Span, name: str) -> Span:
    """Where a typed marker stands, without the white space that some tokenizers count with it."""
    start, end = place
    inside = text.find(name, start, end)
    return (inside, inside + len(name)) if inside >= 0 else place
