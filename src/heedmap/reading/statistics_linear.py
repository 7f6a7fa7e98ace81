"""Everything that is linear in a row's weights, from one more attention call with other values.

The values are the keys themselves (for the entropy), the positions (for the distance) and a column that marks special
tokens, beside each other, so that each score is formed once.

Entropy: H = log-sum-exp - E[score], and the mean score of a row is the score of its mean key. Keys are taken around
their head's mean first, see `centred`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch.nn.functional import pad

from heedmap.reading.call import AttentionCall
from heedmap.reading.statistics_call import Range, part_of

_BLOCK_QUERIES = 1024
"""Queries a block of an unmasked call holds.

Positions are counted from the start of their block, so that rounding is that of a thousand places and not of the whole
text where a head looks nearby. Blocks of 1,024 cost no time; of 512 they cost a quarter more.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Blended:
    """What a call with other values yields, all over the real keys alone, without a learned sink, [head, query].

    Attributes:
        logsumexp: of each row of scores.
        entropy: in nats; None when it was not asked for.
        distance: how many places back the row looks on average.
        special: the share on special tokens.
    """

    logsumexp: torch.Tensor
    entropy: torch.Tensor | None
    distance: torch.Tensor | None
    special: torch.Tensor | None


def blend(call: AttentionCall, *, entropy: bool, distance: bool, special: torch.Tensor | None) -> Blended:
    """Run the call once more over keys, positions and marks as values, by blocks of queries.

    Args:
        call: one text, whose scores are products (`is_linear`).
        entropy: whether the entropy is wanted.
        distance: whether the mean distance is wanted.
        special: [key] bool, the tokens whose share is wanted.
    """
    call = replace(call, sinks=None)
    values, position, mark = _values(call, entropy, distance, special)
    columns = torch.arange(call.rule.keys, device=values.device, dtype=values.dtype)
    own_key = call.rule.query_offset - call.rule.key_offset
    sums, entropies, distances, marked = [], [], [], []
    for rows, pieces in _blocks(call):
        if position is not None:
            values[..., position] = columns - (rows[0] + own_key)
        output, logsumexp = _merged(call, values, rows, pieces)
        sums.append(logsumexp)
        if entropy:
            query = call.query[0, :, slice(*rows)]
            mean_score = (query * output[..., : query.shape[-1]]).sum(-1) * call.scale
            entropies.append(logsumexp - mean_score)
        if position is not None:
            distances.append(torch.arange(output.shape[1], device=output.device) - output[..., position])
        if mark is not None:
            marked.append(output[..., mark])
    return Blended(
        torch.cat(sums, -1),
        torch.cat(entropies, -1) if entropy else None,
        torch.cat(distances, -1) if position is not None else None,
        torch.cat(marked, -1) if mark is not None else None,
    )


def _values(
    call: AttentionCall, entropy: bool, distance: bool, special: torch.Tensor | None
) -> tuple[torch.Tensor, int | None, int | None]:
    """The columns side by side, [1, key_value_head, key, column], and where positions and marks stand."""
    keys = call.key if entropy else call.key[..., :0]
    place = keys.shape[-1]
    width = place + distance + (special is not None)
    # Other devices' kernels want rows aligned to 16 bytes; on the CPU each further column costs.
    room = width if keys.device.type == "cpu" else -(-width // 8) * 8
    # A key that is no number has no weight in the rows that are, and 0 x nan would be nan.
    values = pad(torch.nan_to_num(keys, nan=0.0), (0, room - place))
    if special is not None:
        values[..., width - 1] = special.to(values.dtype)
    return values, place if distance else None, width - 1 if special is not None else None


def _blocks(call: AttentionCall) -> Iterator[tuple[Range, list[Range]]]:
    """Blocks of queries, each with the slices of keys it reaches; a causal block's last slice is its own triangle."""
    rule = call.rule
    if not rule.is_full_causal and not rule.allows_everything:
        for start, stop, low, high in call.blocks():
            yield (start, stop), [(low, high)]
        return
    for start in range(0, rule.queries, _BLOCK_QUERIES):
        stop = min(start + _BLOCK_QUERIES, rule.queries)
        if rule.allows_everything:
            yield (start, stop), [(0, rule.keys)]
        else:
            yield (start, stop), [(0, start), (start, stop)] if start else [(start, stop)]


def _merged(
    call: AttentionCall, values: torch.Tensor, rows: Range, pieces: list[Range]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output [head, query, column] and log-sum-exp [head, query] of a block of queries over one or two slices."""
    results = [part_of(call, rows, piece).compute(values[:, :, slice(*piece)]) for piece in pieces]
    output, logsumexp = results[0]
    for further, of_further in results[1:]:
        total = torch.logaddexp(logsumexp, of_further)
        output = output * torch.exp(logsumexp - total).unsqueeze(-1)
        output = output + further * torch.exp(of_further - total).unsqueeze(-1)
        logsumexp = total
    return output[0], logsumexp[0]
