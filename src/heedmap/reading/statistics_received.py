"""What each token of a text receives: the sum of the weights from all tokens that look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heedmap.reading.statistics_summary import Numbers
from heedmap.reading.word_row import number_or_none
from heedmap.text.tokens import Tokens

SCHEMA = "heedmap/received/1"


@dataclass(frozen=True, eq=False, slots=True)
class Received:
    """The attention that each token receives, in one head or in the mean over several.

    In a causal model the first token can be looked at by all, the last only by itself; `corrected` takes that out.

    Attributes:
        tokens: the tokens that ran.
        layer: the layer, from 0; None is the mean over layers.
        head: the head, from 0; None is the mean over heads.
        sums: [token], the weights from all tokens together; they add up to the number of tokens that look, but for
            what a learned sink takes. Not a number for padding.
        lookers: [token], how many tokens may look at it, itself among them.
        model: what the numbers were measured on.
    """

    tokens: Tokens
    layer: int | None
    head: int | None
    sums: Numbers
    lookers: Numbers
    model: dict[str, Any]

    @property
    def corrected(self) -> Numbers:
        """[token], the mean weight from those that may look at it; not a number where nobody may."""
        return np.where(self.lookers > 0, self.sums / np.maximum(self.lookers, 1), np.nan)

    def largest(self, count: int = 10, *, lookers: int = 1) -> list[int]:
        """The tokens with the largest `corrected`, largest first.

        Args:
            count: how many tokens at most.
            lookers: leave out tokens that fewer than so many may look at: a mean over two says little.
        """
        enough = np.flatnonzero((self.lookers >= max(lookers, 1)) & ~np.isnan(self.sums))
        return [int(index) for index in enough[np.argsort(-self.corrected[enough], kind="stable")]][:count]

    def to_json(self) -> dict[str, Any]:
        """What each token receives, as JSON; null for padding."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "layer": self.layer,
            "head": self.head,
            "received": [number_or_none(value) for value in self.sums],
            "lookers": [number_or_none(value) for value in self.lookers],
            "corrected": [number_or_none(value) for value in self.corrected],
        }

    def __str__(self) -> str:
        from heedmap.drawing.received import received_text

        return received_text(self)
