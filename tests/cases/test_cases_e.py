"""Padding: rows that may look at nothing, which back ends fill each in their own way."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import heedmap
from tests.conftest import ROUNDING
from tests.pictures import word_tokenizer
from tests.tiny import tiny_ids, tiny_model


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_e3_rows_that_may_look_at_nothing_are_absent(implementation: str) -> None:
    """E3: eager gives the rows of left padding an even look at all keys, later ones too; here they are no look."""
    model, ids = tiny_model("llama", implementation=implementation), tiny_ids(5) % 10 + 4
    mask = torch.tensor([[0, 0, 0, 1, 1]])
    with heedmap.watch(model, word_tokenizer()) as watched, torch.no_grad():
        model(input_ids=ids, attention_mask=mask)
    (forward,) = watched.forwards
    for layer in range(3):
        weights = forward.weights(layer, 1)[0]
        assert (weights[:3] == 0).all()
        assert (weights[:, :3] == 0).all()
        np.testing.assert_allclose(weights[3:].sum(-1), 1, atol=ROUNDING)
        assert (forward.attentions()[layer][0, :, :3] == 0).all()
    (reading,) = watched.readings
    assert len(reading.tokens) == 2
    table = reading.stats(only=["first"])
    assert table["padding"].tolist() == [0] * 12  # the padding is no part of the text, and so of no mean
    assert table["dead"].tolist() == [0] * 12
    alone = heedmap.wrap(model, word_tokenizer()).read_tokens(reading.tokens)
    np.testing.assert_allclose(table["first"], alone.stats(only=["first"])["first"], atol=ROUNDING)
