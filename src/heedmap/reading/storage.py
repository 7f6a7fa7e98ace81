"""A reading as one safetensors file: tensors, and a header that says what they are. No model is needed to open it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from heedmap.errors import FileError, ReadingError
from heedmap.files import write_beside
from heedmap.json_form import Only, check_form, shown
from heedmap.json_text import parse_json
from heedmap.models.progress import first_line
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.listening import CROSS, DECODER, ENCODER
from heedmap.reading.odds import Candidate
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.reading.stored import (
    check_call,
    check_header,
    check_names,
    check_odds,
    check_packed,
    check_rule,
    check_sums,
    check_table,
    layers_of,
)
from heedmap.reading.two_stacks import STACKS, CrossReading, EncoderDecoderReading
from heedmap.reading.word_row import number_or_none
from heedmap.text.tokens import Token, Tokens

SCHEMA = "heedmap/reading/1"

_TENSORS = ("query", "key", "logsumexp", "bias", "sinks", "value", "output")
"""The tensors of a call that a file may hold; the first three always."""


STACKS_SCHEMA = "heedmap/stacks/1"


def save(reading: Reading, path: str | os.PathLike[str]) -> None:
    """Write a reading; see `Reading.save`."""
    reading.kept_numbers()
    tensors, header = _packed(reading)
    _write(path, tensors, {"schema": SCHEMA, **header})


def save_stacks(both: EncoderDecoderReading, path: str | os.PathLike[str]) -> None:
    """Write all stacks of an encoder-decoder; see `EncoderDecoderReading.save`."""
    parts = {name: _packed(both.stack(name)) for name in STACKS}
    tensors = {f"{name}.{key}": tensor for name, (packed, _) in parts.items() for key, tensor in packed.items()}
    _write(path, tensors, {"schema": STACKS_SCHEMA, "stacks": {name: header for name, (_, header) in parts.items()}})


def load(path: str | os.PathLike[str]) -> Reading:
    """Open a reading that was saved; see `Reading.open`."""
    with _opened(path, SCHEMA) as (header, tensors):
        parts = _parts(header, tensors)
        if not parts["calls"]:
            raise ValueError("it holds no layer")
        return Reading(**parts)


def load_stacks(path: str | os.PathLike[str]) -> EncoderDecoderReading:
    """Open what `save_stacks` wrote; see `EncoderDecoderReading.open`."""
    with _opened(path, STACKS_SCHEMA) as (header, tensors):
        check_form(header, Only({"schema": str, "stacks": Only(dict.fromkeys(STACKS, dict))}), "its header", ValueError)
        own: dict[str, dict[str, torch.Tensor]] = {name: {} for name in STACKS}
        for name, tensor in tensors.items():
            stack, _, part = name.partition(".")
            if stack not in own:
                raise ValueError(f"it holds a tensor {name!r}, which belongs to no stack")
            own[stack][part] = tensor
        headers = header["stacks"]
        encoder, decoder = (Reading(**_parts(headers[name], own[name], name)) for name in (ENCODER, DECODER))
        cross = CrossReading(**_parts(headers[CROSS], own[CROSS], CROSS, keys=encoder.tokens))
        if cross.tokens != decoder.tokens:
            raise ValueError("its cross-attention is of another text than its decoder")
        return EncoderDecoderReading(encoder, decoder, cross)


def _packed(reading: Reading) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """A reading as tensors, and what says what they are."""
    tensors: dict[str, torch.Tensor] = {}
    calls = {}
    for number in reading.calls:
        call = _with_added_mask_as_bias(reading.call(number).on_cpu())
        for name in _TENSORS:
            tensor = getattr(call, name)
            if tensor is not None:
                tensors[f"{number}.{name}"] = tensor.contiguous()
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
        "model": reading.model,
        "text": reading.tokens.text,
        "cut_off": reading.tokens.cut_off,
        "tokens": [asdict(token) for token in reading.tokens],
        "layers": [asdict(layer) for layer in reading.layers],
        "calls": calls,
        "candidates": [
            {**asdict(candidate), "probability": number_or_none(candidate.probability)}
            for candidate in reading.candidates
        ],
    }
    return tensors, header


def _with_added_mask_as_bias(call: AttentionCall) -> AttentionCall:
    """The call with what an explicit mask adds to the scores (BEiT) as its bias: a file keeps what the mask forbids."""
    if not call.rule.bias_is_added:
        return call
    rows, columns = (torch.arange(size) for size in (call.rule.queries, call.rule.keys))
    added = call.rule.bias(rows, columns)
    assert added is not None
    return replace(call, bias=added if call.bias is None else call.bias + added)


def _write(path: str | os.PathLike[str], tensors: dict[str, torch.Tensor], header: dict[str, Any]) -> None:
    """Write a file whole, or leave the one that was there."""
    seen: set[int] = set()
    for name, tensor in tensors.items():
        if tensor.data_ptr() in seen:
            tensors[name] = tensor.clone()  # T5's layers share one bias, and the format wants each by itself
        seen.add(tensor.data_ptr())
    header = {**header, "crc32": _checksum(header, tensors)}
    with write_beside(Path(path)) as temporary:
        try:
            save_file(tensors, temporary, metadata={"heedmap": json.dumps(header, allow_nan=False)})
        except SafetensorError as error:
            raise FileError(f"cannot write {path}: {error}") from None


def _checksum(header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> int:
    """The CRC-32 of a header, however it is written, and of all tensors: a file whose bits fell over is refused."""
    found = zlib.crc32(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        found = zlib.crc32(name.encode(), found)
        found = zlib.crc32(tensors[name].flatten().view(torch.uint8).numpy().data, found)
    return found


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str], schema: str) -> Iterator[tuple[dict[str, Any], dict[str, torch.Tensor]]]:
    """What a file of a schema holds; damage found inside the block is an error of one line too."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if "heedmap" not in metadata:
                raise ReadingError(f"{path} is a safetensors file, but not a reading: save one with reading.save(path)")
            header = parse_json(metadata["heedmap"], strict=True)
            found = header.get("schema")
            if found != schema and found in (SCHEMA, STACKS_SCHEMA):
                raise ReadingError(_OTHER_KIND[found].format(path=path))
            if found != schema:
                raise ReadingError(f"{path} has the schema {shown(found)}: this version reads {schema!r}")
            # Copies: the tensors of a file that is open show what is written into it later, and a file that is cut
            # then ends the process (SIGBUS).
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict
        kept = header.pop("crc32", None)  # what other code wrote may have none
        if kept is not None and kept != _checksum(header, tensors):
            raise ValueError("its checksum does not fit its content")
        yield header, tensors
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ReadingError(
            f"{path} is damaged, or not a reading: {type(error).__name__}: {first_line(error)}"
        ) from None


_OTHER_KIND = {
    SCHEMA: "{path} holds one stack of layers: open it with Reading.open(path)",
    STACKS_SCHEMA: "{path} holds the stacks of an encoder-decoder: open it with EncoderDecoderReading.open(path)",
}


def _parts(
    header: dict[str, Any], tensors: dict[str, torch.Tensor], stack: str | None = None, keys: Tokens | None = None
) -> dict[str, Any]:
    """The parts of a reading, checked to fit each other; `keys` are the tokens looked at, where they are others."""
    check_header(header, stack)
    check_names(tensors, header["calls"], (*_TENSORS, "table"))
    tokens = Tokens(header["text"], tuple(Token(**token) for token in header["tokens"]), header["cut_off"])
    layers = layers_of(header)
    numbered = {layer.number: layer for layer in layers}
    calls: OrderedDict[int, AttentionCall] = OrderedDict()
    for name, about in header["calls"].items():
        layer = numbered[int(name)]
        rule = MaskRule(**about["rule"])
        check_rule(rule, layer.number, len(tokens), len(tokens if keys is None else keys), keys is None)
        calls[layer.number] = _call(
            about, rule, layer, {part: tensors.get(f"{name}.{part}") for part in (*_TENSORS, "table")}
        )
    check_odds(header["candidates"], tensors.get("logits"))
    return {
        "tokens": tokens,
        "layers": layers,
        "calls": calls,
        "model": dict(header["model"]),
        "logits": tensors.get("logits"),
        "candidates": tuple(
            Candidate(one["id"], one["text"], math.nan if one["probability"] is None else one["probability"])
            for one in header["candidates"]
        ),
        "keys": keys,
    }


def _call(
    about: dict[str, Any], rule: MaskRule, layer: AttentionLayer, parts: dict[str, torch.Tensor | None]
) -> AttentionCall:
    """One attention call from its numbers and tensors, checked."""
    table = parts.pop("table")
    query, key, logsumexp = (parts.pop(name) for name in _TENSORS[:3])
    if query is None or key is None or logsumexp is None:
        raise ValueError(f"layer {layer.number} lacks its query, key or log-sum-exp")
    # A reading's tokens are those from the first key on: places are counted from there, as `text_call` counts them.
    masked = replace(rule, query_offset=rule.query_offset - rule.key_offset, key_offset=0)
    if table is not None:
        check_packed(table, layer, rule)
        cells = _unpacked_table(table, rule)
        check_table(cells, layer, rule)
        masked = MaskRule(rule.queries, rule.keys, table=cells)
    call = AttentionCall(query, key, masked, about["scale"], softcap=about["softcap"], logsumexp=logsumexp, **parts)
    check_call(call, layer, rule.queries, rule.keys)
    check_sums(call, layer)
    return call


def _packed_table(rule: MaskRule) -> torch.Tensor:
    """The cells that a rule allows, eight to a byte."""
    cells = rule.materialise(torch.bool, torch.device("cpu"))[0].numpy()
    return torch.from_numpy(np.packbits(cells, axis=-1))


def _unpacked_table(packed: torch.Tensor, rule: MaskRule) -> torch.Tensor:
    """The bool table [1, head|1, query, key] from its packed form."""
    return torch.from_numpy(np.unpackbits(packed.numpy(), axis=-1, count=rule.keys)).bool().unsqueeze(0)
