"""Watching models of several stacks: encoder and decoder, patches, pictures beside text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import ReadingError
from tests.conformance import TOLERANCE
from tests.conftest import ROUNDING
from tests.tiny import tiny_ids
from tests.tiny_stacks import tiny_llava, tiny_llava_inputs, tiny_pixels, tiny_t5, tiny_vit


def test_an_encoder_and_a_decoder_are_stacks_of_one_forward_call() -> None:
    model = tiny_t5()
    inputs = {"input_ids": tiny_ids(9, 2), "decoder_input_ids": tiny_ids(5, 2)}
    with heedmap.watch(model) as watched, torch.no_grad():
        model(**inputs)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(**inputs, output_attentions=True)
    (forward,) = watched.forwards
    assert forward.stacks == [
        "encoder.block.*.layer.0.SelfAttention",
        "decoder.block.*.layer.0.SelfAttention",
        "decoder.block.*.layer.1.EncDecAttention",
    ]
    for stack, weights in (
        ("encoder", expected.encoder_attentions),
        ("decoder.block.*.layer.0", expected.decoder_attentions),
        ("EncDec", expected.cross_attentions),
    ):
        for found, whole in zip(forward.attentions(stack=stack), weights, strict=True):
            torch.testing.assert_close(found, whole, atol=TOLERANCE, rtol=0)
    with pytest.raises(ReadingError, match=r"several stacks of layers ran: give stack=, a part of one of encoder\."):
        forward.weights(0)
    with pytest.raises(ReadingError, match="'decoder' names 2 stacks"):
        forward.weights(0, stack="decoder")


def test_a_vision_model_is_watched_through_its_patches() -> None:
    model, pixels = tiny_vit(), tiny_pixels()
    with heedmap.watch(model) as watched, torch.no_grad():
        model(pixel_values=pixels)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(pixel_values=pixels, output_attentions=True).attentions
    for found, weights in zip(watched.forwards[0].attentions(), expected, strict=True):
        torch.testing.assert_close(found, weights, atol=TOLERANCE, rtol=0)
    with pytest.raises(ReadingError, match="readings need the tokenizer"):
        _ = watched.readings


def test_a_model_of_pictures_and_text_has_a_stack_for_each(smollm2_tokenizer: Any) -> None:
    model = tiny_llava()
    with heedmap.watch(model, smollm2_tokenizer) as watched:
        model(**tiny_llava_inputs())
    (forward,) = watched.forwards
    assert forward.weights(0, stack="vision").shape == (1, 17, 17)
    assert forward.weights(0, stack="language").shape == (1, 20, 20)
    (reading,) = forward.readings
    assert len(reading.tokens) == 20
    np.testing.assert_allclose(np.asarray(reading.map(0)).sum(1), 1, atol=ROUNDING)
