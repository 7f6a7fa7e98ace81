"""Tiny models with random weights, one for each family: they show what a family does in milliseconds."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

VOCABULARY = 99

_DECODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_GROUPED: dict[str, Any] = {**_DECODER, "num_key_value_heads": 2}
_ENCODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
}
_WINDOWS = ["sliding_attention", "full_attention", "sliding_attention"]

DECODERS: dict[str, dict[str, Any]] = {
    "llama": _GROUPED,
    "qwen2": _GROUPED,
    "qwen3": {**_GROUPED, "head_dim": 16},
    "mistral": {**_GROUPED, "sliding_window": 6},
    "gemma3_text": {**_GROUPED, "head_dim": 16, "sliding_window": 6, "layer_types": _WINDOWS},
    "gpt2": {
        "vocab_size": VOCABULARY,
        "n_embd": 64,
        "n_layer": 3,
        "n_head": 4,
        "n_positions": 128,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "scale_attn_by_inverse_layer_idx": True,
    },
    "gpt_neox": _DECODER,
}
ENCODERS: dict[str, dict[str, Any]] = {
    "bert": _ENCODER,
    "roberta": {**_ENCODER, "pad_token_id": 0},
    "distilbert": {
        "vocab_size": VOCABULARY,
        "dim": 64,
        "hidden_dim": 64,
        "n_layers": 3,
        "n_heads": 4,
        "max_position_embeddings": 128,
    },
}
FAMILIES = {**DECODERS, **ENCODERS}


def tiny_model(family: str, *, implementation: str = "sdpa", **overrides: Any) -> Any:
    """A random model of a family in eval mode, with weights large enough that attention is far from uniform."""
    configuration = AutoConfig.for_model(family, **{**FAMILIES[family], **overrides})
    auto: Any = AutoModelForCausalLM if family in DECODERS else AutoModel
    torch.manual_seed(0)
    model = auto.from_config(configuration, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
    return model


def tiny_ids(length: int = 12, batch: int = 1) -> torch.Tensor:
    """Random token ids without special ones, [batch, token]."""
    return torch.randint(3, VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(1))
