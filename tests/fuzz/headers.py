"""Saved readings whose headers and tensors say something else than what was saved, with the checksum put right."""

from __future__ import annotations

import copy
import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from safetensors import safe_open
from safetensors.torch import save_file

import heedmap
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.storage import _checksum
from heedmap.reading.two_stacks import EncoderDecoderReading
from tests.families import tiny_family
from tests.fuzz.asked import TURNS, ask_everything
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import with_sound
from tests.fuzz.target import Target, answers
from tests.models.making import tiny_tokenizer
from tests.pictures import noise, vision_model
from tests.tiny import tiny_model

TEXT = "the cat sat. It"
_Place = tuple[str | int, ...]
_Change = tuple[str, Any, Any]
"""What is done, to what, and with what: ("set", place in the header, value) or (how, tensor, number)."""

Case = tuple[str, list[_Change], bool, int]
"""A file by name, what is changed in it, whether that changes no answer, and whose turn it is to be asked."""


def saved_files(folder: Path) -> dict[str, Path]:
    """Readings of every kind that is stored differently: bands, tables, biases, sinks, caps, precisions, stacks."""
    tokenizer = tiny_tokenizer()
    files: dict[str, Path] = {}

    def save(name: str, reading: Any) -> None:
        files[name] = folder / f"{name}.safetensors"
        reading.save(files[name])

    def wrapped(family: str, dtype: torch.dtype = torch.float32) -> Model:
        module = tiny_family(family, vocab_size=len(tokenizer)).to(dtype)
        return heedmap.wrap(module, tokenizer, name=family)

    save("window", wrapped("mistral").read(TEXT, values=True))
    save("causal", wrapped("gpt2").read(TEXT, values=True))
    save("both ways", wrapped("bert").read(TEXT, values=True))
    save("cap", wrapped("gemma2").read(TEXT, values=True))
    save("sinks", wrapped("gpt_oss").read(TEXT, values=True))
    save("own code", wrapped("bloom").read(TEXT))
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        save(name, wrapped("mistral", dtype).read(TEXT, values=True))
    save("padded", wrapped("llama").read_batch([TEXT, "cat"], padding="left")[1])
    broken = tiny_model("mistral", vocab_size=len(tokenizer))
    with torch.no_grad():
        broken.model.layers[1].self_attn.q_proj.weight[0, 0] = math.nan
    save("broken", heedmap.wrap(broken, tokenizer, name="broken").read(TEXT, values=True))
    save("picture", vision_model("beit").read_picture(noise()).vision)
    stacks: dict[str, Any] = {"vocab_size": len(tokenizer), "decoder_start_token_id": 0}
    for family in ("t5", "bart"):
        model = heedmap.wrap(tiny_family(family, **stacks), tokenizer, name=family)
        save(family, model.read(TEXT, target="the", values=True))
    return files


def contents(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Header and tensors of a saved reading."""
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()["heedmap"])
        return header, {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict


def write_changed(source: Path, target: Path, changes: list[_Change]) -> None:
    """Write what a file holds with some changes, and a checksum that fits."""
    header, tensors = contents(source)
    header = copy.deepcopy(header)
    header.pop("crc32")
    for how, place, value in changes:
        if how == "set":
            parent = functools.reduce(lambda one, step: one[step], place[:-1], header)
            if value is MISSING:
                del parent[place[-1]]
            else:
                parent[place[-1]] = value
        else:
            tensors = with_tensor(tensors, how, place, value)
    tensors = {name: one.contiguous().clone() for name, one in tensors.items()}
    header["crc32"] = _checksum(header, tensors)
    save_file(tensors, target, metadata={"heedmap": json.dumps(header)})


MISSING = "(missing)"
"""Stands for an entry that is left out."""

TENSOR_CHANGES = {
    "to": (
        *(torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.int32, torch.uint8, torch.bool),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    ),
    "fill": (0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e30, 1e-30),
    "times": (-1.0, 0.5, 2.0, 10.0, 1e4, 1e30),
    "cell": (0.0, 3.0, math.nan, math.inf, -math.inf, 1e30),
    "cut": (0, 1, 2, 3),
    "empty": (0, 1, 2, 3),
    "repeat": (0, 1, 2, 3),
    "squeeze": (0,),
    "turn": (0,),
    "drop": (0,),
    "rename": ("0.query", "99.query", "logits", "0.sinks", "0.bias", "0.table", "junk", "encoder.0.query"),
    "take": ("query", "key", "logsumexp", "value", "output", "bias", "table", "sinks"),
}
"""What is done to a tensor, and the numbers it is done with."""


def with_tensor(tensors: dict[str, torch.Tensor], how: str, name: str, value: Any) -> dict[str, torch.Tensor]:
    """The tensors with one changed."""
    one, axis = tensors[name], 0
    if how in ("cut", "empty", "repeat"):
        axis = min(value, one.ndim - 1)
    changed: dict[str, torch.Tensor] = dict(tensors)
    if how == "drop":
        del changed[name]
    elif how == "rename":
        changed[value] = changed.pop(name)
    elif how == "take":
        other = f"{name.rpartition('.')[0]}.{value}"
        changed[name] = tensors.get(other, one)
    elif how == "to":
        changed[name] = one.to(value)
    elif how == "fill":
        changed[name] = torch.full(one.shape, value if one.is_floating_point() else 0, dtype=torch.float64).to(
            one.dtype
        )
    elif how == "times":
        changed[name] = (one.double() * value).to(one.dtype)
    elif how == "cell":
        changed[name] = one.clone()
        changed[name].view(-1)[-1:] = torch.tensor([value if one.is_floating_point() else 1.0]).to(one.dtype)
    elif how in ("cut", "empty"):
        changed[name] = one.narrow(axis, 0, 0 if how == "empty" else one.shape[axis] - 1)
    elif how == "repeat":
        changed[name] = torch.cat([one, one], axis)
    else:
        changed[name] = one.squeeze(0) if how == "squeeze" else one.transpose(-1, -2) if one.ndim > 1 else one
    return changed


def _numbers(now: Any, length: int) -> list[Any]:
    """Values at the boundaries of what a field may hold, and of other kinds."""
    own = [now, now + 1, now - 1, -now, 2 * now] if isinstance(now, int | float) and not isinstance(now, bool) else []
    return [
        *own,
        *(0, 1, -1, 2, 3, length - 1, length, length + 1, 100),
        *(2**31 - 1, 2**31, 2**32, 2**61 - 1, 2**61, 2**62, 2**63 - 1, 2**63, -(2**63), 10**30),
        *(0.0, 0.5, -0.5, 1.5, 1e-320, 1e308, -1e308, math.nan, math.inf),
        *(None, True, False, "", "x", "0", "\x1b[31mred", "a\nb", "\u202eright", [], {}, [0], {"a": 0}, MISSING),
    ]


def _places(value: Any, start: _Place = ()) -> list[_Place]:
    """The way to every value of a header: of a list, that of the first, the second and the last item."""
    if isinstance(value, dict):
        inner: list[tuple[str | int, Any]] = list(value.items())
    elif isinstance(value, list):
        inner = [(index, value[index]) for index in sorted({0, 1, len(value) - 1} & set(range(len(value))))]
    else:
        return []
    return [place for name, one in inner for place in ((*start, name), *_places(one, (*start, name)))]


def _group(place: _Place) -> str:
    """What a place belongs to, so that the few fields of a mask are tried as often as the many of the tokens."""
    named = [step for step in place if isinstance(step, str) and step not in ("stacks", "encoder", "decoder", "cross")]
    return "rule" if "rule" in named else named[0] if named else "stacks"


@st.composite
def _changes(draw: st.DrawFn, header: dict[str, Any], names: list[str]) -> list[_Change]:
    """One field, the window and the offsets of a mask together, a tensor, or several of these."""
    by_group: dict[str, list[_Place]] = {}
    for place in _places(header):
        by_group.setdefault(_group(place), []).append(place)
    length = len(_at(header, _prefix(header))["tokens"])
    kind = draw(st.sampled_from(("field", "field", "field", "band", "band", "tensor", "tensor", "several")))
    if kind == "band":
        return draw(_bands(header, length))
    changes: list[_Change] = []
    for _ in range(draw(st.integers(2, 3)) if kind == "several" else 1):
        if kind == "tensor" or (kind == "several" and draw(st.booleans())):
            how = draw(st.sampled_from(sorted(TENSOR_CHANGES)))
            changes.append((how, draw(st.sampled_from(names)), draw(st.sampled_from(TENSOR_CHANGES[how]))))
        else:
            place = draw(st.sampled_from(by_group[draw(st.sampled_from(sorted(by_group)))]))
            changes.append(("set", place, draw(st.sampled_from(_numbers(_at(header, place), length)))))
    return _apart(changes)


def _apart(changes: list[_Change]) -> list[_Change]:
    """Changes of which none is inside another: what is replaced has no fields any more."""
    kept: list[_Change] = []
    for change in changes:
        what = change[1]
        clash = any(other[1] == what or (change[0] == other[0] == "set" and _inside(what, other[1])) for other in kept)
        if not clash:
            kept.append(change)
    return kept


def _inside(one: _Place, other: _Place) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _at(value: Any, place: _Place) -> Any:
    return functools.reduce(lambda one, step: one[step], place, value)


def _prefix(header: dict[str, Any], stack: str = "encoder") -> _Place:
    """The way to the header of one stack."""
    return ("stacks", stack) if "stacks" in header else ()


@st.composite
def _bands(draw: st.DrawFn, header: dict[str, Any], length: int) -> list[_Change]:
    """The window and both offsets of one layer, or of all."""
    prefix = _prefix(header, draw(st.sampled_from(("encoder", "decoder", "cross"))))
    layers = sorted(_at(header, prefix)["calls"])
    chosen = layers if draw(st.booleans()) else [draw(st.sampled_from(layers))]
    near = (0, 1, 2, length - 1, length, length + 1, 2 * length, 100, 2**31, 2**61 - 1, 2**62, 2**63 - 1)
    sizes = st.sampled_from(near)
    fields = {
        "query_offset": sizes,
        "key_offset": sizes,
        "back": st.none() | sizes,
        "ahead": st.none() | st.just(0) | sizes,
    }
    names = draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=4, unique=True))
    values = {name: draw(fields[name]) for name in names}
    return [
        ("set", (*prefix, "calls", layer, "rule", name), value) for layer in chosen for name, value in values.items()
    ]


@st.composite
def _harmless(draw: st.DrawFn, header: dict[str, Any]) -> list[_Change]:
    """Changes after which every answer is the same: a text of which all places lie further on."""
    if "stacks" in header or draw(st.booleans()):
        return []
    further = draw(st.sampled_from((1, 7, 2**31, 2**60)))
    return [
        ("set", ("calls", layer, "rule", name), further)
        for layer in header["calls"]
        for name in ("query_offset", "key_offset")
    ]


def header_cases() -> tuple[SearchStrategy[Any], Any]:
    """Files of every kind with changes of every kind; where nothing is changed, the answers are those of the file."""
    folder = fresh_folder()
    files = saved_files(folder)
    held = {name: contents(path) for name, path in files.items()}
    turns = st.integers(0, TURNS - 1)

    def sound(name: str) -> SearchStrategy[Any]:
        return st.tuples(st.just(name), _harmless(held[name][0]), st.just(True), turns)

    def changed(name: str) -> SearchStrategy[Any]:
        header, tensors = held[name]
        return st.tuples(st.just(name), _changes(header, sorted(tensors)), st.just(False), turns)

    names = st.sampled_from(sorted(files))
    return with_sound(names.flatmap(sound), names.flatmap(changed)), functools.partial(check_changed, folder, files)


def check_changed(folder: Path, files: dict[str, Path], case: Case) -> None:
    """What opens answers everything, or says that it cannot; what was not changed answers what it did."""
    name, changes, sound, turn = case
    path = folder / "changed.safetensors"
    write_changed(files[name], path, changes)
    kind = EncoderDecoderReading if name in ("t5", "bart") else Reading
    with answers(sound):
        reading = kind.open(path)
    ask_everything(reading, folder, turn)
    if sound and isinstance(reading, Reading):
        original = Reading.open(files[name])
        for layer in original.calls:
            np.testing.assert_array_equal(np.asarray(reading.map(layer)), np.asarray(original.map(layer)))


TARGETS = (
    Target(
        "headers",
        "saved readings: each field and pairs of fields at their boundaries, tensors of other kinds and sizes",
        header_cases,
        40,
        8000,
    ),
)
