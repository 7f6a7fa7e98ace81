"""The weight of each query on one key of its choice: one dot product and one exponential a row."""

from __future__ import annotations

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_call import by_key_head


def share_on_key(call: AttentionCall, key: int | None) -> torch.Tensor:
    """Each query's weight on one key, [head, query]; 0 where the mask forbids it, or there is no such key (None).

    Args:
        call: one text, with its log-sum-exp.
        key: the number of the key.
    """
    if key is None or not 0 <= key < call.rule.keys:
        return torch.zeros_like(call.query[0, ..., 0])
    products = (by_key_head(call.query, call) @ call.key[:, :, None, key, :, None]).squeeze(-1).flatten(1, 2)
    rows = torch.arange(call.rule.queries, device=call.query.device)
    return _weights(call, products[0], rows, torch.full_like(rows, key))


def share_at_distance(call: AttentionCall, distance: int) -> torch.Tensor:
    """Each query's weight on the key so many places before it, [head, query]: 0 for itself, 1 for the token before.

    It is 0 where the mask forbids that key, and where there is none.

    Args:
        call: one text, with its log-sum-exp.
        distance: from 0.
    """
    shift = call.rule.query_offset - call.rule.key_offset - distance
    start, stop = min(max(-shift, 0), call.rule.queries), max(min(call.rule.keys - shift, call.rule.queries), 0)
    shares = torch.zeros_like(call.query[0, ..., 0])
    if start >= stop:
        return shares
    query = by_key_head(call.query[:, :, start:stop], call)
    products = (query * call.key[:, :, None, start + shift : stop + shift]).sum(-1).flatten(1, 2)
    rows = torch.arange(start, stop, device=call.query.device)
    shares[:, start:stop] = _weights(call, products[0], rows, rows + shift)
    return shares


def _weights(call: AttentionCall, products: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Weights from the products of query and key, [head, cell]: each cell under its own cap, bias and mask."""
    assert call.logsumexp is not None
    scores = products * call.scale
    if call.softcap is not None:
        scores = torch.tanh(scores / call.softcap) * call.softcap
    if call.bias is not None:
        scores = scores + _at(call.bias, rows, columns).to(scores.dtype)
    table = call.rule.table
    if table is not None and table.dtype != torch.bool:
        cells = _at(table, rows, columns).to(scores.dtype)
        scores = scores + cells.masked_fill(cells <= torch.finfo(table.dtype).min / 2, 0.0)
    weights = torch.exp(scores - call.logsumexp[0, :, rows[0] : rows[-1] + 1])
    return weights.masked_fill(~allowed_cells(call.rule, rows, columns), 0.0)


def allowed_cells(rule: MaskRule, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Whether query `rows[n]` may look at key `columns[n]`, [head|1, cell] bool, for the rule of one text."""
    query, key = rows + rule.query_offset, columns + rule.key_offset
    result = torch.ones_like(rows, dtype=torch.bool)
    if rule.back is not None:
        result = result & (key >= query - rule.back)
    if rule.ahead is not None:
        result = result & (key <= query + rule.ahead)
    if rule.present is not None:
        result = result & rule.present[0, columns]
    if rule.pattern is not None:
        nothing = torch.zeros((1, 1, 1, 1), dtype=torch.long, device=rows.device)
        cells = rule.pattern(nothing, nothing, query[None, None, :, None], key[None, None, :, None])
        result = result & cells.flatten()
    result = result.unsqueeze(0)
    if rule.table is not None:
        cells = _at(rule.table, rows, columns)
        result = result & (cells if cells.dtype == torch.bool else cells > torch.finfo(cells.dtype).min / 2)
    for cut in rule.cuts:
        text = torch.zeros((1, 1, 1, 1), dtype=torch.long, device=rows.device)
        result = result & ~cut.cells(text, query[None, None, :, None], key[None, None, :, None])[0, :, :, 0]
    return result


def _at(table: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Single cells of a table of one text, [head|1, cell]; its query axis may have one row for all."""
    return table[0, :, rows if table.shape[-2] > 1 else torch.zeros_like(rows), columns]
