"""What the tests of edits share: tiny models of every family, the tokens they are asked with, and what they answer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

import heedmap
from heedmap.reading.edits import NONE, Edit
from heedmap.reading.forward import run
from heedmap.reading.model import Model
from heedmap.text.tokens import Token, Tokens
from tests.families import FAMILIES, tiny_family
from tests.tiny import tiny_ids

NOT_STRAIGHT = {"diffllama": "DiffLlamaAttention", "qwen3_next": "Qwen3NextAttention"}
"""Heads are subtracted from each other, or go through a gate, before the output table."""

SPARSE = ("glm_moe_dsa", "deepseek_v32")


def tokens_of(length: int = 9) -> Tokens:
    """Random tokens, each a letter."""
    ids = tiny_ids(length)[0].tolist()
    letters = "abcdefghijkl"[:length]
    return Tokens(letters, tuple(Token(i, ids[i], one, i, i + 1) for i, one in enumerate(letters)))


def tiny_models(tokenizer: Any) -> Callable[[str], Model]:
    """Tiny models by family, each made once."""
    return functools.cache(lambda family: heedmap.wrap(tiny_family(family), tokenizer))


def layer_of(family: str) -> int:
    """The layer that the tests edit: the second that has attention, or the only one."""
    return FAMILIES[family].layers[min(1, len(FAMILIES[family].layers) - 1)]


def answer(model: Model, edit: Edit = NONE, *, hook: tuple[str, Any] | None = None) -> torch.Tensor:
    """What a model says after the test's tokens, with an edit, or with a hook before one of its tables."""
    if hook is None:
        return model.edited(edit).listen(tokens_of(), lambda *_: None)
    name, change = hook
    handle = model.module.get_submodule(name).register_forward_pre_hook(change)
    try:
        return run(model.module, torch.tensor([tokens_of().ids]))
    finally:
        handle.remove()
