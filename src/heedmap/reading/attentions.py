"""All maps at once, in the shape that transformers gives them and that other tools expect: the expensive way."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.memory import bytes_text, require_memory
from heedmap.reading.progress import Progress

_BLOCK_CELLS = 1 << 22
"""Cells that are computed at once."""


def attention_tensors(
    calls: Sequence[AttentionCall], progress: Progress | None = None, *, instead: str
) -> tuple[torch.Tensor, ...]:
    """The whole maps of some calls.

    Args:
        calls: one a layer, with their log-sum-exp.
        progress: first told what it costs, then how many layers are done.
        instead: what to ask for where all of it does not fit.

    Returns:
        one [batch, head, query, key] tensor a call, in float32 (float64 for float64 models), on the model's device.
        0 where forbidden and in rows that are absent.

    Raises:
        TooLarge: it does not fit the memory.
    """
    if not calls:
        return ()
    needed = sum(_cells(call) * torch.finfo(call.exact_dtype).bits // 8 for call in calls)
    first = calls[0]
    size = f"{first.rule.queries:,} x {first.rule.keys:,}"
    what = f"all maps of {len(calls)} layers x {first.heads} heads, {size}"
    require_memory(needed, first.query.device, what, instead)
    found = []
    for done, call in enumerate(calls):
        if progress is not None:
            progress(done, len(calls), f"{what}, {bytes_text(needed)}")
        found.append(_whole_weights(call))
    if progress is not None:
        progress(len(calls), len(calls), what)
    return tuple(found)


def batch_map(call: AttentionCall, head: int | None, *, instead: str) -> torch.Tensor:
    """The map of one head, or the mean over heads, of every text: [batch, query, key] in float64.

    Raises:
        TooLarge: it does not fit the memory.
    """
    batch, queries, keys = call.query.shape[0], call.rule.queries, call.rule.keys
    require_memory(8.0 * batch * queries * keys, "cpu", f"a map of {queries:,} x {keys:,}", instead)
    heads = slice(None) if head is None else slice(head, head + 1)
    weights = torch.empty(batch, queries, keys, dtype=torch.float64)
    for rows in _blocks(call):
        weights[:, rows] = call.weights(rows, slice(None), heads).mean(1).double().cpu()
    return weights


def _whole_weights(call: AttentionCall) -> torch.Tensor:
    """One call's maps, [batch, head, query, key], made by blocks of rows so that nothing else is as large."""
    shape = *call.query.shape[:3], call.rule.keys
    weights = torch.empty(shape, dtype=call.exact_dtype, device=call.query.device)
    for rows in _blocks(call):
        weights[:, :, rows] = call.weights(rows, slice(None))
    return weights


def _blocks(call: AttentionCall) -> list[slice]:
    """All rows, in blocks of a bounded number of cells."""
    batch, heads, queries = call.query.shape[:3]
    step = max(_BLOCK_CELLS // max(batch * heads * call.rule.keys, 1), 1)
    return [slice(start, min(start + step, queries)) for start in range(0, queries, step)]


def _cells(call: AttentionCall) -> int:
    """How many weights a call has."""
    return call.query.shape[0] * call.heads * call.rule.queries * call.rule.keys
