"""How much of a call's attention goes to each part of a text: one more attention call with other values.

A row's share on a part is the sum of its weights there, and a sum of weights is what attention yields when the values
are 1 for the tokens of the part and 0 elsewhere. So a column of the values stands for each part, all heads share
them, and no weight is ever stored. The first token's share is one dot product a row, and what lies in no span is what
the others leave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_call import Range, part_of, raised, text_call
from heedmap.reading.word_row import Floats
from heedmap.text.spans import SET_APART, Parts

_BLOCK_CELLS = 1 << 22
"""Cells of the mask that are counted at once where the rule is more than a band."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerShares:
    """What one layer's heads give each part, as means over the rows that look.

    Rows that may look at nothing are left out; where none is left, every number is NaN.

    Attributes:
        layer: the layer, from 0.
        shares: [head, part] the share of a row; with `sink` they add up to 1.
        ordinary: [head, part] the share if what the first token, special tokens and the sink leave were spread equally
            over all other tokens that may be looked at; 0 for those set apart.
        seen: [head, part] how many tokens of the part a row may look at.
        sink: [head] the share that a learned sink takes; 0 for models without one.
    """

    layer: int
    shares: Floats
    ordinary: Floats
    seen: Floats
    sink: Floats


class SpanMeter:
    """Measures calls of one text, layer by layer.

    Args:
        parts: the parts of the text.
        queries: positions of the tokens that look, ascending.
    """

    def __init__(self, parts: Parts, queries: Sequence[int]) -> None:
        kinds = [part.kind for part in parts.parts]
        self.parts = parts
        self._queries = queries
        self._first = kinds.index("first") if "first" in kinds else None
        self._apart = [number for number, kind in enumerate(kinds) if kind in SET_APART]
        self._special = kinds.index("special") if "special" in kinds else None
        self._left_over = kinds.index("rest") if "rest" in kinds else None
        self._columns = [number for number in range(len(kinds)) if number not in (self._first, self._left_over)]
        self._counted: dict[tuple[object, ...], torch.Tensor] = {}

    def measure(self, layer: int, call: AttentionCall) -> LayerShares:
        """The shares of one layer.

        Args:
            layer: its number.
            call: its attention call; of a batch, the first text.
        """
        text = text_call(call)
        totals = _Totals.zeros(call.heads, len(self.parts.parts))
        if text is not None:
            exact = replace(raised(text.call), logsumexp=None)
            rule = exact.rule
            owner = torch.from_numpy(self.parts.owner[rule.key_offset : rule.key_offset + rule.keys])
            marks = torch.nn.functional.one_hot(owner, len(self.parts.parts)).to(exact.key.device, exact.key.dtype)
            rows = [place - rule.query_offset for place in self._queries]
            for run in _runs([row for row in rows if 0 <= row < rule.queries]):
                whole = run == (0, rule.queries)
                self._add(totals, exact if whole else part_of(exact, run, (0, rule.keys)), marks)
        return totals.means(layer)

    def _add(self, totals: _Totals, call: AttentionCall, marks: torch.Tensor) -> None:
        """Add the rows of a call to the totals."""
        values = marks[:, self._columns].expand(1, call.key_value_heads, -1, -1)
        output, logsumexp = call.compute(values)
        broken = logsumexp.isnan()  # fused kernels may give such a row an output of 0
        output = output.masked_fill(broken[..., None], torch.nan)
        counts = self._counts(call.rule, marks)
        live = counts.sum(-1) > 0
        shares = torch.zeros_like(totals.shares)
        shares[:, self._columns] = output[0].sum(1, dtype=torch.float64).cpu()
        left = live.to(torch.float64).expand(call.heads, -1).masked_fill(broken[0], torch.nan)
        known = replace(call, logsumexp=logsumexp)
        sink = known.sink_share(slice(None))
        if sink is not None:
            taken = sink[0].double() * live
            totals.sink += taken.sum(1).cpu()
            left = left - taken
        if self._first is not None:
            place = self.parts.parts[self._first].tokens[0] - call.rule.key_offset
            if 0 <= place < call.rule.keys:
                on_first = known.weights(slice(None), slice(place, place + 1))[0, :, :, 0].double()
                shares[:, self._first] = on_first.sum(1).cpu()
                left = left - on_first
        if self._left_over is not None:
            # Rounding can leave a little less than nothing.
            shares[:, self._left_over] = (left.sum(1).cpu() - shares[:, self._columns].sum(1)).clamp(min=0.0)
        if self._special is not None:
            left = left - output[0, :, :, self._columns.index(self._special)].to(left)
        others = counts.index_fill(-1, counts.new_tensor(self._apart).long(), 0.0)
        equal = others / others.sum(-1, keepdim=True).clamp(min=1)
        totals.shares += shares
        totals.ordinary += (left.unsqueeze(1) @ equal).squeeze(1).cpu()
        totals.seen += counts.sum(1).cpu()
        totals.rows += live.sum(1).cpu()

    def _counts(self, rule: MaskRule, marks: torch.Tensor) -> torch.Tensor:
        """How many tokens of each part each row may look at, [head|1, query, part] float64; layers share them."""
        if not rule.is_band:
            return parts_allowed(rule, marks)
        same = (rule.queries, rule.keys, rule.query_offset, rule.key_offset, rule.back, rule.ahead, marks.device)
        if same not in self._counted:
            self._counted[same] = parts_allowed(rule, marks)
        return self._counted[same]


@dataclass(slots=True, eq=False)
class _Totals:
    """Sums over rows, of which `LayerShares` holds the means; `rows` is [head|1]."""

    shares: torch.Tensor
    ordinary: torch.Tensor
    seen: torch.Tensor
    sink: torch.Tensor
    rows: torch.Tensor

    @classmethod
    def zeros(cls, heads: int, parts: int) -> _Totals:
        """Before the first row."""
        of_parts = torch.zeros(heads, parts, dtype=torch.float64)
        return cls(of_parts, of_parts.clone(), of_parts.clone(), of_parts[:, 0].clone(), of_parts[:, 0].clone())

    def means(self, layer: int) -> LayerShares:
        """The means; NaN where there was no row."""
        rows = self.rows.unsqueeze(-1)
        shares, ordinary, seen = (
            np.asarray((total / rows).numpy()) for total in (self.shares, self.ordinary, self.seen)
        )
        return LayerShares(layer, shares, ordinary, seen, np.asarray((self.sink / self.rows).numpy()))


def parts_allowed(rule: MaskRule, marks: torch.Tensor) -> torch.Tensor:
    """How many tokens of each part each query of one text may look at, [head|1, query, part] float64.

    Args:
        rule: which keys a query may look at.
        marks: [key, part], 1 where the key belongs to the part.

    Example:
        >>> parts_allowed(MaskRule(queries=3, keys=3, ahead=0), torch.eye(3)[:, :2]).tolist()
        [[[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]]
    """
    marks = marks.double()
    if rule.is_band_and_padding:
        seen = marks if rule.present is None else marks * rule.present[0, :, None]
        before = torch.cat([seen.new_zeros(1, seen.shape[1]), seen.cumsum(0)])
        own = torch.arange(rule.queries, device=marks.device) + rule.query_offset - rule.key_offset
        low = torch.zeros_like(own) if rule.back is None else (own - rule.back).clamp(0, rule.keys)
        high = torch.full_like(own, rule.keys) if rule.ahead is None else (own + rule.ahead + 1).clamp(0, rule.keys)
        return (before[torch.maximum(high, low)] - before[low]).unsqueeze(0)
    columns = torch.arange(rule.keys, device=marks.device)
    step = max(_BLOCK_CELLS // max(rule.keys * rule.heads, 1), 1)
    blocks = torch.split(torch.arange(rule.queries, device=marks.device), step)
    return torch.cat([rule.allowed(rows, columns)[0].double() @ marks for rows in blocks], -2)


def _runs(rows: Sequence[int]) -> Iterator[Range]:
    """Neighbouring rows together, as ranges.

    Example:
        >>> list(_runs([2, 3, 7]))
        [(2, 4), (7, 8)]
    """
    start = 0
    for place, row in enumerate(rows):
        if place + 1 == len(rows) or rows[place + 1] != row + 1:
            yield rows[start], row + 1
            start = place + 1
