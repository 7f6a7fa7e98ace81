"""Edits that cannot be made are refused, saying what is there instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import heedmap
from heedmap.errors import AmbiguousWord, OutOfRange, ReadingError, UnsupportedModel, WordNotFound
from heedmap.reading.edits import Edit, HeadMeans, forbid, head_means, remove
from heedmap.reading.head_means import SCHEMA
from heedmap.reading.model import Model
from tests.conftest import TROPHY
from tests.families import OWN_CODE, tiny_family
from tests.reading.editing import SPARSE, answer, tiny_models, tokens_of


@pytest.fixture(scope="module")
def tiny(smollm2_tokenizer: Any) -> Callable[[str], Model]:
    """A tiny model of a family."""
    return tiny_models(smollm2_tokenizer)


def test_a_token_must_keep_something_to_look_at(tiny: Callable[[str], Model]) -> None:
    with pytest.raises(ReadingError, match=r"token 0 may look at nothing any more in model\.layers\.0\."):
        answer(tiny("llama"), forbid("@0", "@0"))
    with pytest.raises(ReadingError, match=r"token 8 may look at nothing"):
        answer(tiny("mistral"), forbid("@8", ["@3", "@4", "@5", "@6", "@7", "@8"], layers=2, heads=1))
    assert answer(tiny("gpt_oss"), forbid("@0", "@0")).isfinite().all(), "a learned sink is left to look at"


@pytest.mark.parametrize("family", SPARSE)
def test_a_layer_that_picks_its_keys_is_refused(family: str, tiny: Callable[[str], Model]) -> None:
    with pytest.raises(UnsupportedModel, match=r"picks a few keys for each token by itself"):
        answer(tiny(family), forbid("@8", "@7", layers=1))


@pytest.mark.parametrize("family", sorted(OWN_CODE))
def test_attention_code_of_its_own_is_refused(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_family(family), smollm2_tokenizer)
    for edit in (forbid("@8", "@7"), remove(0, 0, zero=True)):
        with pytest.raises(UnsupportedModel, match=r"attention code of its own.*cannot be edited"):
            model.edited(edit).listen(tokens_of(), lambda *_: None)
    with pytest.raises(UnsupportedModel, match=r"cannot be edited"):
        head_means(model, [tokens_of()])


def test_what_is_not_there_is_named(smollm2: Model) -> None:
    means = head_means(smollm2, ["The cat sat."])
    for make, error, message in (
        (lambda: remove(1, 1), ReadingError, r"say what stands in for the removed head.*one of the three"),
        (lambda: remove(1, 1, means, zero=True), ReadingError, r"one of the three"),
        (lambda: remove(30, 1, means), OutOfRange, r"the means of layer 30 were not measured"),
        (lambda: remove(1, 9, means), OutOfRange, r"head 9 is out of range: layer 1 has 9 heads"),
        (lambda: forbid("it", "it", layers=[]), OutOfRange, r"no layer was named"),
        (lambda: forbid("it", "it", heads=-1), OutOfRange, r"no head -1"),
        (lambda: head_means(smollm2, []), ReadingError, r"no text to take means of"),
    ):
        with pytest.raises(error, match=message):
            make()
    twice = "There is the cup of the house, and it is here."
    refused: list[tuple[str, Edit, type[Exception], str]] = [
        (TROPHY, remove(30, 1, zero=True), OutOfRange, r"layer 30 cannot be edited; layers with attention: 0, 1"),
        (TROPHY, remove(2, 9, zero=True), OutOfRange, r"head 9 is out of range: layer 2 has 9 heads, 0 to 8"),
        (TROPHY, forbid("it", "cup"), WordNotFound, r"cup"),
        (twice, forbid("the", "it"), AmbiguousWord, r"the"),
        (TROPHY, forbid("it", "it", heads=12), OutOfRange, r"head 12 is out of range"),
        (TROPHY, remove(2, 1, zero=True, stack="decoder"), OutOfRange, r"no stack 'decoder': this model has one"),
    ]
    for text, edit, expected, message in refused:
        with pytest.raises(expected, match=message):
            smollm2.read(text, edit=edit)
    with pytest.raises(ReadingError, match=r"a model that writes is not edited"):
        smollm2.edited(remove(2, 1, zero=True)).generate("The cat", 2)


def test_means_of_another_model_are_refused(smollm2: Model, tiny: Callable[[str], Model]) -> None:
    means = head_means(tiny("llama"), [tokens_of()])
    with pytest.raises(ReadingError, match=r"the means were measured on LlamaForCausalLM .* and this is smollm2"):
        smollm2.read(TROPHY, edit=remove(1, 1, means))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, heedmap.HeedmapError, r"there is no file"),
        (b"not a safetensors file", ReadingError, r"is damaged, or holds no means"),
    ],
)
def test_files_that_hold_no_means_are_refused(
    content: bytes | None, error: type[Exception], message: str, tmp_path: Path, smollm2: Model
) -> None:
    path = tmp_path / "means.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=message):
        HeadMeans.open(path)
    smollm2.read("The cat sat.", layers=1).save(path)
    with pytest.raises(ReadingError, match=r"holds no means of heads"):
        HeadMeans.open(path)


def test_what_stands_in_must_be_of_the_size_that_the_head_gives(
    tiny: Callable[[str], Model], tmp_path: Path, smollm2_tokenizer: Any
) -> None:
    """Means are known by class and sizes where a model has no hash: those of narrower heads have the same."""
    narrow = heedmap.wrap(tiny_family("llama", head_dim=8), smollm2_tokenizer)
    head_means(narrow, [tokens_of()]).save(tmp_path / "means.safetensors")
    means = HeadMeans.open(tmp_path / "means.safetensors")
    model = tiny("llama")
    own = model.describe()
    with pytest.raises(ReadingError, match=r"has 8 numbers, where the head gives 16"):
        answer(model, remove(1, 1, replace(means, model=own)))
    fewer: dict[str, Any] = {"num_attention_heads": 2, "num_key_value_heads": 2}
    other = heedmap.wrap(tiny_family("llama", **fewer), smollm2_tokenizer)
    with pytest.raises(OutOfRange, match=r"head 3 is out of range: the other reading has 2 heads"):
        answer(model, remove(1, 3, like=other.read_tokens(tokens_of(), values=True)))


@pytest.mark.parametrize("tensor", [torch.zeros(3), torch.zeros(0, 4), torch.zeros(3, 4, dtype=torch.int32)])
def test_files_of_means_that_hold_none_are_refused(tensor: torch.Tensor, tmp_path: Path) -> None:
    header = {"schema": SCHEMA, "model": {"name": "x"}, "texts": 1, "tokens": 1}
    save_file({"0": tensor}, tmp_path / "means.safetensors", metadata={"heedmap": json.dumps(header)})
    with pytest.raises(ReadingError, match=r"damaged, or holds no means: ValueError: the means of layer 0"):
        HeadMeans.open(tmp_path / "means.safetensors")
    save_file(
        {"0": torch.zeros(3, 4)},
        tmp_path / "means.safetensors",
        metadata={"heedmap": json.dumps({**header, "texts": "1"})},
    )
    with pytest.raises(ReadingError, match=r"texts: expected a whole number"):
        HeadMeans.open(tmp_path / "means.safetensors")
