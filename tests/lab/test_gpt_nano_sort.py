"""A trained model whose every number was published elsewhere: the whole path, from the letters to the lab, agrees.

The model sorts six letters: 3 layers, 3 heads, width 48 (bbycroft/llm-viz, MIT). Its published numbers come from
PyTorch code that shares nothing with transformers or with Heedmap: the q, k, v, scores and weights of layer 0, the
states after each layer, logits and probabilities of three texts.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import heedmap
from heedmap.lab.likelihood import Choice, log_probabilities
from heedmap.lab.passes import run_with_states
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading

TOLERANCE = 1e-5
"""Scores are below 10 in size, so that float32 keeps 6 digits after the point."""

LETTERS = "ABC"
TEXTS = range(3)


def arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of one of the published files."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: np.frombuffer(base64.b64decode(entry["data"]), np.float32).reshape(entry["shape"])
        for name, entry in raw.items()
        if name != "config"
    }


@pytest.fixture(scope="module")
def published(data_folder: Path) -> dict[str, np.ndarray]:
    """The published numbers, [text, ...]."""
    return arrays(data_folder / "gpt_nano_sort" / "gpt-nano-sort-t0-partials.json")


@pytest.fixture(scope="module")
def nano(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The published weights as a GPT-2 of transformers, loaded from a folder as any other, with three letters."""
    folder = tmp_path_factory.mktemp("nano")
    configuration = json.loads((data_folder / "gpt_nano_sort" / "config.json").read_text(encoding="utf-8"))
    configuration |= {"bos_token_id": None, "eos_token_id": None}
    (folder / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
    weights = {
        # transformers' GPT-2 keeps the weights of its layers the other way round, and makes its causal mask itself.
        name: torch.tensor(array.T.copy() if ".h." in name and array.ndim == 2 else array)
        for name, array in arrays(data_folder / "gpt_nano_sort" / "gpt-nano-sort-model.json").items()
        if not name.endswith(".attn.bias")
    }
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    tokenizer = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate(LETTERS)}, unk_token="A"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    return heedmap.load(folder)


@pytest.fixture(scope="module")
def texts(published: dict[str, np.ndarray]) -> list[str]:
    """The three texts in letters."""
    return ["".join(LETTERS[int(number)] for number in row) for row in published["idx"]]


@pytest.fixture(scope="module")
def readings(nano: Model, texts: list[str]) -> list[Reading]:
    return [nano.read(text, values=True) for text in texts]


def agree(found: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("text", TEXTS)
def test_queries_keys_values_scores_and_weights(
    readings: list[Reading], published: dict[str, np.ndarray], text: int
) -> None:
    call = readings[text].call(0)
    agree(call.query[0], published["q"][text])
    agree(call.key[0], published["k"][text])
    assert call.value is not None
    agree(call.value[0], published["v"][text])
    agree(call.scores(slice(None), slice(None))[0], published["att"][text])
    agree(call.weights(slice(None), slice(None))[0], published["attSm"][text])


@pytest.mark.parametrize("text", TEXTS)
def test_maps_rows_and_the_mean_over_heads(
    readings: list[Reading], published: dict[str, np.ndarray], text: int
) -> None:
    reading = readings[text]
    for head in range(3):
        agree(reading.map(0, head), published["attSm"][text, head])
    agree(reading.row("@7", layer=0).weights, published["attSm"][text].mean(0)[7])


@pytest.mark.parametrize("text", TEXTS)
def test_an_explanation_ends_at_the_published_weight(
    readings: list[Reading], published: dict[str, np.ndarray], text: int
) -> None:
    explanation = readings[text].explain("@9", layer=0, head=2)
    expected = published["attSm"][text, 2, 9, list(explanation.keys)]
    agree(explanation.model_weights, expected)
    agree(explanation.trace.weights[0], expected)


@pytest.mark.parametrize("text", TEXTS)
def test_states_after_every_layer_and_all_logits(
    nano: Model, readings: list[Reading], published: dict[str, np.ndarray], text: int
) -> None:
    states = run_with_states(nano, readings[text].tokens.ids, lambda *_: None)
    for layer in range(2):
        agree(states.hidden[layer], published[f"block{layer}"][text])
    # transformers hands out the last state after the last norm.
    agree(states.hidden[2], published["ln_f"][text])
    assert states.logits is not None
    agree(states.logits, published["lm_head"][text])
    assert readings[text].logits is not None
    agree(readings[text].logits, published["lm_head"][text, -1])
    agree(
        [one.probability for one in sorted(readings[text].candidates, key=lambda one: one.id)],
        published["probs"][text, -1],
    )


@pytest.mark.parametrize("text", TEXTS)
def test_statistics(nano: Model, texts: list[str], published: dict[str, np.ndarray], text: int) -> None:
    found = nano.stats(texts[text], layers=0)
    weights = published["attSm"][text].astype(float)
    for head in range(3):
        row = found.where(layer=0, head=head)[0]
        after = weights[head, 1:]
        entropy = -np.sum(after * np.log(np.where(after > 0, after, 1)), -1)
        assert found["first"][row] == pytest.approx(after[:, 0].mean(), abs=TOLERANCE)
        assert found["entropy"][row] == pytest.approx(entropy.mean(), abs=TOLERANCE)


def test_log_probabilities_of_continuations_in_a_batch(
    nano: Model, readings: list[Reading], published: dict[str, np.ndarray]
) -> None:
    """The probabilities of all letters after the sixth, as the lab asks for them."""
    choices = [Choice(tuple(reading.tokens.ids[:6]), tuple((letter,) for letter in range(3))) for reading in readings]
    for options, expected in zip(log_probabilities(nano, choices), published["probs"][:, 5], strict=True):
        agree(np.exp(np.concatenate(options)), expected)


def test_it_sorts(nano: Model) -> None:
    assert nano.generate("CBABCA", 5).text == "CBABCA" + "AABBC"
