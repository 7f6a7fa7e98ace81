"""What the file of a saved reading must hold before it is believed: each field, each tensor, and all beside each other.

A file is refused where no reading could say what it says. The checksum finds accidents; someone who means harm writes
the right one, so nothing here relies on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import torch

from heedmap.json_form import Every, Maybe, Only, check_form
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import CROSS, DECODER, ENCODER, TEXT, VISION, AttentionLayer
from heedmap.reading.rule import MaskRule

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
_MODEL = {"name": str, "class": str, "dtype": str, "layers": int, "heads": int, "key_value_heads": int}
_MODEL_MORE = {
    "kind": str,
    "location": (str, _NOTHING),
    "revision": (str, _NOTHING),
    "sha256": (str, _NOTHING),
    "tokenizer": (str, _NOTHING),
    "device": str,
    "stack": str,
    "weights_from": str,
    "dropout": float,
    "layers_without_attention": Every(str),
    "padding": Only({"side": str, "texts": int, "tokens": int}),
    "tensor_parallel": Only({"rank": int, "processes": int, "heads": int, "first_head": int}),
    "edits": [
        Only(
            {
                "edit": str,
                "stack": Maybe(str),
                "layer": Maybe(int),
                "head": Maybe(int),
                "by": Maybe(str),
                "texts": Maybe(int),
                "tokens": Maybe(int),
                "text": Maybe(str),
                "note": Maybe(str),
                "of": Maybe([str]),
                "at": Maybe([str]),
                "layers": Maybe([int]),
                "heads": Maybe([int]),
            }
        )
    ],
}
"""What the model's JSON holds only where it applies; null is something else than missing there."""

_READING = {
    "model": _MODEL,
    "text": str,
    "cut_off": int,
    "tokens": [_TOKEN],
    "layers": [_LAYER],
    "calls": Every({"scale": float, "softcap": (float, _NOTHING), "rule": _RULE}),
    "candidates": [Only({"id": int, "text": str, "probability": (float, _NOTHING)})],
}
_STACKS = ("", ENCODER, DECODER, CROSS, TEXT, VISION)

_MOST = 1 << 16
"""More layers, heads, or calls and parts of a layer than any model has."""

_FURTHEST = 1 << 61
"""Places in a text are below this, so that sums of a few of them are whole numbers of 64 bits."""

_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What breaks a line, drives a terminal or turns a text around: labels have it written out."""

_NUMBERS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
"""What attention is computed in."""

_CHECKED_CELLS = 1 << 21
"""Weights of a layer that are added up at opening: all of a short text, a few milliseconds' worth of a long one."""

_BLOCK_ROWS = 64
"""Rows of an explicit mask that are compared with its band at once."""


def check_header(header: dict[str, Any], stack: str | None = None) -> None:
    """Refuse a header of another form, or with tokens, layers or numbers that no reading has.

    Args:
        header: of one stack of layers.
        stack: the stack that it must be of; None for a file of one stack alone.

    Raises:
        ValueError: it is not of the form (the message says where), or contradicts itself.
    """
    check_form(header, _READING, "its header", ValueError)
    _check_tokens(header)
    layers = layers_of(header)
    _check_model(header["model"], layers)
    _check_layers(layers)
    _check_stack(header["model"], layers[0].stack, stack)
    unknown = sorted(set(header["calls"]) - {str(layer.number) for layer in layers})
    if unknown:
        raise ValueError(f"it holds the layer {unknown[0]!r}, which is not among its layers")
    if not header["calls"] and stack is None:  # of an encoder-decoder, one stack may have been read alone
        raise ValueError("it holds no layer")
    for name, call in header["calls"].items():
        if call["softcap"] is not None and call["softcap"] <= 0:
            raise ValueError(f"layer {name}: the softcap is {call['softcap']}")


def _check_tokens(header: dict[str, Any]) -> None:
    """There are tokens, they stand in order within the text, and stand for what they say."""
    text, before = header["text"], 0
    if not header["tokens"]:
        raise ValueError("it holds no token")
    if not 0 <= header["cut_off"] < _FURTHEST:
        raise ValueError(f"{header['cut_off']} tokens were cut off")
    for index, token in enumerate(header["tokens"]):
        start, end = token["start"], token["end"]
        if token["index"] != index:
            raise ValueError(f"token {index} says that it is token {token['index']}")
        if token["id"] < 0:
            raise ValueError(f"token {index} has the number {token['id']} in the vocabulary")
        if not token["label"] or _STEERING.search(token["label"]):
            raise ValueError(f"token {index} has a label that is empty or holds control characters")
        if (start is None) != (end is None) or (start is not None and not 0 <= start <= end <= len(text)):
            raise ValueError(f"token {index} stands at {start} to {end} of {len(text)} characters")
        if start is None or token["special"]:
            continue  # a marker has a name instead of a text, and some tokenizers place it with the space before it
        if start < before:
            raise ValueError(f"token {index} stands at {start}, before the token before it")
        if token["text"] != text[start:end]:
            raise ValueError(f"token {index} says that it is {token['text']!r} where {text[start:end]!r} stands")
        before = start


def layers_of(header: dict[str, Any]) -> tuple[AttentionLayer, ...]:
    """The layers that a header of the right form lists; what is null is as if it were not there."""
    return tuple(
        AttentionLayer(**{name: one for name, one in layer.items() if one is not None}) for layer in header["layers"]
    )


def _check_model(model: dict[str, Any], layers: tuple[AttentionLayer, ...]) -> None:
    """What the model's JSON says is of the right form, and fits the layers."""
    unknown = sorted(set(model) - set(_MODEL) - set(_MODEL_MORE))
    if unknown:
        raise ValueError(f"its model holds {unknown[0]!r}, which is not known there")
    check_form(model, {name: form for name, form in _MODEL_MORE.items() if name in model}, "its model", ValueError)
    # The decoder's look at the source belongs to its own layers.
    counted = sum(layer.stack != CROSS for layer in layers) or len(layers)
    if not layers or model["layers"] != counted:
        raise ValueError(f"its model has {model['layers']} layers, and it lists {counted}")
    if (model["heads"], model["key_value_heads"]) != (layers[0].heads, layers[0].key_value_heads):
        raise ValueError("its model has other heads than its first layer")
    if not 0 <= model.get("dropout", 0.0) <= 1:
        raise ValueError(f"its model dropped out {model['dropout']} of the weights")
    numbers = [*model.get("padding", {}).values(), *model.get("tensor_parallel", {}).values()]
    if any(isinstance(number, int) and number < 0 for number in numbers):
        raise ValueError("its model was padded, or shared out, by a negative number")


def _check_layers(layers: tuple[AttentionLayer, ...]) -> None:
    """Every layer has a number, and a call of a module, that no other has, and heads that can share keys."""
    if len({layer.number for layer in layers}) < len(layers):
        raise ValueError(f"its layers are numbered {[layer.number for layer in layers]}")
    if len({(layer.module, layer.call) for layer in layers}) < len(layers):
        raise ValueError("two of its layers are one call of one module")
    for layer in layers:
        where = f"layer {layer.number}"
        least = {"number": 0, "heads": 1, "key_value_heads": 1, "call": 0, "parts": 1}
        for name, lowest in least.items():
            if not lowest <= getattr(layer, name) < _MOST:
                raise ValueError(f"{where}: its {name} is {getattr(layer, name)}")
        if layer.heads % layer.key_value_heads:
            raise ValueError(f"{where}: {layer.heads} heads cannot share {layer.key_value_heads} key-value heads")
        if layer.stack != layers[0].stack or layer.stack not in _STACKS:
            raise ValueError(f"{where} is of the stack {layer.stack!r}")


def _check_stack(model: dict[str, Any], held: str, wanted: str | None) -> None:
    """What the model and the layers say of the stack is the same, and the one that is looked for."""
    said = model.get("stack")
    if said is not None and said != held:
        raise ValueError(f"its model is of the stack {said!r}, and its layers of {held!r}")
    if wanted is None and held == CROSS:
        raise ValueError("it holds cross-attention without the text that is looked at")
    if wanted is not None and (said, held) != (wanted, wanted):
        raise ValueError(f"its {wanted} is of the stack {held!r}")


def check_names(names: Mapping[str, Any], calls: Mapping[str, Any], parts: tuple[str, ...]) -> None:
    """Refuse tensors that belong to no layer that is held.

    Raises:
        ValueError: naming one.
    """
    known = {f"{number}.{part}" for number in calls for part in parts} | {"logits"}
    unknown = sorted(set(names) - known)
    if unknown:
        raise ValueError(f"it holds a tensor {unknown[0]!r}, which belongs to no layer that it holds")


def check_rule(rule: MaskRule, layer: int, length: int, looked_at: int, same_text: bool) -> None:
    """Refuse a band that no mask of a model is.

    What makes rules (`lazy_mask`, `tap`) counts queries and keys by their places in one text: the first query stands
    at `query_offset` and the first key at `key_offset`. A cache holds the keys of earlier tokens, and a sliding one
    has let the oldest go, so that both may be more than 0; but a token's own key is added before its query looks. So
    of one text the places of the queries lie among those of the keys, and no window leaves a row without a key.
    Cross-attention has two texts, whose places are both counted from 0. What the padding, a cut or a pattern forbids
    is no band: it is in the table.

    Args:
        rule: the band.
        layer: its number, for the message.
        length: how many tokens ran.
        looked_at: how many tokens are looked at.
        same_text: whether the tokens that are looked at are those of the text that ran, and of its past.

    Raises:
        ValueError: saying which numbers.
    """
    where = f"layer {layer}"
    if (rule.queries, rule.keys) != (length, looked_at):
        raise ValueError(f"{where}: a mask of {rule.queries} x {rule.keys} for {length} x {looked_at} tokens")
    for name in ("query_offset", "key_offset", "back", "ahead"):
        size = getattr(rule, name)
        if size is not None and not 0 <= size < _FURTHEST:
            raise ValueError(f"{where}: the {name} of its mask is {size}")
    queries, keys = (
        (start, start + size) for start, size in ((rule.query_offset, length), (rule.key_offset, looked_at))
    )
    if same_text and not (keys[0] <= queries[0] and queries[1] <= keys[1]):
        raise ValueError(f"{where}: its queries stand at {queries}, which is not within its keys at {keys}")
    if not same_text and (queries[0] or keys[0]):
        raise ValueError(f"{where}: cross-attention whose places begin at {queries[0]} and {keys[0]}")
    if not same_text and rule.back is not None and queries[1] - 1 - rule.back >= keys[1]:
        raise ValueError(f"{where}: a window of {rule.back} places back leaves its last queries without a key")


def check_packed(packed: torch.Tensor, layer: AttentionLayer, rule: MaskRule) -> None:
    """Refuse an explicit mask, eight cells to a byte, that does not fit its layer.

    Raises:
        ValueError: naming the layer.
    """
    expected = (rule.queries, -(-rule.keys // 8))
    if packed.dtype != torch.uint8 or packed.ndim != 3 or packed.shape[1:] != expected:
        raise ValueError(f"layer {layer.number}: a mask {packed.dtype} {tuple(packed.shape)} does not fit its tokens")
    if packed.shape[0] not in (1, layer.heads):
        raise ValueError(f"layer {layer.number}: masks of {packed.shape[0]} heads, where it has {layer.heads}")


def check_table(table: torch.Tensor, layer: AttentionLayer, band: MaskRule) -> None:
    """Refuse an explicit mask that allows what its band forbids.

    Raises:
        ValueError: naming the layer.
    """
    columns = torch.arange(band.keys)
    for rows in torch.arange(band.queries).split(_BLOCK_ROWS):
        if (table[:, :, rows] & ~band.allowed(rows, columns)).any():
            raise ValueError(f"layer {layer.number}: its mask allows what its band forbids")


def check_call(call: AttentionCall, layer: AttentionLayer, length: int, looked_at: int) -> None:
    """Refuse tensors whose sizes and kinds contradict each other, or what the header says.

    Raises:
        ValueError: naming the layer.
    """
    where = f"layer {layer.number}"
    for name in ("query", "key", "logsumexp", "bias", "sinks", "value", "output"):
        part = getattr(call, name)
        if part is not None and part.dtype not in _NUMBERS:
            raise ValueError(f"{where}: its {name} is of {part.dtype}, in which attention is not computed")
    if call.query.dtype != call.key.dtype:
        raise ValueError(f"{where}: a query of {call.query.dtype} and a key of {call.key.dtype}")
    shapes = f"query {tuple(call.query.shape)} and key {tuple(call.key.shape)}"
    if call.query.ndim != 4 or call.key.ndim != 4:
        raise ValueError(f"{where}: {shapes}")
    dim = call.query.shape[3]
    if dim < 1 or call.query.shape != (1, layer.heads, length, dim):
        raise ValueError(f"{where}: {shapes}")
    if call.key.shape != (1, layer.key_value_heads, looked_at, dim):
        raise ValueError(f"{where}: {shapes}")
    if call.logsumexp is None or call.logsumexp.shape != call.query.shape[:3]:
        raise ValueError(f"{where}: the log-sum-exp does not fit its queries")
    if call.logsumexp.dtype != call.exact_dtype:
        raise ValueError(f"{where}: a log-sum-exp of {call.logsumexp.dtype} beside a query of {call.query.dtype}")
    if not math.isfinite(call.scale):
        raise ValueError(f"{where}: the scale is {call.scale}")
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
        call.value is not None
        and call.output is not None
        and (call.value.shape[3] != call.output.shape[3] or not call.value.shape[3])
    ):
        raise ValueError(f"{where}: values and output do not belong together")
    if call.bias is not None and (call.bias.ndim != 4 or call.bias.shape[3] != keys):
        raise ValueError(f"{where}: the bias of shape {tuple(call.bias.shape)} does not fit {keys} keys")
    if call.bias is not None:
        _broadcasts(call.bias, (batch, heads, queries, keys), f"{where}: the bias")
    if call.sinks is not None:
        _broadcasts(call.sinks, (batch, heads, queries), f"{where}: the sinks")


def _broadcasts(tensor: torch.Tensor, shape: tuple[int, ...], what: str) -> None:
    """Refuse a tensor that does not stretch to a shape."""
    fits = tensor.ndim == len(shape) and all(own in (1, whole) for own, whole in zip(tensor.shape, shape, strict=True))
    if not fits:
        raise ValueError(f"{what} of shape {tuple(tensor.shape)} does not fit {shape}")


def check_sums(call: AttentionCall, layer: AttentionLayer) -> None:
    """Refuse a call whose rows do not sum to 1: then query, key, scale, mask and log-sum-exp contradict each other.

    All rows of a short text are added up; of a long one the first, those in the middle and the last. A row passes
    that looks with or at what is not a number: its weights are shown as that. So does one that may look at nothing.

    A sum may be off by 0.05: families with attention code of their own round their weights to half precision, whose
    sums are off by up to 0.03. To that comes the rounding of the scores, which grows with the products that they are
    sums of: 1e-5 of the longest query times the longest key, about a hundred roundings of float32, but never more
    than 0.1 in all, or an enormous scale would pass with any sums.

    Raises:
        ValueError: naming the layer and the worst row.
    """
    assert call.logsumexp is not None
    added = [part for part in (call.bias, call.sinks) if part is not None]
    broken = not all(bool(part.isfinite().all()) for part in (call.query, call.key, *added))
    longest = [float(part.double().nan_to_num(0, 0, 0).norm(dim=-1).max()) for part in (call.query, call.key)]
    tolerance = min(0.05 + 1e-5 * longest[0] * longest[1] * abs(call.scale), 0.1)
    for rows in _checked_rows(call):
        expected = torch.logsumexp(call.scores(rows, slice(None)), -1)
        if call.sinks is not None:
            sinks = call.sinks.to(expected.dtype).expand_as(call.logsumexp)[:, :, rows]
            expected = torch.logaddexp(expected, sinks)
        found = call.logsumexp[:, :, rows].to(expected.dtype)
        off = (expected - found).abs().masked_fill(expected == found, 0.0)  # both -inf: the row may look at nothing
        hidden = expected.isnan() & (broken | ~found.isfinite())
        hidden |= (expected == torch.inf) & (found.isnan() | (found == torch.inf))
        wrong = ~(off <= tolerance) & ~hidden
        if wrong.any():
            head, row = wrong[0].nonzero()[0].tolist()
            total = float(torch.exp(expected - found)[0, head, row])
            raise ValueError(
                f"layer {layer.number}: row {row + rows.start} of head {head} sums to {total:.3g}: its query, keys, "
                "scale, mask and log-sum-exp contradict each other"
            )


def _checked_rows(call: AttentionCall) -> list[slice]:
    """The rows to add up, in runs."""
    queries = call.rule.queries
    rows = max(_CHECKED_CELLS // (call.heads * call.rule.keys), 3)
    if queries <= rows:
        return [slice(0, queries)]
    run = rows // 3
    middle = (queries - run) // 2
    return [slice(0, run), slice(middle, middle + run), slice(queries - run, queries)]


def check_odds(candidates: list[dict[str, Any]], logits: torch.Tensor | None) -> None:
    """Refuse what are no logits of one position, [vocabulary], and candidates that are not its most likely tokens.

    A probability may be off by 1e-6: softmax in float64 of the same logits differs by far less between processors.

    Raises:
        ValueError: saying which.
    """
    if logits is None:
        if candidates:
            raise ValueError("it names next tokens, and holds no logits")
        return
    if logits.ndim != 1 or logits.dtype not in _NUMBERS or not len(logits):
        raise ValueError(f"the logits are of {logits.dtype} and the shape {tuple(logits.shape)}")
    ids = [one["id"] for one in candidates]
    if not candidates or len(set(ids)) < len(ids) or not all(0 <= number < len(logits) for number in ids):
        raise ValueError(f"it names {len(ids)} next tokens of {len(logits)}, or one twice, or one that there is not")
    if any(_STEERING.search(one["text"]) for one in candidates):
        raise ValueError("a next token holds control characters")
    probabilities = torch.softmax(logits.double(), -1)
    best = torch.topk(probabilities, len(ids)).values
    said = torch.tensor(
        [math.nan if one["probability"] is None else one["probability"] for one in candidates], dtype=torch.float64
    )
    for expected in (probabilities[ids], best):
        if not torch.allclose(said, expected, rtol=0, atol=1e-6, equal_nan=True):
            raise ValueError("the next tokens that it names are not the most likely ones of its logits")
