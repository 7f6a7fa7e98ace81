"""A page read back in Python, by the rules of docs/page.md and with none of the package's own code."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parts = dict[str, Floats]

_SCRIPT = re.compile(r'<script type="[a-z/]+" id="heedmap-(header|block-\d+)">(.*?)</script>', re.DOTALL)


def header_and_blocks(html: str) -> tuple[dict[str, Any], list[bytes]]:
    """What stands in the data elements of a file."""
    found = dict(_SCRIPT.findall(html))
    header = json.loads(found.pop("header"))
    return header, [base64.b64decode(found[f"block-{place}"]) for place in range(len(found))]


def parts_of(block: bytes, listed: list[dict[str, Any]]) -> Parts:
    """The arrays of a block, by name."""
    raw = zlib.decompress(block)
    parts: Parts = {}
    for part in listed:
        dtype = np.dtype(part["type"]).newbyteorder("<")
        count = int(np.prod(part["shape"]))
        planes = np.frombuffer(raw[: count * dtype.itemsize], np.uint8).reshape(dtype.itemsize, count)
        parts[part["name"]] = np.ascontiguousarray(planes.T).view(dtype).reshape(part["shape"]).astype(np.float64)
        raw = raw[count * dtype.itemsize :]
    assert not raw
    return parts


def allowed_by(rule: dict[str, Any], blocks: list[bytes]) -> NDArray[np.bool_]:
    """The cells that a rule allows, [head|1, query, key]."""
    queries, keys = rule["queries"], rule["keys"]
    if "bits" in rule:
        bits = parts_of(blocks[rule["block"]], [rule["bits"]])["bits"].astype(np.uint8)
        return np.unpackbits(bits, axis=-1)[:, : queries * keys].reshape(-1, queries, keys).astype(bool)
    distance = np.arange(keys)[None] - np.arange(queries)[:, None] - rule["shift"]
    allowed = np.ones((1, queries, keys), dtype=bool)
    if rule["back"] is not None:
        allowed &= distance >= -rule["back"]
    if rule["ahead"] is not None:
        allowed &= distance <= rule["ahead"]
    allowed[:, :, rule["absent"]] = False
    return allowed


def weights_by(layer: dict[str, Any], allowed: NDArray[np.bool_], parts: Parts) -> Floats:
    """The weights that a page works out, [head, query, key], in float64; 0 where forbidden."""
    heads = layer["heads"]
    allowed = np.broadcast_to(allowed, (heads, *allowed.shape[1:]))
    weights = np.zeros(allowed.shape)
    if layer["carries"] == "weights":
        weights[allowed] = parts["weights"]
        return weights
    query, key = parts["query"], parts["key"]
    if "queryCentre" in parts:
        query, key = query + parts["queryCentre"][:, None], key + parts["keyCentre"][:, None]
    scores = query @ key.repeat(heads // len(key), 0).transpose(0, 2, 1) * layer["scale"]
    if layer["softcap"] is not None:
        scores = np.tanh(scores / layer["softcap"]) * layer["softcap"]
    if "bias" in parts:
        scores[allowed] += parts["bias"]
    np.exp(scores - parts["logsumexp"][:, :, None], where=allowed, out=weights)
    return weights


def page_weights(html: str, reading: str, layer: int) -> Floats:
    """The weights of one layer of a file, [head, query, key]."""
    header, blocks = header_and_blocks(html)
    entry = next(one for one in header["readings"] if one["id"] == reading)
    info = next(one for one in entry["layers"] if one["number"] == layer)
    allowed = allowed_by(header["rules"][info["rule"]], blocks)
    return weights_by(info, allowed, parts_of(blocks[info["block"]], info["parts"]))
