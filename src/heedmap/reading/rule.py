"""Which keys a query may look at: kept as a rule, so that no mask of N x N cells has to exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from heedmap.reading.cut import Cut

MaskFunction = Callable[..., Any]
"""(batch, head, query, key) index tensors that broadcast -> may look (bool); transformers' own convention."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskRule:
    """The keys that each query may look at, as a band around the diagonal and what is cut out of it.

    A key is allowed when all of these hold: it lies at most `back` places before and `ahead` places after the query
    (None: no limit), it is `present`, `pattern` is true there, `table` allows it, and it is not among the `cuts`.

    Attributes:
        queries: number of queries.
        keys: number of keys.
        batch: number of texts that run together.
        query_offset: position of the first query (more than 0 when a cache holds earlier tokens).
        key_offset: position of the first key (more than 0 when a sliding cache dropped the oldest).
        back: how many places back a query may look; a sliding window of w keys is w - 1.
        ahead: how many places ahead a query may look; 0 is causal.
        present: [batch, key] bool, False for padding; None when nothing is padded.
        pattern: index function for what a band cannot say; exact, but evaluated block by block.
        table: an explicit mask, [batch|1, head|1, query|1, key]: bool (True = may look) or float (added to scores).
        cuts: cells that an edit forbids; see `heedmap.reading.edits`.
    """

    queries: int
    keys: int
    batch: int = 1
    query_offset: int = 0
    key_offset: int = 0
    back: int | None = None
    ahead: int | None = None
    present: torch.Tensor | None = None
    pattern: MaskFunction | None = None
    table: torch.Tensor | None = None
    cuts: tuple[Cut, ...] = ()

    @property
    def is_band(self) -> bool:
        """Whether the band alone says everything."""
        return self.present is None and self.is_band_and_padding

    @property
    def is_band_and_padding(self) -> bool:
        """Whether the band and the padding say everything."""
        return self.pattern is None and self.table is None and not self.cuts

    @property
    def heads(self) -> int:
        """How many heads the mask differs by; 1 where it is one for all."""
        of_table = 1 if self.table is None else self.table.shape[1]
        return max([of_table, *(cut.of_heads for cut in self.cuts if cut.heads is not None)])

    @property
    def is_causal(self) -> bool:
        """Whether the band forbids every later key."""
        return self.ahead == 0

    @property
    def allows_everything(self) -> bool:
        """Whether no cell is forbidden."""
        first, last = self.query_offset, self.query_offset + self.queries - 1
        reaches_back = self.back is None or last - self.back <= self.key_offset
        reaches_ahead = self.ahead is None or first + self.ahead >= self.key_offset + self.keys - 1
        return self.is_band and reaches_back and reaches_ahead

    @property
    def is_full_causal(self) -> bool:
        """Whether this is the plain lower triangle, which kernels know by a flag."""
        square = self.queries == self.keys and self.query_offset == self.key_offset
        return self.is_band and self.ahead == 0 and square and (self.back is None or self.back >= self.keys - 1)

    @property
    def bias_is_added(self) -> bool:
        """Whether an explicit float mask does more than forbid: it also shifts scores."""
        if self.table is None or self.table.dtype == torch.bool:
            return False
        lowest = torch.finfo(self.table.dtype).min / 2
        return bool(((self.table > lowest) & (self.table != 0)).any())

    def key_range(self, start: int, stop: int) -> tuple[int, int]:
        """The slice of the keys that queries `start` to `stop` (exclusive) can reach at most.

        Example:
            >>> MaskRule(queries=9, keys=9, back=2, ahead=0).key_range(4, 6)
            (2, 6)
        """
        shift = self.query_offset - self.key_offset
        low = 0 if self.back is None else start + shift - self.back
        high = self.keys if self.ahead is None else stop + shift + self.ahead
        low = min(max(low, 0), self.keys)
        return low, min(max(high, low), self.keys)

    def allowed(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Which of the given cells may be looked at.

        Args:
            rows: indices of queries, [query].
            columns: indices of keys, [key].

        Returns:
            bool, [batch|1, head|1, query, key].
        """
        query = (rows + self.query_offset)[None, None, :, None]
        key = (columns + self.key_offset)[None, None, None, :]
        result = torch.ones((1, 1, len(rows), len(columns)), dtype=torch.bool, device=rows.device)
        if self.back is not None:
            result = result & (key >= query - self.back)
        if self.ahead is not None:
            result = result & (key <= query + self.ahead)
        if self.present is not None:
            result = result & self.present[:, None, None, :].index_select(-1, columns)
        batch = torch.arange(self.batch, device=rows.device)[:, None, None, None]
        if self.pattern is not None:
            result = result & self.pattern(batch, torch.zeros_like(batch[:1]), query, key)
        for cut in self.cuts:
            result = result & ~cut.cells(batch, query, key)
        if self.table is not None:
            cells = self._table_cells(rows, columns)
            result = result & (cells if cells.dtype == torch.bool else cells > torch.finfo(cells.dtype).min / 2)
        return result

    def bias(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor | None:
        """What an explicit float mask adds to the scores of the given cells, None when it only forbids."""
        if self.table is None or self.table.dtype == torch.bool:
            return None
        cells = self._table_cells(rows, columns)
        return cells.masked_fill(cells <= torch.finfo(cells.dtype).min / 2, 0.0)

    def _table_cells(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """The given cells of the explicit mask, which may have one row for all queries."""
        assert self.table is not None
        cells = self.table if self.table.shape[-2] == 1 else self.table.index_select(-2, rows)
        return cells.index_select(-1, columns)

    def to(self, device: torch.device) -> MaskRule:
        """The same rule with its tensors on another device: models may lie on several. A pattern has its own place."""
        present, table = (None if one is None else one.to(device) for one in (self.present, self.table))
        return replace(self, present=present, table=table)

    def crop_keys(self, keys: int) -> MaskRule:
        """The same rule for the first `keys` keys: what is left when a fixed-size cache is cut to its filled part."""
        return replace(
            self,
            keys=keys,
            present=None if self.present is None else self.present[:, :keys],
            table=None if self.table is None else self.table[..., :keys],
        )

    def choose(self, indices: torch.Tensor) -> MaskRule:
        """The same rule for a model that picks a few keys for each query (sparse attention).

        Args:
            indices: [batch, query, chosen], which keys may be looked at if the rule allows them too.

        Example:
            >>> rule = MaskRule(queries=3, keys=3, ahead=0).choose(torch.tensor([[[0, 1], [0, 1], [0, 2]]]))
            >>> rule.allowed(torch.arange(3), torch.arange(3))[0, 0].int().tolist()
            [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
        """
        return replace(self, pattern=_ChosenKeys(indices, self))

    def for_text(self, batch: int) -> MaskRule:
        """The rule of one row of the batch, as a batch of one."""
        present = None if self.present is None else self.present[batch : batch + 1]
        table = self.table if self.table is None or self.table.shape[0] == 1 else self.table[batch : batch + 1]
        pattern = None if self.pattern is None else _fix_batch(self.pattern, batch)
        cuts = tuple(replace(cut, text=None) for cut in self.cuts if cut.text in (None, batch))
        return replace(self, batch=1, present=present, table=table, pattern=pattern, cuts=cuts)

    def materialise(self, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """The whole mask, [batch, 1, query, key]: bool, or float with the lowest number where forbidden."""
        rows = torch.arange(self.queries, device=device)
        columns = torch.arange(self.keys, device=device)
        allowed = self.allowed(rows, columns)
        allowed = allowed.expand(self.batch, *allowed.shape[1:])
        if dtype == torch.bool:
            return allowed
        blank = torch.zeros((), dtype=dtype, device=device)
        return torch.where(allowed, blank, torch.finfo(dtype).min)


def told_apart(table: torch.Tensor) -> torch.Tensor:
    """A mask whose forbidden cells hold a number such as -1e4 or -1e9, with the lowest number of its dtype there.

    What forbids is one large number, far below all else that is added; a bias by distance (ALiBi) goes down by steps
    and has numbers in between. A row in which every cell holds that number stays as it is: softmax does not see it.

    Example:
        >>> told_apart(torch.tensor([[[[0.0, -1e4], [0.5, 0.0]]]]))[0, 0, 0, 1] == torch.finfo(torch.float32).min
        tensor(True)
    """
    if not table.is_floating_point():
        return table
    lowest = float(table.detach().amin())
    if not torch.finfo(table.dtype).min / 2 < lowest <= _FORBIDS:
        return table
    forbidden = table <= lowest / 2
    if bool((forbidden & (table > 0.9 * lowest)).any()):
        return table
    forbidden &= ~forbidden.all(-1, keepdim=True)
    return table.masked_fill(forbidden, torch.finfo(table.dtype).min)


_FORBIDS = -1e4
"""What is added to forbid a look is no more than this: BERT's own -10,000 is the smallest in use."""


def _fix_batch(pattern: MaskFunction, index: int) -> MaskFunction:
    """A pattern that answers for one row of the batch, whatever row it is asked for."""

    def fixed(batch: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        cells: torch.Tensor = pattern(torch.full_like(batch, index), head, query, key)
        return cells

    return fixed


class _ChosenKeys:
    """A pattern that allows the keys picked for each query: found by halves in one sorted list of cells."""

    def __init__(self, indices: torch.Tensor, rule: MaskRule) -> None:
        self._rule = rule
        batch, queries, _ = indices.shape
        rows = torch.arange(batch * queries, device=indices.device).view(batch, queries, 1)
        self._cells = (rows * rule.keys + indices.long()).flatten().sort().values

    def __call__(self, batch: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        """Whether a key was picked, and allowed by the pattern that was there before."""
        row = batch * self._rule.queries + query - self._rule.query_offset
        wanted = row * self._rule.keys + key - self._rule.key_offset
        place = torch.searchsorted(self._cells, wanted.contiguous()).clamp(max=len(self._cells) - 1)
        chosen = self._cells[place] == wanted
        if self._rule.pattern is not None:
            chosen = chosen & self._rule.pattern(batch, head, query, key)
        return chosen
