"""Families that take pictures or sound, alone or beside text: read through `heedmap.watch`, with their own inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoModelForImageTextToText, AutoModelForSpeechSeq2Seq

from tests.families import VOCABULARY

_SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
_VISION: dict[str, Any] = {**_SIZES, "image_size": 32, "patch_size": 8}
_TEXT: dict[str, Any] = {
    **_SIZES,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


@dataclass(frozen=True, slots=True)
class Watched:
    """One family that is read through `heedmap.watch`.

    Attributes:
        settings: the tiny model's configuration.
        auto: the class that makes it.
        inputs: which inputs it takes.
        stacks: a part of each stack's name, and where transformers reports its maps.
        special: what is special about it.
    """

    settings: dict[str, Any] = field(repr=False)
    auto: Any
    inputs: tuple[str, ...]
    stacks: dict[str, tuple[str, ...]]
    special: str = ""


_PICTURE = ("pixel_values",)
_ONE: dict[str, tuple[str, ...]] = {"": ("attentions",)}
_BOTH: dict[str, tuple[str, ...]] = {
    "text_model": ("text_model_output", "attentions"),
    "vision_model": ("vision_model_output", "attentions"),
}
_CLASS = "patches by row and column, after the class token"
_REGISTERS = "patches by row and column, after the class token and registers"


def _vision(special: str = _CLASS, **settings: Any) -> Watched:
    """A family that takes pictures alone."""
    return Watched({**_VISION, **settings}, AutoModel, _PICTURE, _ONE, special)


WATCHED: dict[str, Watched] = {
    "vit": _vision(),
    "deit": _vision("patches by row and column, after the class and distillation tokens"),
    "beit": _vision(
        "a bias by distance; patches by row and column, after the class token", use_relative_position_bias=True
    ),
    "vit_msn": _vision(),
    "ijepa": _vision("patches by row and column"),
    "dinov2": _vision(),
    "dinov2_with_registers": _vision(_REGISTERS),
    "dinov3_vit": _vision(_REGISTERS, num_register_tokens=2),
    "dpt": _vision(),
    "aimv2_vision_model": _vision("patches by row and column"),
    "internvl_vision": _vision(image_size=[32, 32], patch_size=[8, 8]),
    "mlcd_vision_model": _vision(),
    "siglip_vision_model": _vision("patches by row and column"),
    "clip_vision_model": _vision(),
    "chinese_clip_vision_model": _vision(),
    "clip": Watched(
        {"text_config": _TEXT, "vision_config": _VISION}, AutoModel, ("input_ids", *_PICTURE), _BOTH, "two towers"
    ),
    "siglip": Watched(
        {"text_config": _TEXT, "vision_config": _VISION}, AutoModel, ("input_ids", *_PICTURE), _BOTH, "two towers"
    ),
    "llava": Watched(
        {
            "text_config": {**_TEXT, "model_type": "llama", "num_key_value_heads": 2},
            "vision_config": {**_VISION, "model_type": "clip_vision_model"},
            "image_token_index": 98,
            "vision_feature_layer": -1,
        },
        AutoModelForImageTextToText,
        ("input_ids", *_PICTURE),
        {"language_model": ("attentions",)},
        "a vision tower beside a language model",
    ),
    "whisper": Watched(
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "encoder_layers": 3,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "num_mel_bins": 8,
            "max_source_positions": 16,
            "max_target_positions": 32,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 2,
        },
        AutoModelForSpeechSeq2Seq,
        ("input_features", "decoder_input_ids"),
        {
            "encoder.layers": ("encoder_attentions",),
            "decoder.layers.*.self_attn": ("decoder_attentions",),
            "encoder_attn": ("cross_attentions",),
        },
        "sound to text: encoder, decoder and cross-attention kept apart",
    ),
}


def tiny_watched(name: str, *, implementation: str | None = None, **changed: Any) -> Any:
    """A tiny random model of a family in eval mode, with other settings where some are given."""
    family = WATCHED[name]
    torch.manual_seed(0)
    configuration = AutoConfig.for_model(name, **{**family.settings, **changed})
    model = family.auto.from_config(configuration, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
    return model


def watched_inputs(name: str) -> dict[str, torch.Tensor]:
    """Two texts, pictures or sounds."""
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 98, (2, 12), generator=random)
    if name == "llava":
        ids = torch.cat([ids[:, :2], torch.full((2, 16), 98), ids[:, 2:5]], 1)
    every = {
        "input_ids": ids,
        "decoder_input_ids": ids[:, :7],
        "pixel_values": torch.randn(2, 3, 32, 32, generator=random),
        "input_features": torch.randn(2, 8, 32, generator=random),
    }
    return {one: every[one] for one in WATCHED[name].inputs}
