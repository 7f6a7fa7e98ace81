"""What is not linear in a row's weights, tile by tile: the largest weight, and everything where scores are bent.

The weights of a tile are formed, reduced and dropped. Tiles have one size, so that the memory of one serves the next.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.statistics_call import Range, by_key_head, part_of

_TILE_KEYS = 512
_TILE_CELLS = 1 << 20
"""Keys of a tile, and scores that it holds over all heads: 4 MiB in float32."""


def sums_by_tiles(call: AttentionCall, special: torch.Tensor) -> dict[str, torch.Tensor]:
    """Entropy, distance and share on special tokens from the weights themselves, whatever the scores are made of.

    Each is a sum over the keys, and no term of the entropy is negative. A learned sink has its share already.

    Args:
        call: one text, with its log-sum-exp.
        special: [key] bool.

    Returns:
        "entropy", "distance" and "special", each [head, query].
    """
    assert call.logsumexp is not None
    names = ("entropy", "distance", "special")
    sums = {name: torch.zeros_like(call.logsumexp[0]) for name in names}
    marks = special.to(call.exact_dtype)
    for rows, columns in tiles(call):
        row, column = slice(*rows), slice(*columns)
        weights = _weights(call, rows, columns)
        own = torch.arange(*rows, device=weights.device) + call.rule.query_offset - call.rule.key_offset
        back = own[:, None] - torch.arange(*columns, device=weights.device)
        sums["entropy"][:, row] -= torch.xlogy(weights, weights).sum(-1)
        sums["distance"][:, row] += (weights * back).sum(-1)
        sums["special"][:, row] += weights @ marks[column]
    return sums


def largest(call: AttentionCall) -> torch.Tensor:
    """The largest weight of each row, [head, query].

    Args:
        call: one text, with its log-sum-exp.
    """
    assert call.logsumexp is not None
    highest = torch.full_like(call.logsumexp[0], -torch.inf)
    for rows, columns in tiles(call):
        row = slice(*rows)
        highest[:, row] = torch.maximum(highest[:, row], _scores(call, rows, columns).amax(-1))
    return torch.exp(highest - call.logsumexp[0])


def column_sums_by_tiles(call: AttentionCall, counted: torch.Tensor) -> torch.Tensor:
    """The sum of the weights that each key gets, [head, key].

    Args:
        call: one text, with its log-sum-exp.
        counted: [head|1, query] bool, False for queries that do not count.
    """
    total = torch.zeros((call.heads, call.rule.keys), dtype=call.exact_dtype, device=call.query.device)
    for rows, columns in tiles(call):
        weights = _weights(call, rows, columns).masked_fill(~counted[:, slice(*rows), None], 0.0)
        total[:, slice(*columns)] += weights.sum(-2)
    return total


def tiles(call: AttentionCall) -> Iterator[tuple[Range, Range]]:
    """Blocks of queries by blocks of keys that hold all cells which the band of the rule allows."""
    step = max(_TILE_CELLS // (call.heads * _TILE_KEYS), 1)
    for start in range(0, call.rule.queries, step):
        stop = min(start + step, call.rule.queries)
        low, high = call.rule.key_range(start, stop)
        for left in range(low, high, _TILE_KEYS):
            yield (start, stop), (left, min(left + _TILE_KEYS, high))


def _weights(call: AttentionCall, rows: Range, columns: Range) -> torch.Tensor:
    """The weights of a tile, [head, query, key]; 0 where forbidden and in rows that are absent."""
    assert call.logsumexp is not None
    scores = _scores(call, rows, columns)
    weights = torch.exp(scores - call.logsumexp[0, :, slice(*rows), None])
    return weights.masked_fill(scores == -torch.inf, 0.0)


def _scores(call: AttentionCall, rows: Range, columns: Range) -> torch.Tensor:
    """The scores of a tile, [head, query, key]; -inf where forbidden."""
    tile = part_of(call, rows, columns)
    if call.softcap is not None or call.bias is not None or not tile.rule.allows_everything:
        return call.scores(slice(*rows), slice(*columns))[0]
    # Heads that share keys stand beside each other and meet them in one product: no key is repeated.
    grouped = by_key_head(tile.query * call.scale, call)[0].flatten(1, 2)
    return (grouped @ tile.key[0].transpose(-1, -2)).view(call.heads, rows[1] - rows[0], columns[1] - columns[0])
