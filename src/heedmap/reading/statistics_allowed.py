"""How many keys a query may look at, and how many queries may look at a key: counted from the rule, never as a map."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from heedmap.reading.rule import MaskRule

_BLOCK_CELLS = 1 << 22
"""Cells of the mask that are counted at once where the rule is more than a band."""


def keys_allowed(rule: MaskRule, device: torch.device) -> torch.Tensor:
    """How many keys each query of one text may look at, [head|1, query] int64.

    Example:
        >>> keys_allowed(MaskRule(queries=4, keys=4, back=2, ahead=0), torch.device("cpu"))
        tensor([[1, 2, 3, 3]])
    """
    columns = torch.arange(rule.keys, device=device)
    if rule.is_band_and_padding:
        present = torch.ones_like(columns, dtype=torch.bool) if rule.present is None else rule.present[0]
        positions = torch.arange(rule.queries, device=device) + rule.query_offset
        return _count_in_band(positions, present, rule.key_offset, rule.back, rule.ahead).unsqueeze(0)
    return torch.cat([rule.allowed(rows, columns)[0].sum(-1) for rows in _row_blocks(rule, device)], -1)


def queries_allowed(rule: MaskRule, real: torch.Tensor) -> torch.Tensor:
    """How many real queries of one text may look at each key, [head|1, key] int64; padding may be looked at by none.

    Args:
        rule: the rule of one text.
        real: [query] bool, False for queries that are padding.

    Example:
        >>> queries_allowed(MaskRule(queries=4, keys=4, back=2, ahead=0), torch.ones(4, dtype=torch.bool))
        tensor([[3, 3, 2, 1]])
    """
    columns = torch.arange(rule.keys, device=real.device)
    if rule.is_band_and_padding:
        counts = _count_in_band(columns + rule.key_offset, real, rule.query_offset, rule.ahead, rule.back)
        return (counts if rule.present is None else counts * rule.present[0]).unsqueeze(0)
    total = torch.zeros((1, rule.keys), dtype=torch.long, device=real.device)
    for rows in _row_blocks(rule, real.device):
        total = total + (rule.allowed(rows, columns)[0] & real[rows, None]).sum(-2)
    return total


def _count_in_band(
    positions: torch.Tensor, marks: torch.Tensor, offset: int, back: int | None, ahead: int | None
) -> torch.Tensor:
    """How many marked places lie at most `back` before and `ahead` after each position, [position].

    Args:
        positions: where to count around.
        marks: [place] bool.
        offset: the position of the first place.
        back: None for no limit.
        ahead: None for no limit.
    """
    before = torch.cat([marks.new_zeros(1, dtype=torch.long), marks.cumsum(0)])
    low = torch.zeros_like(positions) if back is None else positions - back - offset
    high = torch.full_like(positions, len(marks)) if ahead is None else positions + ahead - offset + 1
    low = low.clamp(0, len(marks))
    return before[torch.maximum(high.clamp(0, len(marks)), low)] - before[low]


def _row_blocks(rule: MaskRule, device: torch.device) -> Iterator[torch.Tensor]:
    """The numbers of the queries in blocks that hold a bounded number of cells."""
    step = max(_BLOCK_CELLS // max(rule.keys * rule.heads, 1), 1)
    for start in range(0, rule.queries, step):
        yield torch.arange(start, min(start + step, rule.queries), device=device)
