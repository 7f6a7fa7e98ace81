"""One word's attention: which share of its look each token gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

SCHEMA = "heedmap/row/1"


@dataclass(frozen=True, slots=True)
class Row:
    """Where one word looks, in one layer, in one head or in the mean over heads.

    Attributes:
        tokens: the tokens that ran.
        word: the word as it stands in the text.
        query: indices of the word's tokens.
        query_rule: how the rows of several tokens became one: "mean" or "last".
        layer: the layer, from 0.
        head: the head, from 0; None is the mean over heads.
        weights: [key], shares between 0 and 1; 0 where forbidden.
        allowed: [key], False where the word cannot look: later tokens, outside the window, padding.
        sink: the share that a learned sink took; 0 for models without one.
        heads: number of query heads in the layer.
        key_value_heads: number of key-value heads in the layer.
        model: what the numbers were measured on.
        scores: [key], the scores before softmax where they were asked for; -inf where forbidden.
        keys: the tokens that are looked at, where they are others than `tokens` (cross-attention); else None.
    """

    tokens: Tokens
    word: str
    query: tuple[int, ...]
    query_rule: str
    layer: int
    head: int | None
    weights: Floats
    allowed: Bools
    sink: float
    heads: int
    key_value_heads: int
    model: dict[str, Any]
    scores: Floats | None = None
    keys: Tokens | None = None

    @property
    def key_tokens(self) -> Tokens:
        """The tokens that are looked at."""
        return self.tokens if self.keys is None else self.keys

    @property
    def sum(self) -> float:
        """The sum of the weights: 1 but for the share of a learned sink."""
        return float(self.weights.sum())

    @property
    def first(self) -> int | None:
        """Index of the first token that the word may look at; None when it may look at nothing."""
        reachable = np.flatnonzero(self.allowed)
        return int(reachable[0]) if len(reachable) else None

    @property
    def ordinary(self) -> float | None:
        """An ordinary share: what the first token leaves, divided equally among the others. None without others."""
        others = int(self.allowed.sum()) - 1
        if self.first is None or others < 1:
            return None
        return (self.sum - float(self.weights[self.first])) / others

    @property
    def key_value_head(self) -> int | None:
        """The key-value head that this head reads; None for the mean over heads."""
        return None if self.head is None else self.head // (self.heads // self.key_value_heads)

    @property
    def sharing_heads(self) -> list[int]:
        """The other heads that read the same key-value head."""
        if self.head is None or self.key_value_head is None:
            return []
        group = self.heads // self.key_value_heads
        start = self.key_value_head * group
        return [head for head in range(start, start + group) if head != self.head]

    def largest(self, count: int = 3) -> list[int]:
        """The tokens with the largest weights, largest first."""
        return largest_of(self.weights, self.allowed, count)

    def share(self, word: str) -> float:
        """The weight on a word: the sum over its tokens, so longer words gain.

        Raises:
            WordNotFound, AmbiguousWord: see `Tokens.find`.
        """
        return float(self.weights[list(self.key_tokens.find(word).tokens)].sum())

    def to_json(self) -> dict[str, Any]:
        """The row as JSON: weights, and scores where they were asked for, are null where the word cannot look."""
        scores = {} if self.scores is None else {"scores": or_null(self.scores, self.allowed)}
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            **({} if self.keys is None else {"source": self.keys.text, "keys": self.keys.to_json()}),
            "word": self.word,
            "query": list(self.query),
            "query_rule": self.query_rule,
            "layer": self.layer,
            "head": self.head,
            "weights": or_null(self.weights, self.allowed),
            **scores,
            "sum": number_or_none(self.sum),
            "sink": number_or_none(self.sink),
            "ordinary": number_or_none(self.ordinary),
            "key_value_head": self.key_value_head,
            "not_a_number": int(np.isnan(self.weights[self.allowed]).sum()),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the row as bars with matplotlib and return the Axes."""
        from heedmap.drawing.readings import plot_row

        return plot_row(self, ax=ax)

    def __str__(self) -> str:
        from heedmap.drawing.readings import row_text

        return row_text(self)


def largest_of(numbers: Floats, allowed: Bools, count: int) -> list[int]:
    """The places of the largest numbers among those allowed, largest first.

    Example:
        >>> largest_of(np.array([0.1, 0.5, 0.4, 0.9]), np.array([True, True, True, False]), 2)
        [1, 2]
    """
    order = np.argsort(-numbers, kind="stable")
    return [int(index) for index in order if allowed[index]][:count]


def or_null(numbers: Floats, allowed: Bools) -> list[float | None]:
    """Numbers for JSON: null where the mask forbids, and where they are none.

    Example:
        >>> or_null(np.array([0.25, np.nan, 0.0]), np.array([True, True, False]))
        [0.25, None, None]
    """
    pairs = zip(numbers, allowed, strict=True)
    return [number_or_none(number) if reachable else None for number, reachable in pairs]


def number_or_none(value: float | None) -> float | None:
    """A number for JSON: None for what is absent or not a number.

    Example:
        >>> number_or_none(float("nan"))
    """
    return None if value is None or not np.isfinite(value) else float(value)
