"""Cells that are cut out of a mask: some queries that may not look at some keys, in some heads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True, slots=True)
class Cut:
    """Queries that may not look at keys, whatever the rest of the rule says.

    Attributes:
        queries: positions of the queries.
        keys: positions of the keys; each of the queries is cut off from each of them.
        heads: the query heads in which it is so; None for all.
        of_heads: how many query heads there are.
        text: the row of the batch; None for all.
    """

    queries: tuple[int, ...]
    keys: tuple[int, ...]
    heads: tuple[int, ...] | None
    of_heads: int
    text: int | None = None

    def cells(self, batch: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        """Which of the given cells are cut out.

        Args:
            batch: rows of the batch, [batch, 1, 1, 1].
            query: positions of queries, broadcasts to [1, 1, query, key].
            key: positions of keys, broadcasts to [1, 1, query, key].

        Returns:
            bool, [batch|1, head|1, query, key].

        Example:
            >>> row, column = torch.arange(2)[None, None, :, None], torch.arange(2)[None, None, None]
            >>> cut = Cut(queries=(1,), keys=(0,), heads=None, of_heads=4)
            >>> cut.cells(torch.zeros(1, 1, 1, 1), row, column)[0, 0].int().tolist()
            [[0, 0], [1, 0]]
        """
        found = _among(query, self.queries) & _among(key, self.keys)
        if self.heads is not None:
            found = found & _among(torch.arange(self.of_heads, device=query.device)[None, :, None, None], self.heads)
        return found if self.text is None else found & (batch == self.text)

    def moved(self, places: int) -> Cut:
        """The same cut where positions count from another place on.

        Example:
            >>> Cut((3,), (1,), None, 4).moved(-1).queries
            (2,)
        """
        queries, keys = (tuple(place + places for place in some) for some in (self.queries, self.keys))
        return replace(self, queries=queries, keys=keys)


def _among(numbers: torch.Tensor, wanted: tuple[int, ...]) -> torch.Tensor:
    """Which of some numbers are among those wanted."""
    return torch.isin(numbers, torch.tensor(wanted, dtype=numbers.dtype, device=numbers.device))
