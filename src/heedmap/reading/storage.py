"""A reading as one safetensors file: tensors, and a header that says what they are. No model is needed to open it."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from heedmap.errors import FileError, ReadingError
from heedmap.files import write_beside
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.odds import Candidate
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens

SCHEMA = "heedmap/reading/1"

_TENSORS = ("query", "key", "logsumexp", "bias", "sinks", "value", "output")
"""The tensors of a call that a file may hold; the first three always."""


def save(reading: Reading, path: str | os.PathLike[str]) -> None:
    """Write a reading; see `Reading.save`."""
    tensors: dict[str, torch.Tensor] = {}
    calls = {}
    for number in reading.calls:
        call = reading.call(number)
        for name in _TENSORS:
            tensor = getattr(call, name)
            if tensor is not None:
                tensors[f"{number}.{name}"] = tensor.cpu().contiguous()
        rule = call.rule
        calls[str(number)] = {
            "scale": call.scale,
            "softcap": call.softcap,
            "rule": {
                name: getattr(rule, name) for name in ("queries", "keys", "query_offset", "key_offset", "back", "ahead")
            },
        }
        if not rule.is_band:
            tensors[f"{number}.table"] = _packed_table(rule)
    if reading.logits is not None:
        tensors["logits"] = reading.logits.cpu().contiguous()
    header = {
        "schema": SCHEMA,
        "model": reading.model,
        "text": reading.tokens.text,
        "cut_off": reading.tokens.cut_off,
        "tokens": [asdict(token) for token in reading.tokens],
        "layers": [asdict(layer) for layer in reading.layers],
        "calls": calls,
        "candidates": [asdict(candidate) for candidate in reading.candidates],
    }
    with write_beside(Path(path)) as temporary:
        try:
            save_file(tensors, temporary, metadata={"heedmap": json.dumps(header, allow_nan=False)})
        except SafetensorError as error:
            raise FileError(f"cannot write {path}: {error}") from None


def load(path: str | os.PathLike[str]) -> Reading:
    """Open a reading that was saved; see `Reading.open`."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if "heedmap" not in metadata:
                raise ReadingError(f"{path} is a safetensors file, but not a reading: save one with reading.save(path)")
            header = json.loads(metadata["heedmap"])
            if header.get("schema") != SCHEMA:
                raise ReadingError(f"{path} has the schema {header.get('schema')!r}: this version reads {SCHEMA!r}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        return _reading(header, tensors)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReadingError(f"{path} is damaged, or not a reading: {type(error).__name__}: {error}") from None


def _reading(header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Reading:
    """Put a reading together, checking that its parts fit."""
    tokens = Tokens(header["text"], tuple(Token(**token) for token in header["tokens"]), header["cut_off"])
    layers = tuple(AttentionLayer(**layer) for layer in header["layers"])
    heads = {layer.number: layer for layer in layers}
    calls: OrderedDict[int, AttentionCall] = OrderedDict()
    for name, about in header["calls"].items():
        number = int(name)
        calls[number] = _call(about, {part: tensors.get(f"{number}.{part}") for part in (*_TENSORS, "table")})
        _check_call(calls[number], heads[number], len(tokens))
    if not calls:
        raise ValueError("it holds no layer")
    return Reading(
        tokens=tokens,
        layers=layers,
        calls=calls,
        model=dict(header["model"]),
        logits=tensors.get("logits"),
        candidates=tuple(Candidate(**candidate) for candidate in header["candidates"]),
    )


def _call(about: dict[str, Any], parts: dict[str, torch.Tensor | None]) -> AttentionCall:
    """One attention call from its numbers and tensors."""
    table = parts.pop("table")
    query, key, logsumexp = (parts.pop(name) for name in _TENSORS[:3])
    if query is None or key is None or logsumexp is None:
        raise ValueError("a layer lacks its query, key or log-sum-exp")
    rule = MaskRule(**about["rule"])
    if table is not None:
        rule = MaskRule(rule.queries, rule.keys, table=_unpacked_table(table, rule))
    return AttentionCall(query, key, rule, about["scale"], softcap=about["softcap"], logsumexp=logsumexp, **parts)


def _check_call(call: AttentionCall, layer: AttentionLayer, length: int) -> None:
    """Refuse tensors whose sizes contradict each other."""
    batch, heads, queries, dim = call.query.shape
    key_value_heads, keys = call.key.shape[1:3]
    expected = (1, layer.heads, length, layer.key_value_heads, length)
    if (batch, heads, queries, key_value_heads, keys) != expected or call.key.shape[3] != dim:
        raise ValueError(f"layer {layer.number}: query {tuple(call.query.shape)} and key {tuple(call.key.shape)}")
    if call.logsumexp is None or call.logsumexp.shape != call.query.shape[:3]:
        raise ValueError(f"layer {layer.number}: the log-sum-exp does not fit its queries")
    if (call.rule.queries, call.rule.keys) != (queries, keys) or heads % key_value_heads:
        raise ValueError(f"layer {layer.number}: the mask does not fit its queries and keys")


def _packed_table(rule: MaskRule) -> torch.Tensor:
    """The cells that a rule allows, eight to a byte."""
    cells = rule.materialise(torch.bool, torch.device("cpu"))[0].numpy()
    return torch.from_numpy(np.packbits(cells, axis=-1))


def _unpacked_table(packed: torch.Tensor, rule: MaskRule) -> torch.Tensor:
    """The bool table [1, head|1, query, key] from its packed form."""
    if packed.ndim != 3 or packed.shape[1:] != (rule.queries, -(-rule.keys // 8)):
        raise ValueError("the mask does not fit its queries and keys")
    return torch.from_numpy(np.unpackbits(packed.numpy(), axis=-1, count=rule.keys)).bool().unsqueeze(0)
