"""Folders and files that cannot be loaded are refused, saying what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from heedmap.errors import (
    FileError,
    MissingExtra,
    ModelError,
    TokenizerMissing,
    UnsupportedModel,
)
from heedmap.models.load import load_model
from tests.models.making import edit_json


def test_a_kind_that_transformers_does_not_know(folder: Path) -> None:
    edit_json(folder / "config.json", model_type="llama9")
    with pytest.raises(
        UnsupportedModel, match=r"transformers 5.* does not know models of the type 'llama9' .*--upgrade"
    ):
        load_model(folder)
    edit_json(folder / "config.json", model_type=None)
    with pytest.raises(UnsupportedModel, match=r"config.json names no model_type"):
        load_model(folder)


def test_no_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()
    with pytest.raises(TokenizerMissing, match=r"holds no tokenizer .*use heedmap.wrap\(module, tokenizer\)"):
        load_model(folder)


def test_a_damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"version": "1.0", "model"')
    with pytest.raises(TokenizerMissing, match=r"the tokenizer in .* cannot be loaded \(.*\): repair it"):
        load_model(folder)


def test_a_package_that_is_not_installed_is_named(folder: Path) -> None:
    edit_json(folder / "config.json", quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128})
    with pytest.raises((MissingExtra, ModelError), match=r"(?i)gptq|optimum"):
        load_model(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "there is no config.json in it"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has a config.json but no weights"),
        (
            lambda folder: (folder / "config.json").rename(folder / "adapter_config.json"),
            "holds a PEFT adapter, not a model: merge it",
        ),
        (
            lambda folder: (folder / "config.json").rename(folder / "model.Q8_0.gguf"),
            "it holds model.Q8_0.gguf: give the path of that file",
        ),
        (lambda folder: edit_json(folder / "config.json", hidden_size="wide"), "cannot be loaded"),
        (lambda folder: edit_json(folder / "config.json", num_attention_heads=0), "cannot be loaded"),
    ],
)
def test_folders_that_hold_no_model(folder: Path, change: Callable[[Path], None], message: str) -> None:
    change(folder)
    with pytest.raises(ModelError, match=message):
        load_model(folder)


@pytest.mark.parametrize("content", ['{"model_type": "llama"', "[1, 2]", "\xff"])
def test_a_damaged_config(folder: Path, content: str) -> None:
    (folder / "config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(FileError, match=r"config.json"):
        load_model(folder)


@pytest.mark.parametrize("kept", [0, 4, 100, -100])
def test_damaged_weights(folder: Path, kept: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])
    with pytest.raises(FileError, match=r"the weights in .*my model are damaged \(.*\): fetch or copy them again"):
        load_model(folder)


def test_files_that_are_no_model(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"is one file of a model: give its folder, '.*my model'"):
        load_model(folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"config.json' is neither a folder nor a .gguf file"):
        load_model(folder / "config.json")
