"""A whole map of one head, known but not stored: any cell, row or tile is computed when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.reading import tiles
from heedmap.reading.call import AttentionCall
from heedmap.reading.tiles import Index, index_tile
from heedmap.reading.word_row import Bools, Floats
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.reading.pool import Pooled


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The weights of one head, or the mean over heads, from every query to every key.

    Index it as an array with two axes, query then key, by numbers and slices; `np.asarray(map)` makes it whole.

    Attributes:
        tokens: the tokens that ran.
        layer: the layer, from 0.
        head: the head, from 0; None is the mean over heads.
        call: the attention call that knows the weights.
        model: what the numbers were measured on.
        keys: the tokens that are looked at, where they are others than `tokens` (cross-attention); else None.
    """

    tokens: Tokens
    layer: int
    head: int | None
    call: AttentionCall
    model: dict[str, Any]
    keys: Tokens | None = None

    @property
    def key_tokens(self) -> Tokens:
        """The tokens that are looked at."""
        return self.tokens if self.keys is None else self.keys

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, keys)."""
        return self.call.rule.queries, self.call.rule.keys

    @property
    def heads(self) -> slice:
        """The heads that the map stands for."""
        return slice(0, self.call.heads) if self.head is None else slice(self.head, self.head + 1)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> Any:
        """Weights by number and slice: a float for a cell, else an array of float64; 0 where forbidden."""

        def weights(rows: slice, columns: slice) -> torch.Tensor:
            return self.call.weights(rows, columns, self.heads)[0].mean(0)

        return index_tile(index, self.shape, self.call.heads, weights)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The whole map, made by blocks of rows."""
        if copy is False:
            raise ValueError("a map is computed when it is asked for, so an array of it is always a copy")
        return np.asarray(self[:, :], dtype=dtype)

    def allowed(self, rows: slice = slice(None), columns: slice = slice(None)) -> Bools:
        """Which cells of a tile the mask lets the model look at, [query, key]."""
        device = self.call.query.device
        row_numbers = torch.arange(self.shape[0], device=device)[rows]
        column_numbers = torch.arange(self.shape[1], device=device)[columns]
        cells = self.call.rule.allowed(row_numbers, column_numbers)
        of_head = cells[0].any(0) if self.head is None else cells[0, 0 if cells.shape[1] == 1 else self.head]
        return np.asarray(of_head.expand(len(row_numbers), len(column_numbers)).cpu().numpy(), dtype=np.bool_)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """The map by blocks of rows, as (first row, weights [query, key])."""
        step = max(tiles.BLOCK_CELLS // max(self.shape[1] * self.call.heads, 1), 1)
        for start in range(0, self.shape[0], step):
            yield start, self[start : start + step]

    def pool(self, height: int, width: int, how: str = "mean") -> Pooled:
        """The map seen from further away, exact, by tiles: the whole of it is never in memory.

        Args:
            height: how many blocks of queries; as even as can be, and at most one a token.
            width: how many blocks of keys.
            how: a block's "mean" or its largest weight ("max"), over the cells that the mask allows.

        Returns:
            weights [height, width], 0 where a block holds no allowed cell, and whether it holds one.

        Raises:
            NumbersError: another `how`.
            OutOfRange: less than one block.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.", layers=12)
            >>> reading.map(layer=12, head=4).pool(2, 2).allowed.tolist()
            [[True, False], [True, True]]
        """
        from heedmap.reading.pool import pool_map

        return pool_map(self, height, width, how)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map with matplotlib and return the Axes."""
        from heedmap.drawing.readings import plot_map

        return plot_map(self, ax=ax)

    def __str__(self) -> str:
        from heedmap.drawing.readings import map_text

        return map_text(self)

    def __repr__(self) -> str:
        head = "mean over heads" if self.head is None else f"head {self.head}"
        return f"Map(layer {self.layer}, {head}, {self.shape[0]} x {self.shape[1]})"
