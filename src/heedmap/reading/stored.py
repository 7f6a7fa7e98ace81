"""What the file of a saved reading must hold before it is believed: the form of its header, and sizes that fit."""

from __future__ import annotations

import math
from typing import Any

import torch

from heedmap.json_form import Every, Maybe, Only, check_form
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import AttentionLayer

_NOTHING = type(None)
_TOKEN = Only(
    {
        "index": int,
        "id": int,
        "text": str,
        "start": (int, _NOTHING),
        "end": (int, _NOTHING),
        "special": bool,
        "unknown": bool,
        "label": str,
    }
)
_LAYER = Only(
    {
        "number": int,
        "module": str,
        "heads": int,
        "key_value_heads": int,
        "stack": Maybe(str),
        "call": Maybe(int),
        "parts": Maybe(int),
    }
)
_RULE = Only(
    {
        "queries": int,
        "keys": int,
        "query_offset": int,
        "key_offset": int,
        "back": (int, _NOTHING),
        "ahead": (int, _NOTHING),
    }
)
_READING = {
    "model": {"name": str, "class": str, "dtype": str, "layers": int, "heads": int, "key_value_heads": int},
    "text": str,
    "cut_off": int,
    "tokens": [_TOKEN],
    "layers": [_LAYER],
    "calls": Every({"scale": float, "softcap": (float, _NOTHING), "rule": _RULE}),
    "candidates": [Only({"id": int, "text": str, "probability": (float, _NOTHING)})],
}


def check_header(header: dict[str, Any]) -> None:
    """Refuse a header of another form, or with tokens, layers or numbers that no reading has.

    Raises:
        ValueError: it is not of the form (the message says where), or contradicts itself.
    """
    check_form(header, _READING, "its header", ValueError)
    _check_tokens(header)
    numbers = [layer["number"] for layer in header["layers"]]
    if len(set(numbers)) < len(numbers) or min(numbers, default=0) < 0:
        raise ValueError(f"its layers are numbered {numbers}")
    if any(layer["heads"] < 1 or layer["key_value_heads"] < 1 for layer in header["layers"]):
        raise ValueError("a layer has no heads")
    unknown = sorted(set(header["calls"]) - {str(number) for number in numbers})
    if unknown:
        raise ValueError(f"it holds the layer {unknown[0]!r}, which is not among its layers")
    for name, call in header["calls"].items():
        rule = call["rule"]
        if any(rule[size] is not None and rule[size] < 0 for size in ("query_offset", "key_offset", "back", "ahead")):
            raise ValueError(f"layer {name}: a mask of negative sizes")
        if call["softcap"] is not None and call["softcap"] <= 0:
            raise ValueError(f"layer {name}: the softcap is {call['softcap']}")


def _check_tokens(header: dict[str, Any]) -> None:
    """Tokens stand in order, within the text."""
    size = len(header["text"])
    if header["cut_off"] < 0:
        raise ValueError("a negative number of tokens was cut off")
    for index, token in enumerate(header["tokens"]):
        start, end = token["start"], token["end"]
        if token["index"] != index:
            raise ValueError(f"token {index} says that it is token {token['index']}")
        if (start is None) != (end is None) or (start is not None and not 0 <= start <= end <= size):
            raise ValueError(f"token {index} stands at {start} to {end} of {size} characters")
    said = [candidate["probability"] for candidate in header["candidates"]]
    if any(probability is not None and not 0 <= probability <= 1 + 1e-6 for probability in said):
        raise ValueError("a probability is not between 0 and 1")


def check_call(call: AttentionCall, layer: AttentionLayer, length: int, looked_at: int) -> None:
    """Refuse tensors whose sizes and kinds contradict each other, or what the header says.

    Raises:
        ValueError: naming the layer.
    """
    where = f"layer {layer.number}"
    parts = [call.query, call.key, call.logsumexp, call.value, call.output, call.bias, call.sinks]
    if not all(part is None or part.is_floating_point() for part in parts):
        raise ValueError(f"{where}: its tensors are no numbers with a point")
    if call.query.ndim != 4 or call.key.ndim != 4:
        raise ValueError(f"{where}: query {tuple(call.query.shape)} and key {tuple(call.key.shape)}")
    batch, heads, queries, dim = call.query.shape
    key_value_heads, keys = call.key.shape[1:3]
    expected = (1, layer.heads, length, layer.key_value_heads, looked_at)
    if (batch, heads, queries, key_value_heads, keys) != expected or call.key.shape[::3] != (1, dim):
        raise ValueError(f"{where}: query {tuple(call.query.shape)} and key {tuple(call.key.shape)}")
    if call.logsumexp is None or call.logsumexp.shape != call.query.shape[:3]:
        raise ValueError(f"{where}: the log-sum-exp does not fit its queries")
    if (call.rule.queries, call.rule.keys) != (queries, keys) or heads % key_value_heads:
        raise ValueError(f"{where}: the mask does not fit its queries and keys")
    _check_added(call, where)


def _check_added(call: AttentionCall, where: str) -> None:
    """What a call may hold beside query and key."""
    batch, heads, queries, _ = call.query.shape
    keys = call.key.shape[2]
    if call.value is not None and (call.value.ndim != 4 or call.value.shape[:3] != call.key.shape[:3]):
        raise ValueError(f"{where}: the values do not fit the keys")
    if call.output is not None and (call.output.ndim != 4 or call.output.shape[:3] != call.query.shape[:3]):
        raise ValueError(f"{where}: the output does not fit the queries")
    if (call.value is None) != (call.output is None) or (
        call.value is not None and call.output is not None and call.value.shape[3] != call.output.shape[3]
    ):
        raise ValueError(f"{where}: values and output do not belong together")
    if call.bias is not None:
        _broadcasts(call.bias, (batch, heads, queries, keys), f"{where}: the bias")
    if call.sinks is not None:
        _broadcasts(call.sinks, (batch, heads, queries), f"{where}: the sinks")
    if not math.isfinite(call.scale):
        raise ValueError(f"{where}: the scale is {call.scale}")


def _broadcasts(tensor: torch.Tensor, shape: tuple[int, ...], what: str) -> None:
    """Refuse a tensor that does not stretch to a shape."""
    fits = tensor.ndim == len(shape) and all(own in (1, whole) for own, whole in zip(tensor.shape, shape, strict=True))
    if not fits:
        raise ValueError(f"{what} of shape {tuple(tensor.shape)} does not fit {shape}")


def check_logits(logits: torch.Tensor | None) -> None:
    """Refuse what are no logits of one position, [vocabulary]."""
    if logits is not None and (logits.ndim != 1 or not logits.is_floating_point() or not len(logits)):
        raise ValueError(f"the logits have the shape {tuple(logits.shape)}")
