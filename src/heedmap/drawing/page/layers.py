"""One layer as the page carries it: its weights, or queries and keys, whichever is smaller and exact enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from heedmap.drawing.page.blocks import Part
from heedmap.drawing.page.rules import PageRule, page_rule
from heedmap.drawing.page.vectors import value_part, vectors
from heedmap.reading.call import AttentionCall

WORST_FROM_VECTORS = 5e-3
"""How far a weight computed from queries and keys in float16 may be off; else they are sent in float32."""

_EXACT_STEPS = 1 << 20
"""Up to this many bytes, the queries, keys and values of a layer whose steps unfold are sent in float32."""

PRECISIONS = ("float16", "float32")


@dataclass(frozen=True, slots=True, eq=False)
class EncodedLayer:
    """One layer for the page.

    Attributes:
        info: what the page says about it: `LayerInfo` of viewer/src/data/types.ts, and what decoding needs.
        rule: which cells may be looked at.
        parts: its numbers.
    """

    info: dict[str, Any]
    rule: PageRule
    parts: list[Part] = field(repr=False)


def encode_layer(number: int, call: AttentionCall, *, precision: str = "float16", steps: bool = False) -> EncodedLayer:
    """One layer in the smaller of the two forms that is exact enough.

    Args:
        number: the layer, from 0.
        call: its attention call, with an exact log-sum-exp; with its values where the steps are wanted.
        precision: "float16", or "float32" for everything.
        steps: whether queries, keys and values are sent whatever their size, so that the four steps unfold.
    """
    rule = page_rule(call.rule, call.query.device)
    if steps:
        return _with_vectors(number, call, rule, _steps_precision(call, precision), steps=True)
    if has_bias(call) or weights_size(call, rule, precision) <= vectors_size(call, precision):
        return _with_weights(number, call, rule, precision)
    encoded = _with_vectors(number, call, rule, precision, steps=False)
    if encoded.info["precision"] != precision and weights_size(call, rule, "float16") <= vectors_size(call, "float32"):
        return _with_weights(number, call, rule, precision)
    return encoded


def has_bias(call: AttentionCall) -> bool:
    """Whether numbers are added to the scores, one for each cell."""
    return call.bias is not None or call.rule.bias_is_added


def weights_size(call: AttentionCall, rule: PageRule, precision: str) -> int:
    """Bytes of the weights of all allowed cells, before compression."""
    return rule.cells(call.heads) * _bytes(precision)


def vectors_size(call: AttentionCall, precision: str, *, values: bool = False) -> int:
    """Bytes of the queries and keys (and values), and the log-sum-exp of every row, before compression."""
    numbers = call.query[0].numel() + call.key[0].numel()
    if values and call.value is not None:
        numbers += call.value[0].numel()
    return numbers * _bytes(precision) + 4 * call.heads * call.rule.queries


def _bytes(precision: str) -> int:
    return 2 if precision == "float16" else 4


def _steps_precision(call: AttentionCall, precision: str) -> str:
    """Float32 where that is cheap: what is worked again by hand should meet the model's own numbers."""
    return "float32" if vectors_size(call, "float32", values=True) <= _EXACT_STEPS else precision


def layer_info(number: int, call: AttentionCall, rule: PageRule) -> dict[str, Any]:
    """What both forms say of a layer."""
    return {
        "number": number,
        "heads": call.heads,
        "keyValueHeads": call.key_value_heads,
        "window": None if rule.back is None else rule.back + 1,
        "causal": rule.is_causal,
        "hasSink": call.sinks is not None,
    }


def _with_weights(number: int, call: AttentionCall, rule: PageRule, precision: str) -> EncodedLayer:
    """The weights of the allowed cells, head by head and row by row, and each row's share on a learned sink.

    In float16 a weight is off by at most 2.4e-4, half a step between 0.5 and 1.
    """
    dtype = np.float16 if precision == "float16" else np.float32
    allowed = rule.allowed()
    rows, worst = [], 0.0
    for head in range(call.heads):
        exact = call.weights(slice(None), slice(None), slice(head, head + 1))[0, 0].double().cpu().numpy()
        exact = exact[allowed[head if len(allowed) > 1 else 0]]
        rounded = exact.astype(dtype)
        if len(exact):
            worst = max(worst, float(np.nan_to_num(np.abs(rounded - exact)).max()))
        rows.append(rounded)
    parts = [Part("weights", np.concatenate(rows))]
    share = call.sink_share(slice(None))
    if share is not None:
        parts.append(Part("sinkShare", share[0].float().cpu().numpy()))
    info = {"carries": "weights", "precision": precision, "worst": worst, "hasSteps": False}
    return EncodedLayer(layer_info(number, call, rule) | info, rule, parts)


def _with_vectors(number: int, call: AttentionCall, rule: PageRule, precision: str, *, steps: bool) -> EncodedLayer:
    """Queries and keys, and what else a score is made of; the values as well where the steps unfold."""
    found = vectors(call, precision)
    if found is None or (found.worst > WORST_FROM_VECTORS and precision == "float16"):
        precision = "float32"
        found = vectors(call, precision)
    assert found is not None
    parts = list(found.parts)
    if call.sinks is not None:
        sinks = call.sinks[0].float().cpu()
        parts.append(Part("sinks", sinks.expand(call.heads, call.rule.queries).numpy()))
    if has_bias(call):
        parts.append(Part("bias", _bias_cells(call, rule)))
    if steps and call.value is not None:
        parts.append(value_part(call.value, precision))
    info = {
        "carries": "queries and keys",
        "precision": precision,
        "worst": found.worst,
        "hasSteps": steps and call.value is not None,
        "scale": call.scale,
        "softcap": call.softcap,
    }
    return EncodedLayer(layer_info(number, call, rule) | info, rule, parts)


def _bias_cells(call: AttentionCall, rule: PageRule) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What is added to the scores of the allowed cells, head by head and row by row."""
    device = call.query.device
    rows, columns = torch.arange(rule.queries, device=device), torch.arange(rule.keys, device=device)
    total = torch.zeros(1, call.heads, rule.queries, rule.keys, device=device)
    for bias in (call.rule.bias(rows, columns), call.bias):
        if bias is not None:
            total = total + bias.float()
    allowed = np.broadcast_to(rule.allowed(), (call.heads, rule.queries, rule.keys))
    cells: np.ndarray[Any, np.dtype[np.float32]] = total[0].cpu().numpy()[allowed]
    return cells
