"""Oracles of tests: what transformers alone says of a model, with nothing of ours in between."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from heedmap.reading.model import Model


def ids_of(model: Model, text: str) -> torch.Tensor:
    """The text's tokens by its tokenizer alone, [1, token]."""
    ids: torch.Tensor = model.tokenizer(text, return_tensors="pt").input_ids
    return ids


def tokens_of(model: Model, text: str, word: str) -> list[int]:
    """The places of the tokens that cover a word, by the tokenizer's own offsets."""
    found = re.search(rf"\b{re.escape(word)}\b", text)
    assert found is not None
    start, end = found.span()
    spans = model.tokenizer(text, return_offsets_mapping=True).offset_mapping
    return [place for place, (a, b) in enumerate(spans) if a < end and b > start and b > a]


def eager_maps(model: Model, text: str) -> np.ndarray:
    """Every weight, [layer, head, query, key]."""
    module: Any = model.module
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            maps = module(input_ids=ids_of(model, text), output_attentions=True).attentions
    finally:
        module.set_attn_implementation(before)
    return np.stack([one[0].double().numpy() for one in maps])


def log_probability(model: Model, prompt: str, answer: str) -> float:
    """The log-probability of an answer after a prompt, all its tokens together."""
    module: Any = model.module
    whole = ids_of(model, f"{prompt} {answer}")
    count = ids_of(model, prompt).shape[1]
    with torch.no_grad():
        log = torch.log_softmax(module(input_ids=whole).logits[0].double(), -1)
    return sum(log[place - 1, whole[0, place]].item() for place in range(count, whole.shape[1]))
