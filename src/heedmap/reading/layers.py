"""The attention layers of a model, found by listening to a short input, and the check that they are read rightly."""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.forward import evaluating, run
from heedmap.reading.tap import Heard, switchable_configurations, tap

_CHECK_TOKENS = 8
"""Length of the input that the check runs on."""


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """One layer whose attention can be read.

    Attributes:
        number: the model's own number of the layer, from 0.
        module: the name of the attention module inside the model.
        heads: number of query heads.
        key_value_heads: number of key-value heads.
    """

    number: int
    module: str
    heads: int
    key_value_heads: int


_checked: weakref.WeakKeyDictionary[nn.Module, tuple[AttentionLayer, ...]] = weakref.WeakKeyDictionary()


def attention_layers(module: nn.Module) -> tuple[AttentionLayer, ...]:
    """The layers whose attention can be read, in order; the model is checked at the first call.

    The check runs a short input with and without the tap. The model must say the same both times, and in every
    attention call the weights read must blend the values into that call's own output.

    Args:
        module: a transformers model that takes `input_ids`.

    Raises:
        UnsupportedModel: the model cannot be read, or the check failed; the message names the layer and class.
    """
    if module not in _checked:
        _refuse_unknown_kinds(module)
        _checked[module] = _check(module)
    return _checked[module]


def _refuse_unknown_kinds(module: nn.Module) -> None:
    """Refuse by name what is not known to be read rightly, before anything runs."""
    switchable_configurations(module)
    configuration: Any = module.config
    kind = f"{type(module).__name__} ({configuration.model_type})"
    if getattr(configuration, "is_encoder_decoder", False):
        raise UnsupportedModel(f"{kind} has an encoder and a decoder: only single stacks can be read yet")
    if getattr(module, "main_input_name", "input_ids") != "input_ids":
        raise UnsupportedModel(f"{kind} takes {module.main_input_name}: only models of text can be read yet")


def reads_text_alone(module: nn.Module) -> bool:
    """Whether a transformers model is one stack that takes text and nothing else, so that it can be checked on text."""
    text_only = getattr(module, "input_modalities", None) in (None, "text", ("text",), ["text"])
    one_stack = not getattr(module.config, "is_encoder_decoder", False)
    return text_only and one_stack and getattr(module, "main_input_name", "input_ids") == "input_ids"


def _check(module: nn.Module) -> tuple[AttentionLayer, ...]:
    """Listen to a short input, and compare what the model says with and without the tap."""
    ids = _short_input(module)
    heard: list[Heard] = []
    kind = type(module).__name__
    with evaluating(module):
        try:
            plain = run(module, ids)
        except Exception as error:  # models that need more than text fail in as many ways as there are of them
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UnsupportedModel(f"{kind} cannot be run on token ids alone ({reason})") from error
        with tap(module, heard.append):
            tapped = run(module, ids)
    if not heard:
        raise UnsupportedModel(f"{kind} never called an attention function that can be read")
    refuse_difference(plain, tapped, f"{kind} says something else when its attention is read")
    layers = [_layer_of(module, one) for one in heard]
    _refuse_odd_layers(module, layers)
    for layer, one in zip(layers, heard, strict=True):
        refuse_wrong_weights(module, layer, one)
    return tuple(layers)


def refuse_wrong_weights(module: nn.Module, layer: AttentionLayer, heard: Heard) -> None:
    """Refuse when the weights read do not blend the values into the call's own output, in a few rows.

    Raises:
        UnsupportedModel: they do not; the message names the layer and class.
    """
    call = heard.call.made_exact()
    if not all(part.isfinite().all() for part in (call.query, call.key, heard.value)):
        return  # the weights of a broken layer are not a number: that is to be shown, not refused
    repeats = call.heads // call.key_value_heads
    value = heard.value if repeats == 1 else heard.value.repeat_interleave(repeats, 1)
    name = type(module.get_submodule(layer.module)).__name__
    for rows in _checked_rows(call.rule.queries):
        refuse_difference(
            heard.output[:, :, rows],
            call.weights(rows, slice(None)).to(value.dtype) @ value,
            f"layer {layer.number} of {type(module).__name__} ({layer.module}, {name}): "
            "the weights read do not give its output",
        )


def _checked_rows(queries: int) -> list[slice]:
    """All rows of a short input; the first, the middle and the last of a long one."""
    if queries <= _CHECK_TOKENS:
        return [slice(0, queries)]
    return [slice(row, row + 1) for row in (0, queries // 2, queries - 1)]


def _short_input(module: nn.Module) -> torch.Tensor:
    """A few different token ids that the model knows."""
    configuration: Any = module.config
    vocabulary = int(getattr(configuration, "vocab_size", 0) or configuration.get_text_config().vocab_size)
    length = min(_CHECK_TOKENS, position_limit(module) or _CHECK_TOKENS)
    ids = torch.linspace(0, vocabulary - 1, length + 2).long()[1:-1]
    device: Any = module.device
    return ids.unsqueeze(0).to(device)


def position_limit(module: nn.Module) -> int | None:
    """How many tokens the model has positions for; None when nothing says so."""
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    limit = getattr(configuration, "max_position_embeddings", None)
    if limit is None or limit <= 0:
        return None
    for name, part in module.named_modules():
        # RoBERTa and its kin count positions from the padding id, so the first few rows of the table are never used.
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return int(limit) - int(part.padding_idx) - 1
    return int(limit)


def _layer_of(module: nn.Module, heard: Heard) -> AttentionLayer:
    """The layer that an attention call belongs to: the first number in the name of its module."""
    number = re.search(r"(?:^|\.)(\d+)(?:\.|$)", heard.module)
    if number is None:
        raise UnsupportedModel(
            f"{type(module).__name__}: the attention module '{heard.module}' carries no layer number"
        )
    return AttentionLayer(int(number.group(1)), heard.module, heard.call.heads, heard.call.key_value_heads)


def _refuse_odd_layers(module: nn.Module, layers: list[AttentionLayer]) -> None:
    """Refuse models in which layers and attention calls are not one and the same."""
    kind = type(module).__name__
    numbers = [layer.number for layer in layers]
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise UnsupportedModel(f"{kind} calls attention several times in layer {twice}: this cannot be read yet")
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    expected = getattr(configuration, "num_hidden_layers", len(layers))
    if len(layers) != expected:
        raise UnsupportedModel(
            f"{kind} has {expected} layers, and attention was heard in {len(layers)} of them: this cannot be read yet"
        )


def refuse_difference(expected: torch.Tensor, found: torch.Tensor, message: str) -> None:
    """Refuse when two tensors differ by more than rounding.

    The bound is 1e-4 of the largest number for float32: rounding alone gives about 1e-6 a layer. Half precision keeps
    8 to 11 bits, so its bound is 0.05; a wrong mask or scale is off by the size of the numbers themselves.
    """
    bound = 5e-2 if expected.dtype in (torch.float16, torch.bfloat16) else 1e-4
    expected, found = expected.double(), found.double()
    # A broken model says "not a number" with and without the tap: that is to be shown, not refused.
    same_holes = torch.equal(expected.isfinite(), found.isfinite())
    known = expected.isfinite() & found.isfinite()
    nothing = expected.new_zeros(1)
    size = max(torch.cat([expected[known].abs(), nothing]).max().item(), 1e-3)
    difference = torch.cat([(expected - found)[known].abs(), nothing]).max().item()
    if not same_holes or difference > bound * size:
        raise UnsupportedModel(f"{message} (difference {difference:.2g} where numbers reach {size:.2g})")
