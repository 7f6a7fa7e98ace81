"""What a model in training mode says: its weights are dropped at random before they blend the values."""

from __future__ import annotations

import torch
from torch.nn.functional import dropout, scaled_dot_product_attention

from heedmap.reading.call import AttentionCall


def drop_out(
    call: AttentionCall, value: torch.Tensor, mask: torch.Tensor | None, share: float, loaded_eager: bool
) -> torch.Tensor:
    """The output of an attention call in training mode, made as the model would have made it.

    So that the same random numbers are drawn and the output is the same for the same seed, it is made by torch's own
    function, and for what that does not know, and for models loaded with eager attention, from the whole map.

    Args:
        call: the attention call, with its gradients.
        value: [batch, key_value_head, key, value_dim].
        mask: the mask that reached the call, None where it was left to the call.
        share: the share of weights to drop, above 0.
        loaded_eager: whether the model was loaded with eager attention.

    Returns:
        [batch, head, query, value_dim].
    """
    rule = call.rule
    if not loaded_eager and call.softcap is None and call.bias is None and call.sinks is None:
        plain = mask is None or rule.is_full_causal or rule.allows_everything
        return scaled_dot_product_attention(
            call.query,
            call.key,
            value,
            attn_mask=None if plain or mask is None else mask[..., : rule.keys],
            dropout_p=share,
            is_causal=plain and rule.is_causal and rule.queries > 1,
            scale=call.scale,
            enable_gqa=call.heads != call.key_value_heads,
        )
    scores = call.scores(slice(None), slice(None))
    if call.sinks is not None:
        sinks = call.sinks.to(scores.dtype).expand(scores.shape[:3]).unsqueeze(-1)
        scores = torch.cat([scores, sinks], -1)
    absent = (scores == -torch.inf).all(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(absent, 0.0), -1).masked_fill(absent, 0.0)
    dropped = dropout(weights[..., : rule.keys].to(value.dtype), share)
    repeats = call.heads // call.key_value_heads
    return dropped @ value.repeat_interleave(repeats, 1)
