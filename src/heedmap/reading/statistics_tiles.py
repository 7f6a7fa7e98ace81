"""What is not linear in a row's weights, tile by tile: the largest weight, and everything where scores are bent.

A tile is a block of queries over the keys they reach; its scores are formed, reduced and dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.statistics_call import Range, by_key_head
from heedmap.reading.statistics_linear import Blended

_TILE_CELLS = 1 << 21
"""Scores that one tile holds over all heads: 8 MiB in float32."""


def blend_by_tiles(call: AttentionCall, special: torch.Tensor) -> Blended:
    """Entropy, distance and share on special tokens from the scores themselves, whatever they are made of.

    With t the score less the largest of its row and z the sum of exp(t), H = log z + sum(-t exp(t)) / z: no term is
    negative, so nothing cancels.

    Args:
        call: one text.
        special: [key] bool.
    """
    parts: list[list[torch.Tensor]] = [[], [], [], []]
    marks = special.to(call.exact_dtype)
    own_key = call.rule.query_offset - call.rule.key_offset
    for rows, columns in tiles(call):
        scores = call.scores(slice(*rows), slice(*columns))[0]
        highest = scores.amax(-1, keepdim=True)
        below = scores - highest
        exponentials = torch.exp(below)
        total = exponentials.sum(-1)
        # A forbidden cell is -inf below, and 0 · -inf is not a number: it adds nothing.
        entropy = torch.log(total) - (exponentials * below.clamp(min=-1e4)).sum(-1) / total
        places = torch.arange(*columns, device=scores.device, dtype=scores.dtype) - (rows[0] + own_key)
        looked_at = exponentials @ torch.stack([places, marks[slice(*columns)]], -1) / total.unsqueeze(-1)
        distance = torch.arange(looked_at.shape[1], device=scores.device) - looked_at[..., 0]
        found = highest.squeeze(-1) + torch.log(total), entropy, distance, looked_at[..., 1]
        for part, value in zip(parts, found, strict=True):
            part.append(value)
    return Blended(*(torch.cat(part, -1) for part in parts))


def largest(call: AttentionCall) -> torch.Tensor:
    """The largest weight of each row, [head, query].

    Args:
        call: one text, with its log-sum-exp.
    """
    assert call.logsumexp is not None
    highest = []
    for rows, columns in tiles(call):
        if call.softcap is None and call.bias is None and call.rule.is_full_causal:
            highest.append(_highest_causal(call, rows))
        else:
            highest.append(call.scores(slice(*rows), slice(*columns))[0].amax(-1))
    return torch.exp(torch.cat(highest, -1) - call.logsumexp[0])


def _highest_causal(call: AttentionCall, rows: Range) -> torch.Tensor:
    """The highest score of each row of a plain causal block, [head, query]: only its own triangle needs the mask."""
    start, stop = rows
    highest = call.scores(slice(start, stop), slice(start, stop))[0].amax(-1)
    if start == 0:
        return highest
    # Grouped heads beside each other meet their shared keys in one product, and no key is repeated.
    grouped = by_key_head(call.query[:, :, start:stop], call)[0].flatten(1, 2)
    products = grouped @ call.key[0, :, :start].transpose(-1, -2)
    earlier = products.amax(-1).view(call.heads, stop - start) * call.scale
    return torch.maximum(highest, earlier)


def column_sums_by_tiles(call: AttentionCall, counted: torch.Tensor) -> torch.Tensor:
    """The sum of the weights that each key gets, [head, key].

    Args:
        call: one text, with its log-sum-exp.
        counted: [head|1, query] bool, False for queries that do not count.
    """
    total = torch.zeros((call.heads, call.rule.keys), dtype=torch.float64, device=call.query.device)
    for rows, columns in tiles(call):
        weights = call.weights(slice(*rows), slice(*columns))[0]
        total[:, slice(*columns)] += weights.masked_fill(~counted[:, slice(*rows), None], 0.0).sum(-2)
    return total


def tiles(call: AttentionCall) -> Iterator[tuple[Range, Range]]:
    """Blocks of queries and the keys they reach, each of a bounded number of cells over all heads."""
    start = 0
    while start < call.rule.queries:
        low, high = call.rule.key_range(start, call.rule.queries)
        step = max(_TILE_CELLS // max(call.heads * (high - low), 1), 1)
        if call.rule.back is not None:
            # A window: longer tiles would mostly hold cells outside of it.
            step = max(min(_TILE_CELLS // (2 * call.heads * (call.rule.back + 1)), call.rule.back + 1), step)
        stop = min(start + step, call.rule.queries)
        yield (start, stop), call.rule.key_range(start, stop)
        start = stop
