"""Hybrid models: which of their layers have no attention, and what those are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.listening import AttentionLayer

_KINDS_IN_CONFIGURATION = ("layers_block_type", "layer_types")
"""Where a configuration says what each layer is."""

_SOFTMAX_ATTENTION = ("full_attention", "sliding_attention", "chunked_attention", "attention", "hybrid")
"""Kinds of layers with a map of weights: where no call was heard, they have code of their own."""


def layers_without_attention(module: nn.Module, layers: Sequence[AttentionLayer]) -> dict[int, str]:
    """The layers in which no attention call was heard, and what they are.

    Raises:
        UnsupportedModel: it is not known what they are, or they do have attention, of a kind that is not heard.
    """
    found: dict[int, str] = {}
    for stack in dict.fromkeys(layer.stack for layer in layers):
        heard = {layer.number: layer for layer in layers if layer.stack == stack}
        expected = _count(module, list(heard.values()))
        silent = sorted(set(range(expected)) - set(heard))
        if len(heard) + len(silent) != expected:
            raise UnsupportedModel(
                f"{type(module).__name__} has {expected} layers, and attention was heard in {len(heard)} others: "
                "this cannot be read yet"
            )
        for number in silent:
            kind = _kind(module, number)
            if kind is None or stack:
                raise UnsupportedModel(
                    f"{type(module).__name__} has {expected} layers, and attention was heard in {len(heard)} of them, "
                    f"not in layer {number}: this cannot be read yet"
                )
            found[number] = kind
    return found


def _count(module: nn.Module, layers: Sequence[AttentionLayer]) -> int:
    """How many layers a stack has: as many as the list that its attention modules are numbered in."""
    if any(layer.call for layer in layers):
        return len(layers)  # they share a module, and were counted when they were numbered
    name = layers[0].module
    holder = name[: name.index(f".{layers[0].number}.")] if f".{layers[0].number}." in name else ""
    numbered = module.get_submodule(holder)
    return len(numbered) if isinstance(numbered, nn.ModuleList) else len(layers)


def _kind(module: nn.Module, number: int) -> str | None:
    """What a silent layer is by the configuration; None when it does not say, or says that there is attention."""
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    for name in _KINDS_IN_CONFIGURATION:
        kinds = getattr(configuration, name, None)
        if kinds is not None and number < len(kinds):
            return None if kinds[number] in _SOFTMAX_ATTENTION else str(kinds[number])
    return None
