"""The four steps worked again: their last line is the model's own, on real heads and in every family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import heedmap
from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.layers import AttentionLayer, own_module
from heedmap.reading.model import Model
from tests.conftest import TROPHY
from tests.tiny import FAMILIES, tiny_model


@pytest.mark.parametrize(("word", "layer", "head"), [("it", 5, 4), ("it", 16, 3), ("The", 0, 0), ("suitcase", 29, 8)])
def test_the_steps_end_on_the_models_own_numbers(smollm2: Model, word: str, layer: int, head: int) -> None:
    explanation = smollm2.read(TROPHY).explain(word, layer, head, from_vector=True)
    assert explanation.weight_difference < 1e-5
    assert explanation.output_difference < 1e-5
    assert explanation.contributions().sum() == pytest.approx(explanation.trace.products[0, explanation.largest])
    assert [projection.role for projection in explanation.projections] == ["query", "key"]
    for projection in explanation.projections:
        assert projection.difference < 1e-4
        assert projection.rotation is not None
        # A rotation moves a vector without stretching it.
        assert np.linalg.norm(projection.final) == pytest.approx(np.linalg.norm(projection.projected), rel=1e-5)
    assert explanation.query == explanation.keys[-1]


def test_the_table_times_the_vector_is_the_projection(smollm2: Model) -> None:
    query = smollm2.read(TROPHY).explain("it", 5, 4, from_vector=True).projections[0]
    table = smollm2.module.model.layers[5].self_attn.q_proj.weight.detach().double().numpy()[4 * 64 : 5 * 64]
    np.testing.assert_allclose(table @ query.vector, query.projected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_explained_from_its_vectors(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_model(family, vocab_size=len(smollm2_tokenizer)), smollm2_tokenizer)
    explanation = model.read("four words of text").explain("words", 1, 3, from_vector=True)
    assert explanation.weight_difference < 1e-5
    assert explanation.output_difference < 1e-5
    query, key = explanation.projections
    assert max(query.difference, key.difference) < 1e-5
    turns = family not in ("gpt2", "bert", "roberta", "distilbert")
    assert (query.rotation is not None) == turns
    assert (query.normalised is not None) == (family in ("qwen3", "gemma3_text"))


def test_a_window_explains_only_what_it_shows(smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_model("mistral", vocab_size=len(smollm2_tokenizer)), smollm2_tokenizer)
    explanation = model.read("one two three four five six seven eight nine ten").explain("nine", 0, 0)
    assert len(explanation.keys) == 6
    assert explanation.output_difference < 1e-5


def test_values_are_read_again_when_they_were_not_kept(smollm2: Model) -> None:
    kept = smollm2.read(TROPHY, values=True, layers=5).explain("it", 5, 4)
    again = smollm2.read(TROPHY, layers=5).explain("it", 5, 4)
    np.testing.assert_allclose(kept.trace.output, again.trace.output, rtol=1e-5, atol=1e-5)  # two passes in float32


def test_the_json_is_the_calculation(smollm2: Model) -> None:
    explanation = smollm2.read(TROPHY).explain("it", 5, 4)
    data = explanation.to_json()
    assert data["schema"] == "heedmap/explanation/1"
    assert data["trace"]["weights"][0] == pytest.approx(data["model_weights"], abs=1e-5)
    assert len(data["contributions"]) == data["dim"] == 64


def test_errors(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, layers=5)
    with pytest.raises(OutOfRange, match="layer 5 has 9 heads, 0 to 8"):
        reading.explain("it", 5, 9)
    with pytest.raises(ReadingError, match="layer 6 was not kept"):
        reading.explain("it", 6, 0)


def test_layers_that_run_one_module_cannot_be_told_apart() -> None:
    layer = AttentionLayer(0, "encoder.layer", 4, 4)
    with pytest.raises(ReadingError, match=r"several layers run one module \(encoder.layer\)"):
        own_module((layer, replace(layer, number=1)), 1)
    assert own_module((layer,), 0) == "encoder.layer"
