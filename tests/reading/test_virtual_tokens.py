"""Positions that are no tokens of the text, as prompt tuning puts before it, are refused: they would shift rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import heedmap
from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.model import Model
from tests.families import tiny_family
from tests.reading.test_two_stacks import SOURCE, TARGET, word_tokenizer

FAMILIES = ["llama", "mistral", "gemma2", "gpt2", "gpt_neox", "opt", "bert", "distilbert", "modernbert"]


def tuned(family: str) -> Any:
    """A model that puts three virtual tokens before every text, as PEFT's prompt tuning does."""
    model = tiny_family(family)
    plain, embed = model.forward, model.get_input_embeddings()
    virtual = torch.randn(1, 3, embed.weight.shape[1], generator=torch.Generator().manual_seed(3))

    def forward(input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **others: Any) -> Any:
        texts = len(input_ids)
        before = torch.ones(texts, 3, dtype=torch.long)
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        embedded = torch.cat([virtual.expand(texts, -1, -1), embed(input_ids)], 1)
        others.pop("position_ids", None)
        return plain(inputs_embeds=embedded, attention_mask=torch.cat([before, mask], 1), **others)

    model.forward = forward
    return model


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_virtual_tokens_are_never_taken_for_the_words(family: str) -> None:
    model = heedmap.wrap(tuned(family), word_tokenizer())
    count = len(model.tokenize(SOURCE))
    message = (
        rf"layer \d has {count + 3} x {count + 3} weights, and there are {count} tokens that look and {count} to be"
    )
    with pytest.raises(ReadingError, match=message) as refused:
        model.read(SOURCE)
    assert "read the model without them (PEFT: model.get_base_model())" in str(refused.value)
    with pytest.raises(ReadingError, match=message):
        model.stats(SOURCE)
    with pytest.raises(ReadingError, match=message):
        model.spans(SOURCE, {"one": (4, 16)})
    with pytest.raises(UnsupportedModel, match=r"read the texts one by one with model\.read\(text\)"):
        model.read_batch([SOURCE, TARGET])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_watched_call_gives_its_maps_but_no_readings(family: str) -> None:
    model = tuned(family)
    with heedmap.watch(model, word_tokenizer()) as watched, torch.no_grad():
        model(input_ids=torch.tensor([[3, 4, 5, 6, 7]]))
    assert watched.forwards[0].weights(0).shape == (1, 8, 8)
    with pytest.raises(ReadingError, match=r"ran 8 positions for 5 tokens: virtual tokens"):
        _ = watched.readings


def test_tokens_of_another_length_are_refused_wherever_a_reading_is_made(smollm2: Model) -> None:
    from dataclasses import replace

    long, short = smollm2.read("The cat sat on the mat.", layers=3), smollm2.tokenize("The cat")
    with pytest.raises(ReadingError, match="layer 3 has 7 x 7 weights, and there are 2 tokens that look and 2 to be"):
        replace(long, tokens=short)
