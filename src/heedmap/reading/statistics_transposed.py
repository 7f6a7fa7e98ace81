"""The attention that each token receives: the column sums of a map, from one more attention call that is transposed.

With keys as queries and queries as keys, and each row's -log-sum-exp added to its scores, exp of that call's own
log-sum-exp is the column sum. Both are taken in reverse order, so that causal stays causal and a window stays itself;
the -log-sum-exp rides on one further dimension of the product: 1/scale on one side, the number on the other.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_call import by_key_head, is_linear
from heedmap.reading.statistics_tiles import column_sums_by_tiles

_NOTHING = -1e30
"""The score of a query that does not count: exp of it is 0, and float32 can still add to it."""


def column_sums(call: AttentionCall, counted: torch.Tensor) -> torch.Tensor:
    """The sum of the weights that each key gets, [head, key].

    Scores that are more than products, and masks that are more than a band, go by tiles.

    Args:
        call: one text, with its log-sum-exp.
        counted: [head|1, query] bool, False for padding and for rows that may look at nothing.
    """
    if not is_linear(call) or not call.rule.is_band_and_padding:
        return column_sums_by_tiles(call, counted)
    transposed = _transposed(call, counted)
    _, logsumexp = transposed.compute(transposed.key)
    return torch.exp(logsumexp[0].flip(-1))


def _transposed(call: AttentionCall, counted: torch.Tensor) -> AttentionCall:
    """The call whose queries are the keys and whose keys are the queries, both in reverse order."""
    assert call.logsumexp is not None
    dim = call.key.shape[-1]
    # Other devices' kernels want rows aligned to 16 bytes; on the CPU each further column costs.
    room = dim + 1 if call.key.device.type == "cpu" else -(-(dim + 1) // 8) * 8
    # The kernels want a key head for each query head at most, so that here the shared keys are repeated.
    queries = call.key.new_zeros((1, call.heads, call.rule.keys, room))
    by_key_head(queries, call)[..., :dim] = call.key.flip(-2).unsqueeze(2)
    queries[..., dim] = 1 / call.scale
    keys = call.query.new_zeros((1, call.heads, call.rule.queries, room))
    # A query that does not count may hold what is not a number.
    counting = call.query if counted.all() else call.query.masked_fill(~counted[None, ..., None], 0.0)
    keys[..., :dim] = counting.flip(-2)
    keys[..., dim] = torch.where(counted, -call.logsumexp[0], _NOTHING).flip(-1)
    return AttentionCall(query=queries, key=keys, rule=_transposed_rule(call.rule), scale=call.scale)


def _transposed_rule(rule: MaskRule) -> MaskRule:
    """The band with both orders reversed: it reaches as far back and ahead as before, from the other ends."""
    after_the_queries = rule.key_offset + rule.keys - rule.query_offset - rule.queries
    return replace(
        rule,
        queries=rule.keys,
        keys=rule.queries,
        query_offset=0,
        key_offset=after_the_queries,
        present=None,
    )
