"""Ten of the families in `tests.families`, for tests of what does not depend on the family: in milliseconds."""

from __future__ import annotations

from typing import Any

import torch

from tests.families import FAMILIES as ALL_FAMILIES
from tests.families import VOCABULARY, tiny_family

DECODERS = {
    name: ALL_FAMILIES[name].settings
    for name in ("llama", "qwen2", "qwen3", "mistral", "gemma3_text", "gpt2", "gpt_neox")
}
ENCODERS = {name: ALL_FAMILIES[name].settings for name in ("bert", "roberta", "distilbert")}
FAMILIES = {**DECODERS, **ENCODERS}


def tiny_model(family: str, *, implementation: str = "sdpa", **overrides: Any) -> Any:
    """A random model of a family, see `tests.families.tiny_family`; settings may be given instead of the family's."""
    return tiny_family(family, implementation=implementation, **overrides)


def tiny_ids(length: int = 12, batch: int = 1) -> torch.Tensor:
    """Random token ids without special ones, [batch, token]."""
    return torch.randint(3, VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(1))
