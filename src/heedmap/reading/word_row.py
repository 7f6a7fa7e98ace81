"""What every row of one word has: the word that looks, a number for each token, and where it cannot look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heedmap.text.tokens import Tokens

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordRow:
    """One word's numbers over the tokens of its text.

    Attributes:
        tokens: the tokens that ran.
        word: the word as it stands in the text.
        query: indices of the word's tokens.
        query_rule: how the rows of several tokens became one: "mean" or "last".
        weights: [key], shares between 0 and 1; 0 where forbidden.
        allowed: [key], False where the word cannot look: later tokens, outside the window, padding.
        model: what the numbers were measured on.
    """

    tokens: Tokens
    word: str
    query: tuple[int, ...]
    query_rule: str
    weights: Floats
    allowed: Bools
    model: dict[str, Any]

    @property
    def sum(self) -> float:
        """The sum of the shares: 1 but for what a learned sink took."""
        return float(self.weights.sum())

    def largest(self, count: int = 3) -> list[int]:
        """The tokens with the largest shares, largest first."""
        return largest_of(self.weights, self.allowed, count)

    def asked_to_json(self) -> dict[str, Any]:
        """What was asked, as JSON: the model, the text and the word; every row's JSON begins with it."""
        return {
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "word": self.word,
            "query": list(self.query),
            "query_rule": self.query_rule,
        }


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
