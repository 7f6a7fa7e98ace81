"""What may be given to `wrap` and `load`, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import TextError, UnsupportedModel
from tests.pictures import word_tokenizer
from tests.tiny import tiny_model

TEXT = "the cat sat on a mat"


class Pipeline:
    """Holds a model and a tokenizer, as transformers' pipelines do."""

    def __init__(self) -> None:
        self.model, self.tokenizer = tiny_model("llama"), word_tokenizer()


class SentenceTransformer(torch.nn.Sequential):
    """Holds a transformers model in its first part, as those of sentence-transformers do."""

    def encode(self, text: str) -> str:
        return text

    def similarity(self, one: Any, other: Any) -> bool:
        return bool(one == other)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("smollm2", r"'smollm2' is a name, and wrap takes a loaded module: heedmap.load\('smollm2'\)"),
        (None, "a torch.nn.Module, not None"),
        (3, "a torch.nn.Module, not int"),
        (Pipeline(), r"a Pipeline is not a module, but holds one: heedmap.wrap\(it.model, it.tokenizer\)"),
        (SentenceTransformer(), r"a SentenceTransformer holds .* heedmap.wrap\(it\[0\].auto_model, it.tokenizer\)"),
        (
            torch.nn.Sequential(tiny_model("llama")),
            r"a Sequential .* holds '0': heedmap.wrap\(it.get_submodule\('0'\), tokenizer\)",
        ),
        (torch.nn.Linear(2, 2), "Linear is not a transformers model"),
    ],
    ids=[
        "a name",
        "nothing",
        "a number",
        "a pipeline",
        "sentence-transformers",
        "a model in another",
        "another module",
    ],
)
def test_what_is_no_model_is_refused_with_what_to_pass(given: Any, says: str) -> None:
    with pytest.raises(UnsupportedModel, match=says):
        heedmap.wrap(given, word_tokenizer())


def test_the_model_in_data_parallel_is_read() -> None:
    module = tiny_model("llama")
    plain = heedmap.wrap(module, word_tokenizer()).read(TEXT)
    parallel = heedmap.wrap(torch.nn.DataParallel(module), word_tokenizer()).read(TEXT)
    np.testing.assert_array_equal(np.asarray(parallel.map(1, 2)), np.asarray(plain.map(1, 2)))


def test_numpy_numbers_are_layers_and_heads() -> None:
    model = heedmap.wrap(tiny_model("llama"), word_tokenizer())
    one: Any = np.int64(1)
    several: list[Any] = [one, np.array([1, 2]), [np.int32(1)]]
    for layers in several:
        reading = model.read(TEXT, layers=layers)
        row = reading.row("cat", layer=one, head=one)
        assert json.loads(json.dumps(row.to_json()))["layer"] == 1
        assert len(reading.stats(layers=one)) == 4
        assert json.dumps(reading.stats(layers=one).to_json())
    with heedmap.watch(model.module, model.tokenizer, layers=one) as watched:
        model.module(**model.tokenizer(TEXT, return_tensors="pt"))
    assert list(watched.readings[0].calls) == [1]


def test_one_text_is_no_batch() -> None:
    model = heedmap.wrap(tiny_model("llama"), word_tokenizer())
    with pytest.raises(TextError, match=r"read_batch takes a list of texts, and this is one: read\(text\)"):
        model.read_batch(TEXT)


def test_dtypes_and_devices_of_torch_are_taken() -> None:
    model = heedmap.load("smollm2", dtype=torch.bfloat16, device=torch.device("cpu"))
    assert next(model.module.parameters()).dtype == torch.bfloat16
