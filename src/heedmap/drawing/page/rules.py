"""Which cells a layer may look at, as the page takes it: by a rule where one says it, by bits only where none does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedmap.drawing.page.blocks import Part
from heedmap.reading.rule import MaskRule

Bools = NDArray[np.bool_]

_BLOCK_CELLS = 1 << 24
"""Cells of a mask that are compared at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PageRule:
    """The keys that each query may look at.

    Attributes:
        queries: number of queries.
        keys: number of keys.
        shift: query i stands where key i + shift stands.
        back: how many places back a query may look; None is no limit.
        ahead: how many places ahead; 0 is causal, None is no limit.
        absent: keys that nobody may look at.
        bits: [head|1, query, key] where no such rule says it, and then it alone counts.
    """

    queries: int
    keys: int
    shift: int = 0
    back: int | None = None
    ahead: int | None = None
    absent: tuple[int, ...] = ()
    bits: Bools | None = field(default=None, repr=False)

    def allowed(self, rows: NDArray[np.int64] | None = None) -> Bools:
        """Which cells of some rows (None: all) may be looked at, [head|1, query, key].

        Example:
            >>> PageRule(3, 3, back=1, ahead=0).allowed().astype(int).tolist()
            [[[1, 0, 0], [1, 1, 0], [0, 1, 1]]]
        """
        rows = np.arange(self.queries) if rows is None else rows
        if self.bits is not None:
            return self.bits[:, rows]
        distance = np.arange(self.keys)[None] - (rows + self.shift)[:, None]
        allowed = np.ones(distance.shape, dtype=np.bool_)
        if self.back is not None:
            allowed &= distance >= -self.back
        if self.ahead is not None:
            allowed &= distance <= self.ahead
        allowed[:, list(self.absent)] = False
        return allowed[None]

    def cells(self, heads: int) -> int:
        """How many cells of all heads are allowed.

        Example:
            >>> PageRule(3, 3, ahead=0).cells(heads=2)
            12
        """
        if self.bits is not None:
            return int(self.bits.sum()) * (heads // len(self.bits))
        position = np.arange(self.queries) + self.shift
        low = np.zeros_like(position) if self.back is None else np.clip(position - self.back, 0, self.keys)
        high = np.full_like(position, self.keys) if self.ahead is None else position + self.ahead + 1
        high = np.maximum(np.clip(high, 0, self.keys), low)
        before = np.concatenate([[0], np.cumsum(np.isin(np.arange(self.keys), self.absent))])
        return int((high - low - (before[high] - before[low])).sum()) * heads

    @property
    def is_causal(self) -> bool:
        """Whether no query may look at a later key."""
        if self.bits is None:
            return self.ahead == 0
        return not np.triu(self.bits.any(0), self.shift + 1).any()

    def to_json(self) -> dict[str, Any]:
        """The rule for the page; bits follow as a part of their own."""
        names = ("queries", "keys", "shift", "back", "ahead")
        return {name: getattr(self, name) for name in names} | {"absent": list(self.absent)}

    def part(self) -> Part | None:
        """The bits, eight cells a byte, first cell highest; None where the rule says everything."""
        if self.bits is None:
            return None
        return Part("bits", np.packbits(self.bits.reshape(len(self.bits), -1), axis=-1))

    def same_as(self, other: PageRule) -> bool:
        """Whether two rules allow the same."""
        if self.to_json() != other.to_json() or (self.bits is None) != (other.bits is None):
            return False
        return self.bits is None or other.bits is None or np.array_equal(self.bits, other.bits)


def page_rule(rule: MaskRule, device: torch.device | str = "cpu") -> PageRule:
    """A layer's mask as a rule, or as bits where no band and no list of absent keys says the same.

    Args:
        rule: the mask of one text.
        device: where its tensors are.

    Example:
        >>> page_rule(MaskRule(queries=4, keys=4, table=torch.ones(4, 4).tril().bool()[None, None]))
        PageRule(queries=4, keys=4, shift=0, back=None, ahead=0, absent=())
    """
    shift = rule.query_offset - rule.key_offset
    absent = () if rule.present is None else tuple(np.flatnonzero(~rule.present[0].cpu().numpy()).tolist())
    band = PageRule(rule.queries, rule.keys, shift, rule.back, rule.ahead, absent)
    if rule.is_band_and_padding:
        return band
    causal = PageRule(rule.queries, rule.keys, shift, rule.back, 0, absent)
    for candidate in (band, causal):
        if all(_alike(bits, candidate.allowed(rows)) for rows, bits in _blocks(rule, device)):
            return candidate
    bits = np.concatenate([bits for _, bits in _blocks(rule, device)], axis=1)
    return PageRule(rule.queries, rule.keys, shift, bits=bits)


def _alike(bits: Bools, band: Bools) -> bool:
    return bool((bits == band).all())


def _blocks(rule: MaskRule, device: torch.device | str) -> Iterator[tuple[NDArray[np.int64], Bools]]:
    """The cells that a mask allows, block by block of queries, as (rows, [head|1, query, key])."""
    columns = torch.arange(rule.keys, device=device)
    step = max(_BLOCK_CELLS // max(rule.keys * rule.heads, 1), 1)
    for start in range(0, rule.queries, step):
        rows = torch.arange(start, min(start + step, rule.queries), device=columns.device)
        cells = rule.allowed(rows, columns)[0].expand(-1, len(rows), len(columns))
        yield rows.cpu().numpy(), cells.cpu().numpy()
