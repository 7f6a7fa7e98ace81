"""Scores before softmax: what the weights were made of, for one head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from heedmap.errors import ReadingError
from heedmap.reading.map import Map
from heedmap.reading.tiles import Index, index_tile
from heedmap.reading.word_row import Bools


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """The scores of one head before softmax, from every query to every key, computed where somebody looks.

    A score is the product of query and key, times the scale, capped and biased where the model does that. It is
    -inf where the mask forbids: absent, so that softmax over a row gives the row's weights (but for the share of a
    learned sink). Only differences within a row mean something: softmax does not see what all of a row has in common.

    Index it as an array with two axes, query then key; `np.asarray(scores)` makes it whole.

    Attributes:
        weights: the map of the same head after softmax.
    """

    weights: Map

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, keys)."""
        return self.weights.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> Any:
        """Scores by number and slice: a float for a cell, else an array of float64; -inf where forbidden."""

        def scores(rows: slice, columns: slice) -> torch.Tensor:
            return self.weights.call.scores(rows, columns, self.weights.heads)[0, 0]

        return index_tile(index, self.shape, 1, scores)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The whole map, made by blocks of rows."""
        if copy is False:
            raise ValueError("scores are computed when they are asked for, so an array of them is always a copy")
        return np.asarray(self[:, :], dtype=dtype)

    def allowed(self, rows: slice = slice(None), columns: slice = slice(None)) -> Bools:
        """Which cells of a tile the mask lets the model look at, [query, key]."""
        return self.weights.allowed(rows, columns)

    def __repr__(self) -> str:
        return f"ScoreMap(layer {self.weights.layer}, head {self.weights.head}, {self.shape[0]} x {self.shape[1]})"


def refuse_mean_of_scores(head: int | None, queries: int) -> None:
    """Refuse scores of several heads or several rows as one.

    Raises:
        ReadingError: each row of each head has its own zero, which softmax does not see, so that a mean of them says
            nothing.
    """
    if head is None:
        raise ReadingError("scores of different heads have no common zero, so their mean says nothing: give head=")
    if queries > 1:
        raise ReadingError(
            f"scores of different rows have no common zero, and the word has {queries} tokens: "
            'give query_rule="last", or one of them as "@5"'
        )
