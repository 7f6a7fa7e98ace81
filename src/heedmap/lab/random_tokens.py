"""Sequences of random tokens: once through, and the same number of tokens said twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import OutOfRange, TextTooLong
from heedmap.reading.layers import position_limit
from heedmap.text.from_ids import from_ids
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model


@dataclass(frozen=True, slots=True)
class RandomTokens:
    """One sequence, with what the tokenizer puts around a text.

    Attributes:
        repeated: some different tokens, and the same again.
        unrepeated: as many tokens, all different; the first half is that of `repeated`.
        start: where the random tokens begin.
        length: how many there are before they repeat.
    """

    repeated: Tokens
    unrepeated: Tokens
    start: int
    length: int

    @property
    def second(self) -> slice:
        """The places of the second half."""
        return slice(self.start + self.length, self.start + 2 * self.length)


def random_tokens(model: Model, length: int, number: int, *, special_tokens: bool | None = None) -> RandomTokens:
    """Draw a sequence for a model's vocabulary, without special and added tokens.

    Args:
        model: whose vocabulary it is.
        length: how many tokens before they repeat.
        number: which sequence; the same number gives the same sequence for the same vocabulary.
        special_tokens: whether begin-of-text and the like are put around; None is the tokenizer's own way.

    Raises:
        OutOfRange: the vocabulary is too small for so many different tokens.
        TextTooLong: the model has fewer positions.

    Example:
        >>> import heedmap
        >>> drawn = random_tokens(heedmap.load("smollm2"), 5, 0)
        >>> ids = drawn.repeated.ids
        >>> ids[:5] == ids[5:], len(set(drawn.unrepeated.ids)), drawn.second
        (True, 10, slice(5, 10, None))
    """
    known = ordinary_ids(model)
    if len(known) < 2 * length:
        raise OutOfRange(
            f"{model.name} has {len(known)} ordinary tokens, too few for {2 * length} different ones: "
            "give less --length"
        )
    drawn = np.random.default_rng([number, length]).choice(known, 2 * length, replace=False).tolist()
    before, after = _around(model, special_tokens)
    limit = position_limit(model.module)
    if limit is not None and len(before) + 2 * length + len(after) > limit:
        raise TextTooLong(f"two times {length} random tokens are more than the model's {limit} positions: take fewer")
    first = drawn[:length]
    repeated, unrepeated = (from_ids(model.tokenizer, [*before, *ids, *after]) for ids in ([*first, *first], drawn))
    return RandomTokens(repeated, unrepeated, len(before), length)


def ordinary_ids(model: Model) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The ids of a vocabulary that stand for pieces of text, in order."""
    tokenizer: Any = model.tokenizer
    left_out = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    rows = model.module.get_input_embeddings().weight.shape[0]
    size = min(len(tokenizer), rows)
    return np.array([number for number in range(size) if number not in left_out], dtype=np.int64)


def _around(model: Model, special_tokens: bool | None) -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before and after a text."""
    tokens = list(model.tokenize("a", special_tokens=special_tokens))
    places = [token.index for token in tokens if not token.special]
    return [token.id for token in tokens[: places[0]]], [token.id for token in tokens[places[-1] + 1 :]]
