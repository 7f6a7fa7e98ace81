"""Saved readings: sound ones against the plain formula, and cut, flipped, with other schemas and sizes that lie."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import heedmap
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.fuzz.asked import TURNS, ask_everything
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_json, letters, same_json, told_apart
from tests.fuzz.numbers import plain_attention
from tests.fuzz.target import Target, answers
from tests.models.making import tiny_tokenizer
from tests.tiny import tiny_model

FAMILIES = ("mistral", "gpt2")
"""One with a window, and one whose mask is a table."""


def parts_of(file: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON header of a safetensors file, and the tensors after it."""
    size = int.from_bytes(file[:8], "little")
    return json.loads(file[8 : 8 + size]), file[8 + size :]


def joined(header: bytes | str, body: bytes) -> bytes:
    """A safetensors file of a header that may be none, with its length right."""
    written = header.encode("utf-8", "surrogatepass") if isinstance(header, str) else header
    return len(written).to_bytes(8, "little") + written + body


def with_header(file: bytes, change: Callable[[Any], SearchStrategy[bytes | str]]) -> SearchStrategy[bytes]:
    """A safetensors file whose JSON header is another."""
    header, body = parts_of(file)
    return change(header).map(lambda text: joined(text, body))


def tensors_of(file: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """The float32 tensors of a safetensors file, read by hand."""
    header, body = parts_of(file)
    found = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            found[name] = np.frombuffer(body[slice(*about["data_offsets"])], "<f4").reshape(about["shape"])
    return found


def _saved(path: Path, model: Model, text: str) -> bytes:
    model.read(text, values=True).save(path)
    return path.read_bytes()


def _without_checksum(file: bytes) -> bytes:
    """A file as somebody would make it who means harm: then sizes and forms must be checked one by one."""
    header, body = parts_of(file)
    inside = json.loads(header["__metadata__"]["heedmap"])
    del inside["crc32"]
    return joined(json.dumps({**header, "__metadata__": {"heedmap": json.dumps(inside)}}), body)


def _damaged_header(header: dict[str, Any]) -> SearchStrategy[str]:
    """The list of tensors, or the JSON inside it that says what they are."""
    inside = json.loads(header["__metadata__"]["heedmap"])
    wrapped = damaged_json(inside).map(lambda text: json.dumps({**header, "__metadata__": {"heedmap": text}}))
    return wrapped | wrapped | damaged_json(header)


def _same_header(header: dict[str, Any]) -> SearchStrategy[bytes]:
    """The same header written in another way, inside and outside."""
    inside = same_json(json.loads(header["__metadata__"]["heedmap"])).map(bytes.decode)
    return inside.flatmap(lambda text: same_json({**header, "__metadata__": {"heedmap": text}})).map(bytes.strip)


def reading_cases() -> tuple[SearchStrategy[Any], Any]:
    """Readings of texts of any kind, saved; and files that are damaged, by accident or with intent."""
    path = fresh_folder() / "saved.safetensors"
    tokenizer = tiny_tokenizer()
    models = [
        heedmap.wrap(tiny_model(family, vocab_size=len(tokenizer)), tokenizer, name=family) for family in FAMILIES
    ]
    files = [_saved(path, model, "the cat sat") for model in models]
    sound = st.tuples(st.sampled_from(models), letters(most=20)).map(lambda one: _saved(path, *one))
    damage = [damaged(one, 2000) for one in files]
    for one in map(_without_checksum, files):
        damage += [damaged(one, 2000), with_header(one, _damaged_header), with_header(one, _damaged_header)]
    respelled = sound.flatmap(lambda file: with_header(file, _same_header))
    return told_apart(respelled, st.one_of(damage)), functools.partial(check_reading, path)


def check_reading(path: Path, case: tuple[bytes, bool]) -> None:
    """What can be opened can be asked: rows, maps, steps, odds and JSON, or an error of ours."""
    content, sound = case
    path.write_bytes(content)
    with answers(sound):
        reading = Reading.open(path)
    if sound:
        _check_maps(content, reading)
    ask_everything(reading, path.parent, len(content) % TURNS)


def _check_maps(content: bytes, reading: Reading) -> None:
    """Every map and every output is what the plain formula makes of the tensors in the file."""
    tensors = tensors_of(content)
    calls = json.loads(parts_of(content)[0]["__metadata__"]["heedmap"])["calls"]
    for layer, call in calls.items():
        query, key, value, output = (
            tensors[f"{layer}.{name}"][0].astype(np.float64) for name in ("query", "key", "value", "output")
        )
        query = query * call["scale"] * np.sqrt(query.shape[-1])  # the formula divides by this root
        count = len(reading.tokens)
        back = np.subtract.outer(np.arange(count), np.arange(count))
        window = call["rule"]["back"]
        mask = (back >= 0) & (True if window is None else back <= window)
        weights = plain_attention(query, key, np.broadcast_to(np.eye(count), (len(key), count, count)), mask)
        for head in range(len(query)):
            np.testing.assert_allclose(reading.map(int(layer), head), weights[head], atol=1e-5)
        np.testing.assert_allclose(output, plain_attention(query, key, value, mask), atol=1e-4)  # sums of such weights


TARGETS = (
    Target("readings", "saved readings: sound, cut, flipped, other schemas, sizes that lie", reading_cases, 40, 8000),
)
