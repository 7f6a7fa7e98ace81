"""Queries and keys as the page carries them: rounded about their mean, and checked against the model's own weights.

Softmax does not see what all keys of a head have in common, and float16 keeps eleven bits of whatever it is given: the
mean over the tokens is taken off first and sent apart in float32, so that all the bits go to what tells tokens apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from heedmap.drawing.page.blocks import Numbers, Part
from heedmap.reading.call import AttentionCall

_LARGEST_HALF = 6e4
"""What float16 can still hold, with room for rounding."""

_CHECKED_CELLS = 1 << 24
"""Weights of a layer that are compared with the model's; of a longer text, rows spread evenly over it."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Queries and keys of one layer.

    Attributes:
        parts: "query", "key", their means "queryCentre" and "keyCentre" where they were taken off, and "logsumexp".
        worst: the largest difference found between a weight computed from them and the model's own.
    """

    parts: list[Part]
    worst: float


def vectors(call: AttentionCall, precision: str) -> Vectors | None:
    """Queries, keys and the log-sum-exp of every row; None where float16 cannot hold them.

    Args:
        call: the attention call of one text, with an exact log-sum-exp.
        precision: "float16" or "float32".
    """
    query, key = call.query[0].float(), call.key[0].float()
    if precision == "float32":
        assert call.logsumexp is not None
        return Vectors(
            [Part("query", _numpy(query)), Part("key", _numpy(key)), Part("logsumexp", _numpy(call.logsumexp[0]))],
            worst=_difference(call, replace(call, query=query[None], key=key[None])) + _rounding(call),
        )
    query_half, query_centre = _halved(query)
    key_half, key_centre = _halved(key)
    if max(_largest(query_half), _largest(key_half)) > _LARGEST_HALF:
        return None
    rounded = _normalised(
        replace(
            call,
            query=(query_half.half().float() + query_centre)[None],
            key=(key_half.half().float() + key_centre)[None],
        )
    )
    assert rounded.logsumexp is not None
    parts = [
        Part("query", _numpy(query_half.half())),
        Part("key", _numpy(key_half.half())),
        Part("queryCentre", _numpy(query_centre[:, 0])),
        Part("keyCentre", _numpy(key_centre[:, 0])),
        Part("logsumexp", _numpy(rounded.logsumexp[0])),
    ]
    return Vectors(parts, _difference(call, rounded) + _rounding(call))


def value_part(value: torch.Tensor, precision: str) -> Part:
    """The values of a layer; in float32 where float16 cannot hold them."""
    numbers = value[0].float()
    fits = precision == "float16" and _largest(numbers) <= _LARGEST_HALF
    return Part("value", _numpy(numbers.half() if fits else numbers))


def _halved(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What is left of each token's vector, and the mean that was taken off, [head, 1, dim]."""
    known = numbers.isfinite().all(-1, keepdim=True)
    count = known.sum(1, keepdim=True).clamp(min=1)
    centre = numbers.masked_fill(~known, 0.0).sum(1, keepdim=True) / count
    return numbers - centre, centre


def _largest(numbers: torch.Tensor) -> float:
    finite = numbers[numbers.isfinite()]
    return float(finite.abs().max()) if len(finite) else 0.0


def _normalised(call: AttentionCall) -> AttentionCall:
    """The call with the log-sum-exp of its own query and key, so that its rows add up to 1."""
    nothing = call.key.new_zeros(*call.key.shape[:-1], call.query.shape[-1])
    _, logsumexp = replace(call, bias=None if call.bias is None else call.bias.float()).compute(nothing)
    return replace(call, logsumexp=logsumexp)


def _difference(call: AttentionCall, other: AttentionCall) -> float:
    """The largest difference of a weight between two calls: all of it, or rows spread over a longer text."""
    queries, keys = call.rule.queries, call.rule.keys
    step = max(call.heads * queries * keys // _CHECKED_CELLS, 1)
    worst = 0.0
    for row in _rows(queries, step):
        found = call.weights(row, slice(None)) - other.weights(row, slice(None))
        worst = max(worst, float(found.abs().nan_to_num(0.0).max()))
    return worst


def _rounding(call: AttentionCall) -> float:
    """How far two ways of adding up a product in float32 may lie apart in a weight: four roundings of a score."""
    assert call.logsumexp is not None
    return 4 * float(torch.finfo(torch.float32).eps) * max(_largest(call.logsumexp), 1.0)


def _rows(queries: int, step: int) -> list[slice]:
    """Every row in slices of 64, or single rows `step` apart, the last one among them."""
    if step == 1:
        return [slice(start, min(start + 64, queries)) for start in range(0, queries, 64)]
    return [slice(row, row + 1) for row in range(queries - 1, -1, -step)]


def _numpy(tensor: torch.Tensor) -> Numbers:
    numbers: NDArray[np.float16] | NDArray[np.float32] = tensor.cpu().numpy()
    return numbers
