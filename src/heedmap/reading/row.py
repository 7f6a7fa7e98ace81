"""One word's attention: which share of its look each token gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.reading.word_row import Floats, WordRow, number_or_none, or_null
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "heedmap/row/1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row(WordRow):
    """Where one word looks, in one layer, in one head or in the mean over heads.

    Attributes, beside those of `WordRow`:
        layer: the layer, from 0.
        head: the head, from 0; None is the mean over heads.
        sink: the share that a learned sink took; 0 for models without one.
        heads: number of query heads in the layer.
        key_value_heads: number of key-value heads in the layer.
        scores: [key], the scores before softmax where they were asked for; -inf where forbidden.
        keys: the tokens that are looked at, where they are others than `tokens` (cross-attention); else None.
    """

    layer: int
    head: int | None
    sink: float
    heads: int
    key_value_heads: int
    scores: Floats | None = None
    keys: Tokens | None = None

    @property
    def key_tokens(self) -> Tokens:
        """The tokens that are looked at."""
        return self.tokens if self.keys is None else self.keys

    @property
    def first(self) -> int | None:
        """Index of the first token that the word may look at; None when it may look at nothing."""
        reachable = np.flatnonzero(self.allowed)
        return int(reachable[0]) if len(reachable) else None

    @property
    def apart(self) -> list[int]:
        """Where attention rests whatever the text says: the first token that the word may look at, and special tokens.

        An encoder's heads rest on its separators as much as on its first token.
        """
        reachable = np.flatnonzero(self.allowed)
        return [int(index) for index in reachable if index == self.first or self.key_tokens[int(index)].special]

    @property
    def ordinary(self) -> float | None:
        """An ordinary share: what the tokens set `apart` leave, divided equally among the others. None without any."""
        others = int(self.allowed.sum()) - len(self.apart)
        return (self.sum - float(self.weights[self.apart].sum())) / others if others else None

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

    def share(self, word: str) -> float:
        """The weight on a word: the sum over its tokens, so longer words gain.

        Raises:
            WordNotFound, AmbiguousWord: see `Tokens.find`.

        Example:
            >>> import heedmap
            >>> row = heedmap.load("smollm2").read("The cat sat on the mat.").row("mat", layer=12, head=4)
            >>> round(row.share("cat"), 3), row.largest(2), round(row.ordinary, 2), row.sharing_heads
            (0.064, [0, 5], 0.06, [3, 5])
        """
        return float(self.weights[list(self.key_tokens.find(word).tokens)].sum())

    def to_json(self) -> dict[str, Any]:
        """The row as JSON: weights, and scores where they were asked for, are null where the word cannot look."""
        scores = {} if self.scores is None else {"scores": or_null(self.scores, self.allowed)}
        return {
            "schema": SCHEMA,
            **self.asked_to_json(),
            **({} if self.keys is None else {"source": self.keys.text, "keys": self.keys.to_json()}),
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
