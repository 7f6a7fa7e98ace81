"""The families of the lessons with their trained weights, which are to be had only from the Hub.

They run where the weights are in the cache (`heedmap models get NAME`), and say so where they are not; tiny random
models of the same families always run (`test_conformance.py`).
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import heedmap
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import find_copy
from heedmap.reading.model import Model
from tests.conftest import TROPHY

TRAINED = ("distilbert", "qwen2.5-0.5b")


def trained(name: str) -> Model:
    """The model, where its weights are here; the test is skipped where they are not."""
    entry = find_entry(name)
    assert entry is not None
    if find_copy(entry) is None:
        pytest.skip(f"{name} is not in the cache, and is to be had only from the Hub: heedmap models get {name}")
    return heedmap.load(name, dtype="float32", device="cpu")


@pytest.mark.parametrize("name", TRAINED)
def test_every_weight_is_that_of_eager_attention(name: str) -> None:
    model = trained(name)
    reading = model.read(TROPHY)
    eager = copy.deepcopy(model.module)
    eager.set_attn_implementation("eager")
    with torch.no_grad():
        expected = eager(torch.tensor([reading.tokens.ids]), output_attentions=True).attentions
    assert len(expected) == len(reading.layers)
    for layer, found, weights in zip(reading.layers, reading.attentions(), expected, strict=True):
        scores = reading.call(layer.number).scores(slice(None), slice(None))
        # Rounding grows with the scores: float32 keeps 24 bits, eager itself is no better.
        bound = 1e-5 * max(1.0, float(scores[scores.isfinite()].abs().max()) / 10)
        np.testing.assert_allclose(found, weights, atol=bound, err_msg=f"layer {layer.number}")


@pytest.mark.parametrize("name", TRAINED)
def test_padding_changes_nothing(name: str) -> None:
    model = trained(name)
    texts = [TROPHY, "It rains."]
    for side in ("left", "right"):
        for text, found in zip(texts, model.read_batch(texts, padding=side, layers=0), strict=True):
            alone = model.read(text, layers=0)
            np.testing.assert_allclose(np.asarray(found.map(0, 1)), np.asarray(alone.map(0, 1)), atol=1e-5)
