"""Several texts in one pass: each reads as it does alone, whatever stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from heedmap.errors import OutOfRange, ReadingError, TextError, UnsupportedModel
from heedmap.reading import padded, together
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from heedmap.reading.padded import SIDES, Side, pad
from heedmap.reading.reading import Reading
from heedmap.reading.together import read_together
from heedmap.text.tokenize import from_ids
from heedmap.text.tokens import Tokens
from tests.families import tiny_family
from tests.tiny import FAMILIES, tiny_ids, tiny_model
from tests.tiny_stacks import tiny_t5

TOLERANCE = 1e-5
"""As for the tap: float32 leaves about 1e-6 on a weight, and a batch multiplies in another order than a single text."""


def texts_of(tokenizer: Any, lengths: Sequence[int]) -> list[Tokens]:
    ids = tiny_ids(max(lengths), batch=len(lengths)).tolist()
    return [from_ids(tokenizer, row[:length]) for row, length in zip(ids, lengths, strict=True)]


def assert_same(found: Reading, alone: Reading) -> None:
    """Every weight of every layer, and the odds."""
    assert found.tokens == alone.tokens
    assert list(found.calls) == list(alone.calls)
    for number in alone.calls:
        one, other = found.call(number), alone.call(number)
        assert one.rule.queries == one.rule.keys == len(alone.tokens)
        torch.testing.assert_close(
            one.weights(slice(None), slice(None)), other.weights(slice(None), slice(None)), atol=TOLERANCE, rtol=0
        )
        rows = torch.arange(one.rule.queries)
        assert torch.equal(one.rule.allowed(rows, rows), other.rule.allowed(rows, rows))
    assert (found.logits is None) == (alone.logits is None)
    if found.logits is not None and alone.logits is not None:
        torch.testing.assert_close(found.logits, alone.logits, atol=1e-4, rtol=1e-4)
        assert [one.id for one in found.candidates[:3]] == [one.id for one in alone.candidates[:3]]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_each_text_what_it_has_alone(family: str, side: Side, smollm2_tokenizer: Any) -> None:
    model = wrap(tiny_model(family), smollm2_tokenizer)
    texts = texts_of(smollm2_tokenizer, [12, 9, 3, 1])
    readings = read_together(model, texts, padding=side)
    for tokens, found in zip(texts, readings, strict=True):
        assert_same(found, model.read_tokens(tokens))


@pytest.mark.parametrize("side", SIDES)
def test_real_texts_read_as_they_do_alone(side: Side, smollm2: Model, minilm: Model) -> None:
    texts = ["The cat sat on the mat.", "It rains.", "naïve café 👩‍👩‍👧 ok"]
    for model in (smollm2, minilm):
        for text, found in zip(texts, model.read_batch(texts, padding=side, layers=[0, 5]), strict=True):
            assert_same(found, model.read(text, layers=[0, 5]))
            assert found.row("@-1", layer=5).sum == pytest.approx(1, abs=1e-6)


def test_padding_is_absent_from_rows_means_and_statistics(smollm2: Model) -> None:
    """Padded rows look uniform to some kernels; here there are none, so that no mean and no sum holds one."""
    texts = ["The cat sat on the mat because it rained.", "It rains."]
    found = smollm2.read_batch(texts, padding="left", layers=12)[1]
    alone = smollm2.read(texts[1], layers=12)
    assert np.asarray(found.map(12, 4)).shape == (3, 3)
    assert not found.not_a_number()
    for column in ("first", "itself", "previous", "entropy", "distance"):
        np.testing.assert_allclose(found.stats()[column], alone.stats()[column], atol=1e-4, err_msg=column)
    np.testing.assert_allclose(found.received(12, 4).sums, alone.received(12, 4).sums, atol=1e-5)


def test_the_side_of_the_padding_is_told_and_positions_start_at_the_first_real_token(smollm2: Model) -> None:
    """A text of three tokens behind five of padding: its tokens count from 0, and the reading names the side."""
    texts = ["The cat sat on the mat and slept", "It rains."]
    for side in SIDES:
        found = smollm2.read_batch(texts, padding=side, layers=0)[1]
        assert found.model["padding"] == {"side": side, "texts": 2, "tokens": 5}
        assert [token.index for token in found.tokens] == [0, 1, 2]
        row = found.row("@-1", layer=0)
        assert row.first == 0
        assert row.to_json()["model"]["padding"]["side"] == side


@pytest.mark.parametrize("side", SIDES)
def test_a_real_end_token_stays_although_it_is_also_the_padding(side: Side, smollm2: Model) -> None:
    """The padding id is an end token too; one that was typed is no padding, in the middle or at either end."""
    texts = ["<|im_end|>one<|im_end|>two<|im_end|>", "a longer text that runs beside it for company"]
    found = smollm2.read_batch(texts, padding=side)[0]
    assert [token.text for token in found.tokens].count("<|im_end|>") == 3
    assert_same(found, smollm2.read(texts[0]))


def test_a_family_with_code_of_its_own_is_read_one_by_one(smollm2_tokenizer: Any) -> None:
    model = wrap(tiny_family("bloom", implementation="eager"), smollm2_tokenizer)
    texts = texts_of(smollm2_tokenizer, [9, 4])
    for tokens, found in zip(texts, read_together(model, texts), strict=True):
        assert_same(found, model.read_tokens(tokens))


def test_a_batch_for_an_encoder_and_a_decoder_is_refused(smollm2_tokenizer: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"has an encoder and a decoder: read its texts one by one"):
        wrap(tiny_t5(), smollm2_tokenizer).read_batch(["a", "b c"])


def test_a_model_that_does_not_mind_its_padding_mask_is_refused(smollm2_tokenizer: Any) -> None:
    """Its real tokens would change with what stands beside them: the check of alone against padded says so."""
    module = tiny_model("bert")
    forward = module.forward

    def deaf(input_ids: Any = None, attention_mask: Any = None, position_ids: Any = None, **options: Any) -> Any:
        return forward(input_ids=input_ids, position_ids=position_ids, **options)

    module.forward = deaf
    model = wrap(module, smollm2_tokenizer)
    with pytest.raises(UnsupportedModel, match=r"BertModel does not read a text with right padding .* one by one"):
        read_together(model, texts_of(smollm2_tokenizer, [8, 5]))


def test_texts_run_together_only_with_texts_of_like_length(
    smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    run = padded.run_padded

    def counting(module: Any, batch: Any) -> Any:
        sizes.append(tuple(batch.ids.shape))
        return run(module, batch)

    monkeypatch.setattr(together, "run_padded", counting)
    model = wrap(tiny_model("llama"), smollm2_tokenizer)
    lengths = [40, 3, 5, 41, 9, 100, 4]
    readings = read_together(model, texts_of(smollm2_tokenizer, lengths), batch_size=3)
    assert [len(one.tokens) for one in readings] == lengths
    assert sizes == [(3, 5), (1, 9), (2, 41), (1, 100)]


def test_readings_of_a_batch_are_saved_alone(smollm2: Model, tmp_path: Any) -> None:
    texts = ["The cat sat on the mat.", "It rains."]
    found = smollm2.read_batch(texts, padding="left", layers=3)[1]
    found.save(tmp_path / "one.safetensors")
    opened = Reading.open(tmp_path / "one.safetensors")
    np.testing.assert_array_equal(np.asarray(opened.map(3, 0)), np.asarray(found.map(3, 0)))


def test_no_text_is_no_reading(smollm2: Model) -> None:
    assert smollm2.read_batch([]) == []


def test_several_texts_given_as_one_are_refused_with_the_way_to_read_them(smollm2: Model) -> None:
    """A batch is not squeezed into one text: the message names the call that takes several."""
    with pytest.raises(TextError, match=r"one text \(a str\) was expected, not list: read several with model\.read_ba"):
        smollm2.read(["The cat", "sat"])  # type: ignore[call-overload]


def test_a_weight_of_a_batch_that_was_watched_names_its_texts(smollm2: Model) -> None:
    """Weights of two texts stay apart, [text, query, key]: nothing is squeezed."""
    import heedmap

    batch = pad([[504, 2644, 3], [504]], 2, "right")
    with heedmap.watch(smollm2.module, layers=[3]) as watched, torch.no_grad():
        smollm2.module(input_ids=batch.ids, attention_mask=batch.present)
    assert watched.forwards[0].weights(3, 0).shape == (2, 3, 3)


def test_other_sides_and_empty_batches_are_refused(smollm2: Model) -> None:
    with pytest.raises(ReadingError, match=r"padding 'top' is not known: take 'right' or 'left'"):
        smollm2.read_batch(["a"], padding="top")  # type: ignore[arg-type]
    with pytest.raises(OutOfRange, match=r"a batch of 0 texts was asked for: take 1 or more"):
        smollm2.read_batch(["a"], batch_size=0)
