"""Files of models, saved readings and pictures: cut, flipped, and with headers that lie."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from PIL import Image

import heedmap
from heedmap.errors import HeedmapError
from heedmap.lab.cost_predict import predict, to_json
from heedmap.lab.cost_shape import shape_of
from heedmap.lab.cost_text import stored_dtype
from heedmap.models.configuration import find_configuration
from heedmap.models.gguf import gguf_copy
from heedmap.models.progress import Progress
from heedmap.reading.picture_input import as_pixels
from heedmap.reading.reading import Reading
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_file, damaged_json
from tests.fuzz.target import GIBIBYTE, Target
from tests.models.making import save_tiny_model, tiny_tokenizer, write_gguf
from tests.tiny import tiny_model

TEXT = "the cat sat"


def with_header(file: bytes, damage: Any) -> SearchStrategy[bytes]:
    """A safetensors file whose JSON header is damaged and whose length before it is right again."""
    size = int.from_bytes(file[:8], "little")
    header, body = json.loads(file[8 : 8 + size]), file[8 + size :]
    return damage(header).map(lambda text: _joined(text.encode("utf-8", "surrogatepass"), body))  # type: ignore[no-any-return]


def _joined(header: bytes, body: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + body


def _damaged_reading(header: dict[str, Any]) -> SearchStrategy[str]:
    """A saved reading's header: the list of tensors, or the JSON inside it that says what they are."""
    inside = json.loads(header["__metadata__"]["heedmap"])
    texts = damaged_json(inside)
    wrapped = texts.map(lambda text: json.dumps({**header, "__metadata__": {"heedmap": text}}))
    return wrapped | wrapped | damaged_json(header)


def reading_cases() -> tuple[SearchStrategy[Any], Any]:
    """Saved readings of two families: one with a window, one whose mask is a table."""
    folder = fresh_folder()
    path = folder / "saved.safetensors"
    contents = []
    for family in ("mistral", "gpt2"):
        module = tiny_model(family, vocab_size=len(tiny_tokenizer()))
        heedmap.wrap(module, tiny_tokenizer()).read(TEXT, values=True).save(path)
        contents.append(path.read_bytes())
    cases = st.one_of(
        *(damaged(one, 2000) for one in contents), *(with_header(one, _damaged_reading) for one in contents)
    )
    return cases, functools.partial(check_reading, path)


def check_reading(path: Path, content: bytes) -> None:
    """What can be opened can be asked: rows, maps, steps, odds and JSON, or an error of ours."""
    path.write_bytes(content)
    reading = Reading.open(path)
    str(reading)
    asked = (
        lambda: np.asarray(reading.map(1)),
        lambda: json.dumps(reading.row("@-1", 1, 0).to_json()),
        lambda: str(reading.row("@0", 2)),
        lambda: reading.explain("@-1", 1, 0).to_json(),
        lambda: reading.next(3),
        lambda: reading.stats(),
        lambda: reading.tokens.groups(),
    )
    for ask in asked:
        with suppress(HeedmapError):
            ask()


def _model_case(name: str, damage: Any) -> tuple[SearchStrategy[Any], Any]:
    """A saved model of which one file is damaged, loaded and read."""
    sound = save_tiny_model(fresh_folder() / "sound")
    folder = fresh_folder() / "given"
    shutil.copytree(sound, folder)
    content = (sound / name).read_bytes()

    def check(given: bytes) -> None:
        (folder / name).write_bytes(given)
        reading = heedmap.load(folder).read(TEXT, layers=0)
        assert reading.row("cat", 0).weights.shape == (len(reading.tokens),)

    return damage(content), check


def weights_cases() -> tuple[SearchStrategy[Any], Any]:
    """The weights' file: damaged bytes, and a header that lies."""
    return _model_case("model.safetensors", lambda content: damaged(content, 3000) | with_header(content, damaged_json))


def configuration_cases() -> tuple[SearchStrategy[Any], Any]:
    """config.json with unknown kinds, absurd sizes and values of every type; loaded, and asked for its cost."""
    cases, load = _model_case("config.json", lambda content: _configurations(json.loads(content)))
    folder = fresh_folder()

    def check(given: bytes) -> None:
        (folder / "config.json").write_bytes(given)
        with suppress(HeedmapError):
            configuration = find_configuration(folder)
            shape, dtype = shape_of(configuration), stored_dtype(configuration)
            costs = [predict(shape, tokens, dtype=dtype) for tokens in (1000, 100_000)]
            json.dumps(to_json(shape, "given", dtype, costs), allow_nan=False)
        load(given)

    return cases, check


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
    """tokenizer.json, damaged."""
    return _model_case("tokenizer.json", lambda content: damaged_file(json.loads(content)))


def gguf_cases() -> tuple[SearchStrategy[Any], Any]:
    """A GGUF file whose counts, lengths, types and names are damaged; converted."""
    folder = fresh_folder()
    path = folder / "tiny.gguf"
    write_gguf(path)
    content = path.read_bytes()
    header = content.index(b"output_norm.weight") + 2000

    def check(given: bytes) -> None:
        path.write_bytes(given)
        with patch.dict(os.environ, HEEDMAP_CACHE=str(folder / "cache")):
            target, _ = gguf_copy(path, Progress(shown=False))
        shutil.rmtree(target)

    return damaged(content, 200) | damaged(content, header), check


def picture_cases() -> tuple[SearchStrategy[Any], Any]:
    """Pictures in four formats, damaged; sizes in their headers too."""
    folder = fresh_folder()
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 255, (9, 12, 3), dtype=np.uint8))
    contents = []
    for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"):
        buffer = io.BytesIO()
        picture.save(buffer, kind)
        contents.append(buffer.getvalue())

    def check(given: bytes) -> None:
        path = folder / "picture"
        path.write_bytes(given)
        pixels = as_pixels(path)
        assert pixels.dtype == np.uint8
        assert pixels.ndim == 3

    return st.sampled_from(contents).flatmap(lambda content: damaged(content, 60)), check


TARGETS = (
    Target("readings", "saved readings: cut, flipped, other schemas, sizes that lie", reading_cases, 40, 8000),
    Target("weights", "safetensors of a model: cut, flipped, headers that lie", weights_cases, 12, 3000),
    Target("configurations", "config.json: unknown kinds, absurd sizes, wrong types", configuration_cases, 12, 3000),
    Target("tokenizers", "tokenizer.json, damaged", tokenizer_cases, 12, 3000),
    Target("gguf", "GGUF files: cut, flipped, counts and lengths that lie", gguf_cases, 8, 1500, 2 * GIBIBYTE),
    Target("pictures", "pictures in six formats, damaged", picture_cases, 40, 5000, 2 * GIBIBYTE),
)
