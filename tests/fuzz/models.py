"""Files of models: weights, configurations, tokenizers and GGUF, sound and damaged, with headers that lie."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import heedmap
from heedmap.errors import HeedmapError
from heedmap.lab.cost_predict import predict, to_json
from heedmap.lab.cost_shape import shape_of
from heedmap.lab.cost_text import stored_dtype
from heedmap.models.configuration import find_configuration
from heedmap.models.gguf import gguf_copy
from heedmap.models.progress import Progress
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_file, damaged_json, letters, same_json, told_apart
from tests.fuzz.readings import joined, parts_of, tensors_of, with_header
from tests.fuzz.target import GIBIBYTE, Target, answers
from tests.models.making import gguf_weights, save_tiny_model, write_gguf

TEXT = "the cat sat"


Same = Callable[[bytes, Model, Reading], None]
"""What must hold of a file, and of the model that was loaded with it, where nothing is wrong with the file."""


def _model_case(name: str, cases: Callable[[bytes], Any], same: Same) -> tuple[SearchStrategy[Any], Any]:
    """A saved model of which one file is another, sound or damaged; loaded and read."""
    sound_folder = save_tiny_model(fresh_folder() / "sound")
    folder = fresh_folder() / "given"
    shutil.copytree(sound_folder, folder)

    def check(case: tuple[bytes, bool]) -> None:
        given, sound = case
        (folder / name).write_bytes(given)
        with answers(sound):
            model = heedmap.load(folder)
            reading = model.read(TEXT, layers=[0, 1])
        assert reading.row("cat", 0).weights.shape == (len(reading.tokens),)
        if sound:
            same(given, model, reading)

    return cases((sound_folder / name).read_bytes()), check


def _reads_as(expected: Reading) -> Same:
    """It must read as a model did that was loaded from files as they were saved."""
    rows = [expected.row("cat", layer).weights for layer in (0, 1)]

    def same(_given: bytes, _model: Model, reading: Reading) -> None:
        assert reading.tokens == expected.tokens
        for layer, row in enumerate(rows):
            np.testing.assert_array_equal(reading.row("cat", layer).weights, row)

    return same


def _sound_reading() -> Reading:
    return heedmap.load(save_tiny_model(fresh_folder() / "as saved")).read(TEXT, layers=[0, 1])


def _holds_what_the_file_holds(given: bytes, model: Model, _reading: Reading) -> None:
    held = model.module.state_dict()
    for name, tensor in tensors_of(given).items():
        np.testing.assert_array_equal(held[name].numpy(), tensor)


def weights_cases() -> tuple[SearchStrategy[Any], Any]:
    """The weights' file: other weights, damaged bytes, and a header that lies."""

    def cases(content: bytes) -> SearchStrategy[Any]:
        size = len(parts_of(content)[1]) // 4
        drawn = st.integers(0, 2**32 - 1).map(
            lambda seed: np.random.default_rng(seed).normal(0, 0.1, size).astype("<f4").tobytes()
        )
        headers = same_json(parts_of(content)[0]).map(bytes.strip)
        damage = damaged(content, 3000) | with_header(content, damaged_json)
        return told_apart(st.tuples(headers, drawn).map(lambda one: joined(*one)), damage)

    return _model_case("model.safetensors", cases, _holds_what_the_file_holds)


def configuration_cases() -> tuple[SearchStrategy[Any], Any]:
    """config.json with unknown kinds, absurd sizes and values of every type; loaded, and asked for its cost."""

    def cases(content: bytes) -> SearchStrategy[Any]:
        sound = json.loads(content)
        unknown = st.dictionaries(letters().map("of a later version {}".format), st.integers() | st.text(max_size=9))
        return told_apart(unknown.flatmap(lambda more: same_json(sound | more)), _configurations(sound))

    drawn, load = _model_case("config.json", cases, _reads_as(_sound_reading()))
    folder = fresh_folder()

    def check(case: tuple[bytes, bool]) -> None:
        given, sound = case
        (folder / "config.json").write_bytes(given)
        with suppress(HeedmapError), answers(sound):
            configuration = find_configuration(folder)
            shape, dtype = shape_of(configuration), stored_dtype(configuration)
            costs = [predict(shape, tokens, dtype=dtype) for tokens in (1000, 100_000)]
            json.dumps(to_json(shape, "given", dtype, costs), allow_nan=False)
        load(case)

    return drawn, check


_SIZES = (0, 1, -1, 3, 2**16, 2**31, 2**40, 10**30, 0.5, None, "64", True)
_KINDS = ("bert", "gpt2", "mistral", "gemma3_text", "t5", "llava", "vit", "mamba", "nothing", "", None, 7, "llama4")


def _configurations(sound: dict[str, Any]) -> SearchStrategy[bytes]:
    """Absurd sizes and other kinds, beside damage of every sort."""
    numbers = sorted(name for name, value in sound.items() if isinstance(value, int | float))
    sizes = st.dictionaries(st.sampled_from(numbers), st.sampled_from(_SIZES), min_size=1, max_size=3)
    kinds = st.fixed_dictionaries({"model_type": st.sampled_from(_KINDS)})
    made = (sizes | kinds).map(lambda changes: json.dumps({**sound, **changes}).encode())
    return made | made | damaged_file(sound)


def tokenizer_cases() -> tuple[SearchStrategy[Any], Any]:
    """tokenizer.json, written otherwise and damaged."""

    def cases(content: bytes) -> SearchStrategy[Any]:
        sound = json.loads(content)
        return told_apart(same_json(sound), damaged_file(sound))

    return _model_case("tokenizer.json", cases, _reads_as(_sound_reading()))


_KEPT_AS_THEY_ARE = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.layers.1.self_attn.v_proj.weight": "blk.1.attn_v.weight",
    "model.layers.0.mlp.down_proj.weight": "blk.0.ffn_down.weight",
    "model.norm.weight": "output_norm.weight",
}
"""Tensors that a conversion neither turns nor sorts, by both names."""


def gguf_cases() -> tuple[SearchStrategy[Any], Any]:
    """A GGUF file of any weights, or one whose counts, lengths, types and names are damaged; converted."""
    folder = fresh_folder()
    path = folder / "tiny.gguf"
    write_gguf(path)
    content = path.read_bytes()
    header = content.index(b"output_norm.weight") + 2000

    def check(case: tuple[bytes | int, bool]) -> None:
        given, sound = case
        held = {}
        if isinstance(given, int):
            random = np.random.default_rng(given)
            drawn = {name: random.normal(0, 0.1, one.shape) for name, one in gguf_weights().items()}
            held = write_gguf(path, {name: one.astype(np.float32) for name, one in drawn.items()})
        else:
            path.write_bytes(given)
        with patch.dict(os.environ, HEEDMAP_CACHE=str(folder / "cache")), answers(sound):
            target, _ = gguf_copy(path, Progress(shown=False))
        if sound:
            converted = tensors_of((target / "model.safetensors").read_bytes())
            for ours, theirs in _KEPT_AS_THEY_ARE.items():
                np.testing.assert_array_equal(converted[ours], held[theirs])
        shutil.rmtree(target)

    return told_apart(st.integers(0, 2**32 - 1), damaged(content, 200) | damaged(content, header)), check


TARGETS = (
    Target("weights", "safetensors of a model: other weights, cut, flipped, headers that lie", weights_cases, 12, 3000),
    Target(
        "configurations",
        "config.json: written otherwise, unknown kinds, absurd sizes, wrong types",
        configuration_cases,
        12,
        3000,
    ),
    Target("tokenizers", "tokenizer.json: written otherwise and damaged", tokenizer_cases, 12, 3000),
    Target(
        "gguf",
        "GGUF files: other weights, cut, flipped, counts and lengths that lie",
        gguf_cases,
        8,
        1500,
        2 * GIBIBYTE,
    ),
)
