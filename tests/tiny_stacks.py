"""Tiny models with more than one stack of layers, or with pictures: what `heedmap.watch` can read and `wrap` cannot."""

from __future__ import annotations

from typing import Any

import torch
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTModel,
)

_SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 37,
}
_PATCHES: dict[str, Any] = {**_SIZES, "image_size": 32, "patch_size": 8}


def tiny_t5() -> Any:
    """An encoder and a decoder of 2 layers x 2 heads."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 32, "d_kv": 16, "d_ff": 37, "num_layers": 2, "num_heads": 2}
    options: dict[str, Any] = {"vocab_size": 99, "decoder_start_token_id": 0}
    return T5ForConditionalGeneration(T5Config(**sizes, **options)).eval()


def tiny_vit() -> Any:
    """A vision model of 1 layer x 2 heads, whose pictures are 16 patches and a class token."""
    torch.manual_seed(0)
    return ViTModel(ViTConfig(**_PATCHES)).eval()


def tiny_pixels() -> torch.Tensor:
    """A random picture, [batch, channel, height, width]."""
    return torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(2))


def tiny_llava() -> Any:
    """A vision tower and a language model of 1 layer x 2 heads each."""
    torch.manual_seed(0)
    vision = CLIPVisionConfig(**_PATCHES, projection_dim=32)
    text = LlamaConfig(**_SIZES, vocab_size=99, num_key_value_heads=2, max_position_embeddings=64)
    options: dict[str, Any] = {"image_token_index": 98, "vision_feature_layer": -1}
    return LlavaForConditionalGeneration(LlavaConfig(vision_config=vision, text_config=text, **options)).eval()


def tiny_llava_inputs() -> dict[str, torch.Tensor]:
    """4 tokens of text around 16 of a picture."""
    ids = torch.tensor([[1, 5] + [98] * 16 + [7, 8]])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": tiny_pixels()}
