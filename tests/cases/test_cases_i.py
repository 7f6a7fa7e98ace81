"""Loading: odd sizes, half precision, numbers that are none, foreign arrays and devices, files that are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import ModelError, ModelGated, ModelNotFound, NumbersError, UnsupportedModel
from heedmap.reading.model import Model
from tests.tiny import tiny_model

CAT = "The cat sat on the mat"


def test_i2_a_model_of_odd_sizes_loads(smollm2_tokenizer: Any, tmp_path: Path) -> None:
    """I2: a pruned checkpoint of a known family, of sizes that no published one has."""
    sizes: dict[str, Any] = {"hidden_size": 60, "intermediate_size": 77, "num_hidden_layers": 5, "head_dim": 14}
    odd: dict[str, Any] = {"vocab_size": 49152, "num_attention_heads": 6, "num_key_value_heads": 3, **sizes}
    module = tiny_model("llama", **odd)
    module.save_pretrained(tmp_path)
    smollm2_tokenizer.save_pretrained(tmp_path)
    reading = heedmap.load(tmp_path).read(CAT)
    assert [tuple(weights.shape) for weights in reading.attentions()] == [(1, 6, 6, 6)] * 5
    with torch.no_grad():
        eager = tiny_model("llama", implementation="eager", **odd)
        expected = eager(torch.tensor([reading.tokens.ids]), output_attentions=True).attentions
    for found, weights in zip(reading.attentions(), expected, strict=True):
        torch.testing.assert_close(found, weights, atol=1e-5, rtol=0)


@pytest.fixture(scope="module", params=["float16", "bfloat16"])
def half(request: pytest.FixtureRequest) -> Model:
    return heedmap.load("smollm2", dtype=request.param)


def test_i3_i4_half_precision_is_read_in_float32_and_says_so(half: Model, smollm2: Model) -> None:
    """I3, I4: half precision on a CPU: rows add up to 1, everything becomes NumPy, and the dtype is named."""
    reading, exact = half.read(CAT), smollm2.read(CAT)
    dtype = str(half.module.dtype).removeprefix("torch.")
    assert reading.model["dtype"] == dtype
    assert f"{dtype} on cpu" in repr(half)
    difference = 0.0
    for layer, (weights, whole) in enumerate(zip(reading.attentions(), exact.attentions(), strict=True)):
        assert weights.dtype == torch.float32
        np.testing.assert_allclose(weights.sum(-1).numpy(), 1, atol=1e-5)
        difference = max(difference, float((weights - whole).abs().max()))
        assert np.asarray(reading.map(layer, 3)).dtype == np.float64
    # The model itself computes in fewer bits: its weights are really others, by up to 0.059 in bfloat16.
    assert 1e-5 < difference < 0.1
    json.dumps(reading.row("mat", 12).to_json(), allow_nan=False)
    assert reading.row("mat", 12).plot().get_title() is not None


def test_i5_what_is_not_a_number_is_counted_by_layer_and_never_0(smollm2_tokenizer: Any) -> None:
    """I5: a model in half precision that overflows: rows that are no numbers are counted, named, not drawn as 0."""
    module = tiny_model("gpt2", vocab_size=49152)
    for block in module.transformer.h:
        block.attn.c_attn.weight.data *= 3e4
    reading = heedmap.wrap(module.half(), smollm2_tokenizer).read(CAT)
    broken = reading.not_a_number()
    weights = torch.stack([torch.from_numpy(np.asarray(reading.map(0, head))) for head in range(4)])
    assert set(broken) == {0, 1, 2}
    assert broken[0] == int(weights.isnan().any(-1).sum()) > 0
    head, query = (int(place[0]) for place in weights.isnan().any(-1).nonzero(as_tuple=True))
    row = reading.row(f"@{query}", 0, head)
    assert row.to_json()["not_a_number"] > 0
    assert None in row.to_json()["weights"][: query + 1]
    assert "nan" in str(row)


class ForeignArray:
    """An array of another library: it can become one of NumPy's, but has other attributes (`size` is a string)."""

    size = "none"

    def __init__(self, numbers: list[list[float]]) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numbers, dtype=dtype)


def test_i6_arrays_of_other_libraries_are_taken_or_named() -> None:
    """I6: numbers as lists, NumPy arrays or arrays of another library are one and the same; what is none is named."""
    numbers = [[1.0, 0.6]], [[0.1, 0.0], [1.0, 0.8]], [[0.1, 0.1], [1.0, 0.2]]
    expected = heedmap.attend(*numbers).weights
    kinds: tuple[Any, ...] = (np.array, ForeignArray, lambda one: torch.tensor(one, dtype=torch.float64))
    for kind in kinds:
        np.testing.assert_array_equal(heedmap.attend(*(kind(one) for one in numbers)).weights, expected)
    with pytest.raises(NumbersError, match="query: expected real numbers, found object values"):
        heedmap.attend(object(), *numbers[1:])


def test_i7_a_model_on_a_device_without_numbers_is_refused_by_name() -> None:
    """I7: weights that are on another device than the rest, here on one that holds none: an error with its reason."""
    module = tiny_model("llama").to("meta")
    with pytest.raises(UnsupportedModel, match=r"LlamaForCausalLM cannot be run on a short text \(.*meta"):
        heedmap.wrap(module, None)
    mixed = tiny_model("llama")
    mixed.model.layers[1].to("meta")
    with pytest.raises(UnsupportedModel, match=r"LlamaForCausalLM cannot be run on a short text \(.*meta"):
        heedmap.wrap(mixed, None)


def test_i8_a_gguf_file_loads_or_says_that_it_cannot(tmp_path: Path) -> None:
    """I8: a .gguf file is read through transformers (the default model is one); a broken one says so in one line."""
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and nothing else")
    with pytest.raises(ModelError, match=r"broken\.gguf cannot be converted") as refused:
        heedmap.load(tmp_path / "broken.gguf")
    assert "\n" not in str(refused.value)


def test_i9_what_is_not_there_has_one_cause_in_one_line(tmp_path: Path) -> None:
    """I9: a path that does not exist (gated models are refused likewise: tested with a Hub in tests/models)."""
    with pytest.raises(ModelNotFound, match="there is no folder or file") as refused:
        heedmap.load(tmp_path / "nowhere")
    assert "\n" not in str(refused.value)
    assert issubclass(ModelGated, ModelError)
