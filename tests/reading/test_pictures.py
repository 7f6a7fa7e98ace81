"""Vision models, vision towers and speech, read through `heedmap.watch`: stacks apart, patches by row and column."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.qwen2_5_vl.configuration_qwen2_5_vl import Qwen2_5_VLVisionConfig
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VisionTransformerPretrainedModel

import heedmap
from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.forward_call import ForwardCall
from heedmap.reading.pictures import BEFORE_PATCHES, patch_tokens
from tests.conformance import TOLERANCE, watched_agreement
from tests.conftest import ROUNDING
from tests.watched_families import WATCHED, tiny_watched, watched_inputs

tiny = functools.cache(tiny_watched)


def forward_of(name: str, model: Any = None, **changed: torch.Tensor) -> ForwardCall:
    model = tiny(name) if model is None else model
    with heedmap.watch(model) as watched, torch.no_grad():
        model(**{**watched_inputs(name), **changed})
    (forward,) = watched.forwards
    return forward


@pytest.mark.parametrize("name", WATCHED)
def test_maps_equal_those_of_eager(name: str) -> None:
    assert watched_agreement(name) <= TOLERANCE


VISION = [name for name, family in WATCHED.items() if "pixel_values" in family.inputs]


@pytest.mark.parametrize("name", VISION)
def test_patches_stand_where_their_labels_say(name: str) -> None:
    # Only the pixels of one patch are changed, and only its own vector is another when it enters the first layer.
    pixels = watched_inputs(name)["pixel_values"]
    changed = pixels.clone()
    changed[:, :, 8:16, 24:32] += 1.0
    before, after = (forward_of(name, pixel_values=one).pictures[1] for one in (pixels, changed))
    difference = (before.call(0).query - after.call(0).query).abs().amax((0, 1, 3))
    assert [before.tokens.labels[place] for place in difference.nonzero().flatten()] == ["r1c3"]


@pytest.mark.parametrize("name", VISION)
def test_a_picture_is_a_full_reading(name: str) -> None:
    pictures = forward_of(name).pictures
    assert len(pictures) == 2
    reading = pictures[1]
    before = [token.text for token in reading.tokens if token.special]
    tower = {"clip": "clip_vision_model", "siglip": "siglip_vision_model", "llava": "clip_vision_model"}.get(name, name)
    registers = [one for one in before if one.startswith("register")]
    assert before == [*BEFORE_PATCHES[tower], *registers]
    assert registers == [
        f"register{number}" for number in range(1, {"dinov2_with_registers": 4, "dinov3_vit": 2}.get(name, 0) + 1)
    ]
    assert reading.tokens.labels[len(before) :] == [f"r{row}c{column}" for row in range(4) for column in range(4)]
    row = reading.row("r2c1", layer=1, head=2)
    assert row.query == (9 + len(before),)
    assert row.sum == pytest.approx(1, abs=ROUNDING)
    np.testing.assert_allclose(row.weights, reading.map(1, 2)[9 + len(before)], atol=ROUNDING)
    assert "r2c1" in str(row)
    assert len(reading.stats(only=["entropy"])) == 8


def test_text_and_vision_are_kept_apart() -> None:
    forward = forward_of("llava")
    assert forward.weights(0, stack="language").shape == (2, 21, 21)
    assert forward.weights(0, stack="vision").shape == (2, 17, 17)


def test_a_tower_that_calls_attention_once_a_window_says_so() -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "depth": 2,
        "hidden_size": 32,
        "num_heads": 2,
        "intermediate_size": 32,
        "out_hidden_size": 32,
    }
    windows: dict[str, Any] = {"patch_size": 8, "window_size": 32, "fullatt_block_indexes": [1]}
    model = Qwen2_5_VisionTransformerPretrainedModel._from_config(Qwen2_5_VLVisionConfig(**sizes, **windows)).eval()
    with heedmap.watch(model) as watched, torch.no_grad():
        model(torch.randn(64, 3 * 2 * 8 * 8), grid_thw=torch.tensor([[1, 8, 8]]))
    (forward,) = watched.forwards
    assert [(one.layer.number, one.call.rule.queries) for one in forward.calls if one.call] == [*[(0, 16)] * 4, (1, 64)]
    assert forward.weights(1).shape == (1, 64, 64)
    with pytest.raises(ReadingError, match=r"layer 0 called attention 4 times .*: take one of them from \.calls"):
        forward.weights(0)


def test_registers_have_names() -> None:
    assert patch_tokens(1, 2, ["class", "register1", "register2"]).labels == [
        "class",
        "register1",
        "register2",
        "r0c0",
        "r0c1",
    ]


def test_what_pictures_cannot_be_had_is_said() -> None:
    with pytest.raises(ReadingError, match="was given no pixel_values"):
        _ = forward_of("whisper").pictures
    model = tiny_watched("vit")
    forward = forward_of("vit", model)
    model.config.patch_size = 16
    with pytest.raises(ReadingError, match=r"ran 2 x 17 tokens, where 2 pictures .* patches of 16 x 16 are 5 tokens"):
        _ = forward.pictures
    model.config.model_type = "unheard"
    with pytest.raises(ReadingError, match=r"the order of picture tokens is known for aimv2_vision_model, .* unheard"):
        _ = forward.pictures
    with pytest.raises(OutOfRange):
        forward.weights(7)
