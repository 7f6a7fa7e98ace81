"""Predicted cost: cells counted one by one, operations counted by torch, caches made by transformers."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig

from heedmap.cli.main import main
from heedmap.errors import FileError, HeedmapError, ModelError, ModelNotFound, OutOfRange, UnsupportedModel
from heedmap.lab.cost_predict import outweighs_from, predict
from heedmap.lab.cost_shape import LayerShape, shape_of
from heedmap.models.configuration import find_configuration
from heedmap.reading.cost import estimate
from heedmap.reading.model import Model
from tests.families import FAMILIES, tiny_family
from tests.tiny import tiny_ids

CAUSAL = ["llama", "mistral", "gemma3_text", "gpt2", "gpt_neox", "phi3", "gpt_bigcode", "olmo2", "opt"]


@pytest.mark.parametrize(
    "layer",
    [LayerShape(1, 8, 8, 16), LayerShape(1, 8, 8, 16, reach=5), LayerShape(1, 8, 8, 16, reach=4, chunked=True)],
)
def test_cells_are_those_of_the_mask(layer: LayerShape) -> None:
    for tokens in range(1, 15):
        rows, columns = torch.arange(tokens)[:, None], torch.arange(tokens)[None]
        allowed = columns <= rows
        if layer.chunked:
            allowed = allowed & (rows // 4 == columns // 4)
        elif layer.reach is not None:
            allowed = allowed & (columns > rows - layer.reach)
        assert layer.cells(tokens, causal=True) == int(allowed.sum())


@pytest.mark.parametrize("family", CAUSAL)
def test_operations_are_those_that_torch_counts(family: str) -> None:
    """With eager attention and no mask saved, torch counts every table and the whole map: four times heads x dim."""
    model = tiny_family(family, implementation="eager")
    shape, tokens = shape_of(model.config), 16
    kept = "logits_to_keep" in inspect.signature(type(model).forward).parameters
    options = {"use_cache": False, **({"logits_to_keep": 1} if kept else {})}
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(input_ids=tiny_ids(tokens), **options)
    predicted = predict(shape, tokens)
    whole = sum(2 * layer.heads * (layer.query_dim + layer.value_dim) * tokens * tokens for layer in shape.layers)
    rows = 1 if kept else tokens
    expected = whole + predicted.projections + predicted.feed_forward + predicted.output * rows
    assert counted.get_total_flops() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "phi3", "olmo2"])
def test_the_cache_has_the_bytes_predicted(family: str) -> None:
    model, tokens = tiny_family(family), 20
    with torch.no_grad():
        cache = model(input_ids=tiny_ids(tokens), use_cache=True).past_key_values
    found = sum(tensor.nbytes for layer in cache.layers for tensor in (layer.keys, layer.values))
    assert found == predict(shape_of(model.config), tokens, dtype="float32").cache


def test_windows_bound_the_cache_and_latent_attention_keeps_one_short_vector() -> None:
    mistral = shape_of(AutoConfig.for_model("mistral", **FAMILIES["mistral"].settings))
    assert predict(mistral, 1000).cache == predict(mistral, 6).cache
    assert outweighs_from(mistral) is None
    mixed = shape_of(AutoConfig.for_model("gemma3_text", **FAMILIES["gemma3_text"].settings))
    assert sorted(str(layer.reach) for layer in mixed.layers) == ["6", "6", "None"]
    latent = shape_of(AutoConfig.for_model("deepseek_v3", **FAMILIES["deepseek_v3"].settings))
    assert {layer.cached for layer in latent.layers} == {16 + 8}
    assert {(layer.query_dim, layer.value_dim) for layer in latent.layers} == {(24, 16)}
    hybrid = shape_of(AutoConfig.for_model("jamba", **FAMILIES["jamba"].settings))
    assert (len(hybrid.layers), hybrid.silent) == (2, 2)


def test_the_estimate_of_a_loaded_model_agrees(smollm2: Model) -> None:
    loaded = estimate(smollm2.module, smollm2.layers, 4096)
    predicted = predict(shape_of(find_configuration("smollm2")), 4096)
    assert predicted.rest == pytest.approx(loaded.table_operations, rel=1e-6)
    assert predicted.attention == pytest.approx(loaded.attention_operations, rel=1e-3)


def test_ten_times_the_tokens_are_a_hundred_times_the_attention() -> None:
    shape = shape_of(find_configuration("smollm2"))
    assert predict(shape, 100_000).attention / predict(shape, 10_000).attention == pytest.approx(100, rel=1e-3)
    length = outweighs_from(shape)
    assert length == 6144
    with pytest.raises(OutOfRange, match=r"the cost of 0 tokens"):
        predict(shape, 0)
    with pytest.raises(OutOfRange, match=r"no dtype 'int3'"):
        predict(shape, 1, dtype="int3")


def test_the_command_needs_a_configuration_and_no_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    AutoConfig.for_model("llama", **FAMILIES["llama"].settings).save_pretrained(tmp_path)
    assert main(["cost", str(tmp_path), "--tokens", "10,1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "heedmap/cost/1"
    assert [one["tokens"] for one in found["lengths"]] == [10, 1000]
    assert main(["cost", str(tmp_path / "config.json"), "--tokens", "10,100", "--dtype", "float16"]) == 0
    shown = capsys.readouterr()
    assert "10 times the tokens: 92 times the attention work" in " ".join(shown.out.split())
    assert "cache in float16" in shown.out
    assert "heedmap lab cost" in shown.err
    assert main(["cost", str(tmp_path), "--tokens", "many"]) == 2


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, ModelNotFound, r"there is no file"),
        ("{", FileError, r"cannot read .*config\.json"),
        ('{"model_type": "no-such-kind"}', HeedmapError, r"no-such-kind|cannot be read"),
    ],
)
def test_what_is_no_configuration_is_refused(
    content: str | None, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(error, match=message):
        find_configuration(path)
    other = tmp_path / "weights.bin"
    other.write_bytes(b"")
    with pytest.raises(ModelError, match=r"is no configuration"):
        find_configuration(other)
    with pytest.raises(UnsupportedModel, match=r"has an encoder and a decoder"):
        shape_of(AutoConfig.for_model("t5", **FAMILIES["t5"].settings))
