"""Half precision, and models whose tables lie elsewhere: in a GGUF file, in CPU memory, on disk, or compiled."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import cpu_offload, disk_offload
from transformers import AutoConfig, AutoModelForCausalLM

import heedmap
from heedmap.reading.generate import generate
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from heedmap.reading.together import read_together
from heedmap.text.tokenize import from_ids
from tests.conftest import ROUNDING
from tests.models.making import write_gguf
from tests.tiny import DECODERS, FAMILIES, tiny_ids, tiny_model

HALF_TOLERANCES = {torch.float16: 5e-3, torch.bfloat16: 4e-2}
"""A weight of eager attention in half precision is itself rounded, from rounded scores: to 11 or 8 bits, so that it is
off by up to 2^-11 or 2^-8 for each unit of a score; scores here reach 8. What is read here is computed in float32."""

GPT_OSS: dict[str, Any] = {
    **{key: value for key, value in DECODERS["qwen2"].items() if key != "rope_theta"},
    "head_dim": 16,
    "sliding_window": 4,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}


def tiny_gpt_oss(implementation: str = "sdpa") -> Any:
    """A model with learned sinks, which are parameters of its layers."""
    torch.manual_seed(0)
    configuration = AutoConfig.for_model("gpt_oss", **GPT_OSS)
    options = {} if implementation == "sdpa" else {"attn_implementation": implementation}
    model: Any = AutoModelForCausalLM.from_config(configuration, **options).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.15)
    return model


def eager_weights(module: Any, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        found: tuple[torch.Tensor, ...] = module(input_ids=ids, output_attentions=True).attentions
    return found


def assert_reads_as(model: Model, expected: tuple[torch.Tensor, ...], ids: torch.Tensor, tolerance: float) -> None:
    """Every weight of every layer, and that rows add up to 1 with what the sink took."""
    reading = model.read_tokens(from_ids(model.tokenizer, ids[0].tolist()))
    assert len(reading.calls) == len(expected)
    for number, weights in enumerate(expected):
        call = reading.call(number)
        assert call.query.device.type == call.key.device.type != "meta"
        found = call.weights(slice(None), slice(None))
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, weights.float().cpu(), atol=tolerance, rtol=0)
        sink = call.sink_share(slice(None))
        whole = found.sum(-1) + (0 if sink is None else sink)
        torch.testing.assert_close(whole, torch.ones_like(whole), atol=ROUNDING, rtol=0)


@pytest.mark.parametrize("dtype", HALF_TOLERANCES, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_half_precision_is_read_in_float32(family: str, dtype: torch.dtype, smollm2_tokenizer: Any) -> None:
    ids = tiny_ids(12)
    expected = eager_weights(tiny_model(family, implementation="eager").to(dtype), ids)
    model = wrap(tiny_model(family).to(dtype), smollm2_tokenizer)
    assert model.describe()["dtype"] == str(dtype).removeprefix("torch.")
    assert_reads_as(model, expected, ids, HALF_TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", HALF_TOLERANCES, ids=str)
def test_half_precision_writes_and_batches(dtype: torch.dtype, smollm2_tokenizer: Any) -> None:
    """Rows of generation and of padded texts add up to 1, and the words are those of the untouched model."""
    module = tiny_model("llama").to(dtype)
    model = wrap(module, smollm2_tokenizer)
    prompt = from_ids(smollm2_tokenizer, tiny_ids(6)[0].tolist())
    written = generate(model, prompt, 4, eos_token_id=None)
    ids = torch.tensor([prompt.ids])
    expected = module.generate(ids, max_new_tokens=4, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert written.tokens.ids == expected[0].tolist()
    np.testing.assert_allclose(written.rows(1, 2).sum(-1), 1, atol=ROUNDING)
    texts = [prompt, from_ids(smollm2_tokenizer, tiny_ids(9)[0].tolist())]
    for tokens, reading in zip(texts, read_together(model, texts, padding="left"), strict=True):
        alone = np.asarray(model.read_tokens(tokens).map(1, 2))
        np.testing.assert_allclose(np.asarray(reading.map(1, 2)), alone, atol=HALF_TOLERANCES[dtype])
        np.testing.assert_allclose(np.asarray(reading.map(1, 2)).sum(-1), 1, atol=ROUNDING)


def test_a_gguf_file_is_read_as_the_model_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A llama stored as Q8_0: what is read is what eager attention says of the dequantised tables."""
    monkeypatch.setenv("HEEDMAP_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "tiny.gguf"
    write_gguf(file)
    model = heedmap.load(file)
    tokens = model.tokenize("the other weather")
    reference = copy.deepcopy(model.module)
    reference.set_attn_implementation("eager")
    ids = torch.tensor([tokens.ids])
    assert_reads_as(model, eager_weights(reference, ids), ids, ROUNDING)
    halved = heedmap.load(file, dtype="bfloat16")
    assert_reads_as(halved, eager_weights(reference, ids), ids, HALF_TOLERANCES[torch.bfloat16])


@pytest.mark.parametrize("place", ["cpu", "disk"])
@pytest.mark.parametrize("family", ["llama", "gpt_oss"])
def test_offloaded_tables_are_read_while_they_are_there(
    family: str, place: str, tmp_path: Path, smollm2_tokenizer: Any
) -> None:
    """accelerate brings each layer's tables for its own call and takes them away after it: nothing kept may be one."""
    make: Any = (
        tiny_gpt_oss
        if family == "gpt_oss"
        else lambda implementation="sdpa": tiny_model(family, implementation=implementation)
    )
    ids = tiny_ids(12)
    expected = eager_weights(make("eager"), ids)
    module = make()
    if place == "cpu":
        cpu_offload(module, torch.device("cpu"))
    else:
        disk_offload(module, str(tmp_path), torch.device("cpu"))
    assert any(parameter.device.type == "meta" for parameter in module.parameters())
    model = wrap(module, smollm2_tokenizer)
    assert_reads_as(model, expected, ids, ROUNDING)


def test_a_compiled_model_is_read(smollm2_tokenizer: Any) -> None:
    """torch.compile wraps the module; what is in it is found, and its numbers are those of the plain one."""
    ids = tiny_ids(12)
    expected = eager_weights(tiny_model("llama", implementation="eager"), ids)
    compiled: Any = torch.compile(tiny_model("llama"), backend="eager")
    assert_reads_as(wrap(compiled, smollm2_tokenizer), expected, ids, ROUNDING)


def test_a_model_compiled_in_place_is_read(smollm2_tokenizer: Any) -> None:
    ids = tiny_ids(12)
    expected = eager_weights(tiny_model("llama", implementation="eager"), ids)
    module = tiny_model("llama")
    module.compile(backend="eager")
    assert_reads_as(wrap(module, smollm2_tokenizer), expected, ids, ROUNDING)
