"""Norms of transformed values against the layer's tables multiplied out by hand, family by family."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import OutOfRange, ReadingError, UnsupportedModel
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.text.tokens import Token, Tokens
from tests.conftest import TROPHY
from tests.tiny import FAMILIES, tiny_ids, tiny_model

TABLES = {
    "llama": "model.layers.1.self_attn.o_proj",
    "qwen2": "model.layers.1.self_attn.o_proj",
    "qwen3": "model.layers.1.self_attn.o_proj",
    "mistral": "model.layers.1.self_attn.o_proj",
    "gemma3_text": "model.layers.1.self_attn.o_proj",
    "gpt2": "transformer.h.1.attn.c_proj",
    "gpt_neox": "gpt_neox.layers.1.attention.dense",
    "bert": "encoder.layer.1.attention.output.dense",
    "roberta": "encoder.layer.1.attention.output.dense",
    "distilbert": "transformer.layer.1.attention.out_lin",
}


@pytest.fixture(scope="module")
def tiny_reading(smollm2_tokenizer: Any) -> Callable[[str], Reading]:
    """A reading of nine random tokens by a tiny model of a family."""

    def make(family: str) -> Reading:
        ids = tiny_ids(9)[0].tolist()
        tokens = Tokens("abcdefghi", tuple(Token(i, ids[i], one, i, i + 1) for i, one in enumerate("abcdefghi")))
        return heedmap.wrap(tiny_model(family), smollm2_tokenizer).read_tokens(tokens, values=True)

    return make


def by_hand(reading: Reading, layer: int, name: str) -> Any:
    """[head, query, key, hidden]: each weighted, transformed value in float64, from the table's own numbers."""
    assert reading.reader is not None
    table = reading.reader.module.get_submodule(name)
    matrix = table.weight.detach().double().numpy()  # [hidden, head x dim]; GPT-2 keeps it the other way round
    if type(table).__name__ == "Conv1D":
        matrix = matrix.T
    call = reading.call(layer)
    assert call.value is not None
    values = np.repeat(call.value[0].double().numpy(), call.heads // call.key_value_heads, 0)
    heads = matrix.reshape(len(matrix), call.heads, -1)
    transformed = np.einsum("hkd,ohd->hko", values, heads)
    weights = np.stack([np.asarray(reading.map(layer, head)) for head in range(call.heads)])
    return weights[..., None] * transformed[:, None]


@pytest.mark.parametrize("family", FAMILIES)
def test_heads_and_their_sum_are_those_worked_by_hand(family: str, tiny_reading: Callable[[str], Reading]) -> None:
    reading = tiny_reading(family)
    parts = by_hand(reading, 1, TABLES[family])
    for query, head in ((8, 0), (4, 3), (0, 2)):
        row = reading.value_norms(f"@{query}", 1, head)
        np.testing.assert_allclose(row.products, np.linalg.norm(parts[head, query], axis=-1), rtol=1e-5, atol=1e-7)
        assert row.norms is not None
        np.testing.assert_allclose(row.products, row.weights * row.norms, rtol=1e-12)
        assert row.table == TABLES[family]
        assert row.difference < 1e-5
    row = reading.value_norms("@8", 1)
    np.testing.assert_allclose(row.products, np.linalg.norm(parts[:, 8].sum(0), axis=-1), rtol=1e-5, atol=1e-7)
    assert row.norms is None


def test_a_word_of_two_tokens_has_the_mean_of_their_norms_or_those_of_the_last(
    tiny_reading: Callable[[str], Reading],
) -> None:
    reading = tiny_reading("llama")
    parts = by_hand(reading, 1, TABLES["llama"])
    norms = np.linalg.norm(parts[:, 3:5].sum(0), axis=-1)
    row = reading.value_norms("de", 1)
    assert row.query == (3, 4)
    np.testing.assert_allclose(row.products, norms.mean(0), rtol=1e-5, atol=1e-7)
    last = reading.value_norms("de", 1, query_rule="last")
    np.testing.assert_allclose(last.products, norms[1], rtol=1e-5, atol=1e-7)


def test_blocks_of_tokens_give_the_same(
    tiny_reading: Callable[[str], Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    from heedmap.reading import value_norms

    reading = tiny_reading("gpt2")
    whole = [reading.value_norms("@8", 1, head).products for head in (None, 2)]
    monkeypatch.setattr(value_norms, "_BLOCK_NUMBERS", 150)
    for head, expected in zip((None, 2), whole, strict=True):
        np.testing.assert_allclose(reading.value_norms("@8", 1, head).products, expected, rtol=1e-5)


def test_the_sink_of_a_real_model_weighs_much_and_adds_little(smollm2: Model, minilm: Model) -> None:
    row = smollm2.read(TROPHY, layers=20).value_norms("it", 20, 2)
    assert row.weights[0] == pytest.approx(0.781, abs=2e-3)
    assert row.products[0] / row.products.sum() == pytest.approx(0.348, abs=2e-3)
    assert not row.allowed[11:].any()
    assert row.difference < 1e-5
    encoder = minilm.read(TROPHY).value_norms("it", 3)
    assert encoder.table == "encoder.layer.3.attention.output.dense"
    assert encoder.allowed.all()


def test_half_precision_is_worked_in_float32(smollm2_tokenizer: Any) -> None:
    exact = tiny_model("llama", vocab_size=49152)
    half = tiny_model("llama", vocab_size=49152).to(torch.bfloat16)
    expected = heedmap.wrap(exact, smollm2_tokenizer).read("The cat sat on the mat").value_norms("mat", 0, 1)
    found = heedmap.wrap(half, smollm2_tokenizer).read("The cat sat on the mat").value_norms("mat", 0, 1)
    np.testing.assert_allclose(found.products, expected.products, rtol=0.1)
    assert found.difference < 2e-2


def test_it_prints_and_goes_to_strict_json(tiny_reading: Callable[[str], Reading]) -> None:
    reading = tiny_reading("llama")
    row = reading.value_norms("@3", 1, 2)
    assert str(row).startswith("norms of what is added to “d”: layer 1, head 2, as shares of their sum")
    assert "all heads together" in str(reading.value_norms("@3", 1))
    data = json.loads(json.dumps(row.to_json(), allow_nan=False))
    assert data["schema"] == "heedmap/norms/1"
    assert data["products"][4:] == [None] * 5
    assert data["products"][:4] == row.products[:4].tolist()
    assert reading.value_norms("@3", 1).to_json()["norms"] is None
    assert row.largest(1) == [int(np.argmax(row.products))]


def test_progress_is_told(tiny_reading: Callable[[str], Reading]) -> None:
    told: list[tuple[int, int, str]] = []
    tiny_reading("llama").value_norms("@3", 1, 2, progress=lambda *state: told.append(state))
    assert [state[:2] for state in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_family_whose_table_is_not_found_is_refused_by_name(
    tiny_reading: Callable[[str], Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    from heedmap.reading import output_table, value_norms

    reading = tiny_reading("llama")
    for module in (output_table, value_norms):
        monkeypatch.setattr(module, "TABLES", ("w_out",))
    with pytest.raises(
        UnsupportedModel,
        match=r"the output table of LlamaAttention is not known.*\(looked for w_out in model\.layers\.1\.self_attn",
    ):
        reading.value_norms("@3", 1, 2)


def test_a_table_behind_a_gate_is_refused(
    tiny_reading: Callable[[str], Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = tiny_reading("llama")
    assert reading.reader is not None
    table = reading.reader.module.model.layers[1].self_attn.o_proj
    table.register_forward_pre_hook(lambda _, arguments: (arguments[0] * 0.5,))
    with pytest.raises(ReadingError, match="a second pass gives other queries"):
        reading.value_norms("@3", 1, 2)
    reading = reading.reader.read_tokens(reading.tokens)
    with pytest.raises(
        UnsupportedModel, match=r"the output table of LlamaAttention is not known, or its heads do not go"
    ):
        reading.value_norms("@3", 1, 2)


def test_what_norms_cannot_be_had_is_said(tiny_reading: Callable[[str], Reading], tmp_path: Any) -> None:
    reading = tiny_reading("llama")
    reading.save(tmp_path / "reading.safetensors")
    saved = Reading.open(tmp_path / "reading.safetensors")
    with pytest.raises(ReadingError, match="the norms need the live model's output table"):
        saved.value_norms("@3", 1, 2)
    with pytest.raises(OutOfRange, match="head 4 is out of range"):
        reading.value_norms("@3", 1, 4)
