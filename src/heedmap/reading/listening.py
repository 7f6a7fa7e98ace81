"""From attention calls as they pass to layers: which stack and number a call belongs to, and which calls are one.

A call is known by its module and by which of the module's calls in a forward pass it is, since some families run one
module for all layers (ALBERT), and some call attention twice in a layer with the same weights (DiffLlama).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.tap import Heard

ENCODER, DECODER, CROSS = "encoder", "decoder", "cross"
"""The stacks of an encoder-decoder: its encoder, its decoder's look at itself, and its decoder's look at the source."""


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """One layer whose attention can be read.

    Attributes:
        number: the model's own number of the layer, from 0, within its stack.
        module: the name of the attention module inside the model.
        heads: number of query heads.
        key_value_heads: number of key-value heads.
        stack: "encoder", "decoder" or "cross" in an encoder-decoder, "text" or "vision" in a model of two towers;
            empty in models of one stack.
        call: which of the module's calls in a forward pass it is, from 0; more than 0 where layers share a module.
        parts: how many calls, with the same weights and other values, make it up.
    """

    number: int
    module: str
    heads: int
    key_value_heads: int
    stack: str = ""
    call: int = 0
    parts: int = 1


TEXT, VISION = "text", "vision"
"""The stacks of a model that runs a text and a picture side by side: its towers."""

LayerReceiver = Callable[[AttentionLayer, Heard], None]


class LayerListener:
    """A receiver for the tap that hands over one call a layer."""

    def __init__(self, layers: Sequence[AttentionLayer], receive: LayerReceiver) -> None:
        self._layers = {(layer.module, layer.call): layer for layer in layers}
        self._parts = {layer.module: layer.parts for layer in layers}
        self._receive = receive
        self._done: Counter[str] = Counter()
        self._waiting: dict[str, list[Heard]] = {}

    def __call__(self, heard: Heard) -> None:
        """Hand over the layer that a call completes."""
        parts = self._waiting.setdefault(heard.module, [])
        parts.append(heard)
        if len(parts) < self._parts[heard.module]:
            return
        layer = self._layers[heard.module, self._done[heard.module]]
        self._done[heard.module] += 1
        del self._waiting[heard.module]
        self._receive(layer, _joined(parts))


def layers_heard(module: nn.Module, heard: Sequence[Heard]) -> list[tuple[AttentionLayer, Heard]]:
    """The layers that the attention calls of one forward pass belong to, in the order of stacks and numbers.

    Raises:
        UnsupportedModel: layers and calls do not go together in a way that is known; the message names the module.
    """
    groups = _same_weights(heard)
    stacks = _stacks(module, [group[0] for group in groups])
    found: list[tuple[AttentionLayer, Heard]] = []
    for stack in dict.fromkeys(stacks):
        found += _layers_of_stack(
            module, stack, [group for group, of in zip(groups, stacks, strict=True) if of == stack]
        )
    return found


def _layers_of_stack(module: nn.Module, stack: str, groups: list[list[Heard]]) -> list[tuple[AttentionLayer, Heard]]:
    """Number the layers of one stack: by the names of their modules, or by their order where they share one."""
    kind = type(module).__name__
    shared = Counter(group[0].module for group in groups)
    if max(shared.values()) == 1:
        numbers = [_number_in(kind, group[0].module) for group in groups]
    elif len(groups) == _layer_count(module):
        numbers = list(range(len(groups)))
    else:
        again = max(shared, key=lambda name: shared[name])
        raise UnsupportedModel(f"{kind} calls attention several times in {again}: this cannot be read yet")
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise UnsupportedModel(
            f"{kind} has several attention modules in layer {twice}: this cannot be read yet, but heedmap.watch hears "
            "them one by one"
        )
    done: Counter[str] = Counter()
    found = []
    for number, group in zip(numbers, groups, strict=True):
        call, name = group[0].call, group[0].module
        layer = AttentionLayer(number, name, call.heads, call.key_value_heads, stack, done[name], len(group))
        done[name] += 1
        found.append((layer, _joined(group)))
    return sorted(found, key=lambda pair: pair[0].number)


def _layer_count(module: nn.Module) -> int:
    """How many layers the configuration says there are."""
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    return int(getattr(configuration, "num_hidden_layers", 0))


def _number_in(kind: str, module: str) -> int:
    """The layer's number: the first one in the name of its attention module."""
    number = re.search(r"(?:^|\.)(\d+)(?:\.|$)", module)
    if number is None:
        raise UnsupportedModel(f"{kind}: the attention module '{module}' carries no layer number")
    return int(number.group(1))


def _same_weights(heard: Sequence[Heard]) -> list[list[Heard]]:
    """The calls, those that follow each other in a module with the same query, key and mask together."""
    groups: list[list[Heard]] = []
    for one in heard:
        if groups and _has_the_weights_of(one, groups[-1][0]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _has_the_weights_of(one: Heard, other: Heard) -> bool:
    """Whether two calls of a module differ in nothing but the values."""
    if one.module != other.module:
        return False
    left, right = one.call, other.call
    return (
        torch.equal(left.query, right.query)
        and torch.equal(left.key, right.key)
        and torch.equal(left.logsumexp, right.logsumexp)  # type: ignore[arg-type]
        and (left.scale, left.softcap) == (right.scale, right.softcap)
    )


def _joined(parts: Sequence[Heard]) -> Heard:
    """Several calls with the same weights as one, whose values stand beside each other."""
    if len(parts) == 1:
        return parts[0]
    value, output = (torch.cat([getattr(one, name) for one in parts], -1) for name in ("value", "output"))
    return replace(parts[0], value=value, output=output)


def _stacks(module: nn.Module, heard: Sequence[Heard]) -> list[str]:
    """The stack of each call."""
    towers = {f"{stack}_model.": stack for stack in (TEXT, VISION)}
    begins = [next((start for start in towers if one.module.startswith(start)), "") for one in heard]
    if set(begins) == set(towers):
        return [towers[start] for start in begins]
    if not getattr(module.config, "is_encoder_decoder", False):
        return [""] * len(heard)
    encoder = module.get_encoder()  # type: ignore[operator]
    inside = next((name for name, part in module.named_modules() if part is encoder), None)
    if inside is None:
        raise UnsupportedModel(f"{type(module).__name__} has no encoder that can be told from its decoder")
    kinds = [ENCODER if one.module.startswith(f"{inside}.") else DECODER for one in heard]
    source = {one.call.rule.keys for one, kind in zip(heard, kinds, strict=True) if kind == ENCODER}
    target = {one.call.rule.queries for one, kind in zip(heard, kinds, strict=True) if kind == DECODER}
    for index, (one, kind) in enumerate(zip(heard, kinds, strict=True)):
        if kind == ENCODER:
            continue
        if {one.call.rule.keys} == source:
            kinds[index] = CROSS
        elif {one.call.rule.keys} != target:
            raise UnsupportedModel(
                f"{type(module).__name__}: {one.module} looks at {one.call.rule.keys} keys, which are neither the "
                f"source's nor the decoder's own: this cannot be read yet"
            )
    return kinds
