"""Readings of the two real models against transformers' eager attention, and what a reading answers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import AmbiguousWord, OutOfRange, ReadingError, TextTooLong, TokenizerMissing, WordNotFound
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.conftest import ROUNDING, TROPHY
from tests.tiny import tiny_model

SENTENCES = {
    "trophy": TROPHY,
    "questions": "“Who are you?” said the Caterpillar. This was not an encouraging opening for a conversation.",
    "code": "def add(a, b):\n    return a + b  # adds two numbers\n",
    "script": "Ελληνικά, русский, 中文 and naïve café 👩‍👩‍👧: one model, many scripts.",
}


@pytest.fixture(scope="module")
def trophy(smollm2: Model) -> Reading:
    return smollm2.read(TROPHY)


@pytest.fixture(scope="module")
def eager_models(smollm2: Model, minilm: Model) -> dict[str, Any]:
    """The same two models, switched to the attention that returns its weights."""
    models = {"smollm2": copy.deepcopy(smollm2.module), "minilm": copy.deepcopy(minilm.module)}
    for model in models.values():
        model.set_attn_implementation("eager")
    return models


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_every_layer_head_and_cell_equals_eager(
    name: str, sentence: str, eager_models: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    model: Model = request.getfixturevalue(name)
    reading = model.read(SENTENCES[sentence])
    with torch.no_grad():
        expected = eager_models[name](torch.tensor([reading.tokens.ids]), output_attentions=True)
    assert len(expected.attentions) == len(model.layers)
    for layer, weights in enumerate(expected.attentions):
        scores = reading.call(layer).scores(slice(None), slice(None))
        # Rounding a score of s moves its weight by about s x 2^-24 of itself, in eager as well: where scores go
        # beyond 10, the bound grows with them.
        tolerance = ROUNDING * max(float(scores[scores.isfinite()].abs().max()) / 10, 1)
        for head in range(weights.shape[1]):
            found = np.asarray(reading.map(layer, head))
            np.testing.assert_allclose(found, weights[0, head].numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_the_tapped_models_answer_is_the_plain_models(name: str, request: pytest.FixtureRequest) -> None:
    model: Model = request.getfixturevalue(name)
    reading = model.read(TROPHY, values=True)
    with torch.no_grad():
        plain = model.module(torch.tensor([reading.tokens.ids]), output_hidden_states=True)
    if reading.logits is not None:
        torch.testing.assert_close(reading.logits, plain.logits[0, -1], rtol=1e-5, atol=1e-4)
    assert model.module.config._attn_implementation == "sdpa"


def test_every_weight_on_a_later_token_is_exactly_zero(trophy: Reading) -> None:
    later = np.triu(np.ones((15, 15), dtype=bool), 1)
    for layer in trophy.layers:
        for head in range(layer.heads):
            cells = trophy.map(layer.number, head)
            assert (np.asarray(cells)[later] == 0).all()
            assert not cells.allowed()[later].any()


@pytest.mark.parametrize("word", ["it", "trophy", "[SEP]"])
def test_an_ordinary_share_is_what_all_special_tokens_leave(minilm: Model, word: str) -> None:
    """An encoder's heads rest on [SEP] as much as on [CLS]: the 0.99 on one of them is no word's to share."""
    reading = minilm.read(TROPHY)
    last = len(reading.tokens) - 1
    for layer, head in ((0, 0), (3, 1), (5, 7)):
        row = reading.row(word, layer, head)
        assert row.apart == [0, last]
        assert row.ordinary == pytest.approx(row.weights[1:last].sum() / (last - 1))
        parts = {
            line.name: line
            for line in reading.spans({"all": (0, len(TROPHY))}, of=word, layers=layer).table(layer, head)
        }
        assert parts["all"].per_token == pytest.approx(row.ordinary, abs=1e-6)
        assert parts["all"].times == pytest.approx(1, abs=1e-4)
        assert parts["special tokens"].of_left is None


def test_the_row_of_the_lesson(trophy: Reading) -> None:
    row = trophy.row("it", layer=16, head=3)
    assert [f"{weight:.3f}" for weight in row.weights[:11]] == (
        ["0.241", "0.565", "0.062", "0.006", "0.024", "0.003", "0.000", "0.038", "0.025", "0.006", "0.030"]
    )
    assert row.sum == pytest.approx(1, abs=ROUNDING)
    assert row.ordinary == pytest.approx((1 - row.weights[0]) / 10, abs=ROUNDING)
    assert (row.key_value_head, row.sharing_heads) == (1, [4, 5])
    assert row.largest(2) == [1, 0]
    assert row.share("suitcase") == pytest.approx(row.weights[7] + row.weights[8])


def test_the_mean_over_heads_is_the_mean_of_the_heads(trophy: Reading) -> None:
    heads = np.mean([np.asarray(trophy.map(12, head)) for head in range(9)], axis=0)
    np.testing.assert_allclose(np.asarray(trophy.map(12)), heads, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(trophy.row("it", 12).weights, heads[10], rtol=0, atol=ROUNDING)


def test_a_word_of_two_tokens_has_the_mean_of_their_rows_or_the_last(trophy: Reading) -> None:
    whole = np.asarray(trophy.map(16, 3))
    assert trophy.find("suitcase").tokens == (7, 8)
    np.testing.assert_allclose(trophy.row("suitcase", 16, 3).weights, whole[7:9].mean(0), rtol=0, atol=ROUNDING)
    last = trophy.row("suitcase", 16, 3, query_rule="last")
    np.testing.assert_allclose(last.weights, whole[8], rtol=0, atol=ROUNDING)


def test_the_middle_layer_is_read_when_none_is_given(trophy: Reading, smollm2: Model) -> None:
    assert trophy.row("it").layer == 15
    assert smollm2.read(TROPHY, layers=7).row("it").layer == 7


def test_only_the_layers_asked_for_are_kept(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, layers=[3, 20])
    assert list(reading.calls) == [3, 20]
    with pytest.raises(ReadingError, match=r"layer 4 was not kept in this reading \(kept: 3, 20\).*layers=4"):
        reading.row("it", layer=4)


def test_memory_grows_with_the_length_and_not_with_its_square(smollm2: Model) -> None:
    def kept(words: int) -> int:
        calls = smollm2.read("word " * words, layers=[0, 1]).calls.values()
        return sum(
            tensor.nbytes for call in calls for tensor in (call.query, call.key, call.logsumexp) if tensor is not None
        )

    assert kept(400) / kept(100) == pytest.approx(4, rel=0.02)


def test_the_odds_of_the_next_token(smollm2: Model, minilm: Model) -> None:
    odds = smollm2.read("The capital of France is", layers=0).next(3)
    assert (odds.candidates[0].text.strip("␣"), round(odds.candidates[0].probability, 3)) == ("Paris", 0.773)
    assert odds.to_json()["next"][0]["probability"] == odds.candidates[0].probability
    with pytest.raises(OutOfRange, match="101 next tokens were asked for: take 1 to 100"):
        smollm2.read("The capital of France is", layers=0).next(101)
    with pytest.raises(ReadingError, match="minilm does not predict a next token: it is a BertModel"):
        minilm.read("The capital of France is").next()


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (
            lambda reading: reading.row("it", layer=30),
            OutOfRange,
            "layer 30 is out of range: the model has 30 layers, 0 to 29",
        ),
        (lambda reading: reading.row("it", layer=-1), OutOfRange, "layer -1 is out of range"),
        (lambda reading: reading.map(3, head=9), OutOfRange, "head 9 is out of range: layer 3 has 9 heads, 0 to 8"),
        (lambda reading: reading.row("trophies"), WordNotFound, "trophy"),
        (lambda reading: reading.row("it", query_rule="sum"), ReadingError, "query_rule 'sum' is not known"),
    ],
)
def test_errors_name_what_there_is(trophy: Reading, ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask(trophy)


def test_a_word_that_stands_twice_asks_which(smollm2: Model) -> None:
    reading = smollm2.read("It rained, and it rained, and it stopped.", layers=0)
    with pytest.raises(AmbiguousWord, match="it#2"):
        reading.row("it")
    assert reading.row("it#2").query != reading.row("it#1").query


def test_a_text_longer_than_the_positions_is_refused_or_cut(minilm: Model) -> None:
    text = "word " * 600
    with pytest.raises(TextTooLong, match=r"602 tokens.*512 positions.*--truncate"):
        minilm.read(text)
    reading = minilm.read(text, truncate=True, layers=0)
    assert (len(reading.tokens), reading.tokens.cut_off) == (512, 90)


def test_special_tokens_are_there_unless_they_are_not_wanted(minilm: Model) -> None:
    assert minilm.read("The cat sat.").tokens.labels == ["[CLS]", "The", "cat", "sat", ".", "[SEP]"]
    without = minilm.read("The cat sat.", special_tokens=False)
    assert not without.tokens.special_tokens_added
    assert len(without.tokens) == 4
    assert minilm.read("The cat sat.").row("[CLS]", 0).sum == pytest.approx(1, abs=ROUNDING)


def test_a_model_without_a_tokenizer_says_so() -> None:
    model = heedmap.wrap(tiny_model("llama"), None)
    with pytest.raises(TokenizerMissing, match=r"LlamaForCausalLM has no tokenizer.*heedmap.wrap\(module, tokenizer\)"):
        model.read("some words")


def test_numbers_that_are_none_are_counted_by_layer(smollm2_tokenizer: Any) -> None:
    module = tiny_model("llama", vocab_size=len(smollm2_tokenizer))
    with torch.no_grad():
        module.model.layers[2].self_attn.q_proj.weight[:16] = torch.nan  # head 0 of the last layer
    reading = heedmap.wrap(module, smollm2_tokenizer).read("four words of text")
    assert reading.not_a_number() == {2: 4}
    row = reading.row("words", layer=2, head=0)
    assert np.isnan(row.weights[row.allowed]).all()
    assert row.to_json()["weights"] == [None] * 4
    assert row.to_json()["not_a_number"] == 2
