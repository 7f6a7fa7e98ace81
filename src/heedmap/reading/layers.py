"""The attention layers of a model, found by listening to a short input, and the check that they are read rightly."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import nn

from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.call import as_given
from heedmap.reading.forward import evaluating, run_inputs
from heedmap.reading.layer_kinds import layers_without_attention
from heedmap.reading.listening import AttentionLayer, layers_heard
from heedmap.reading.own_code import has_own_code, refuse_unknown_code, refuse_without_map, run_own_code
from heedmap.reading.short_input import CHECK_TOKENS, PIXELS, main_input, position_limit, short_input
from heedmap.reading.tap import Heard, switchable_configurations, tap, unheard

__all__ = [
    "AttentionLayer",
    "attention_layers",
    "is_encoder_decoder",
    "other_layers",
    "position_limit",
    "reads_text_alone",
    "refuse_difference",
    "refuse_wrong_weights",
    "silent_layers",
]


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the check of a model found."""

    layers: tuple[AttentionLayer, ...]
    others: dict[int, str] = field(default_factory=dict)


_checked: weakref.WeakKeyDictionary[nn.Module, _Checked] = weakref.WeakKeyDictionary()


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
    return _checked[module].layers


def other_layers(module: nn.Module) -> dict[int, str]:
    """The layers that have no attention, by number, and what they are: "mamba", "conv", "linear_attention" ...

    Raises:
        UnsupportedModel: as `attention_layers`.
    """
    attention_layers(module)
    return _checked[module].others


def silent_layers(module: nn.Module) -> dict[int, str]:
    """As `other_layers`, but empty for a model that was not checked, as those that are only watched."""
    return _checked[module].others if module in _checked else {}


def is_encoder_decoder(module: nn.Module) -> bool:
    """Whether a transformers model has an encoder and a decoder."""
    return bool(getattr(module.config, "is_encoder_decoder", False))


def _refuse_unknown_kinds(module: nn.Module) -> None:
    """Refuse by name what is not known to be read rightly, before anything runs."""
    refuse_without_map(module)
    if has_own_code(module):
        refuse_unknown_code(module)
    else:
        switchable_configurations(module)


def reads_text_alone(module: nn.Module) -> bool:
    """Whether a transformers model is one stack that takes text and nothing else, so that it can be checked on text."""
    text_only = getattr(module, "input_modalities", None) in (None, "text", ("text",), ["text"])
    one_stack = not getattr(module.config, "is_encoder_decoder", False)
    return text_only and one_stack and main_input(module) == "input_ids"


def _check(module: nn.Module) -> _Checked:
    """Listen to a short input, and compare what the model says with and without the tap."""
    inputs = short_input(module)
    own_code = has_own_code(module)
    heard: list[Heard] = []
    kind = type(module).__name__
    device = next(iter(inputs.values())).device
    with unheard(), evaluating(module), torch.autocast(device.type, enabled=False):
        try:
            plain = run_inputs(module, inputs)
        except Exception as error:  # models that need more than text fail in as many ways as there are of them
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UnsupportedModel(f"{kind} cannot be run on a short {_of_what(inputs)} ({reason})") from error
        if own_code:
            tapped = run_own_code(module, inputs["input_ids"], heard.append)
        else:
            with tap(module, heard.append):
                tapped = run_inputs(module, inputs)
    if not heard:
        raise UnsupportedModel(
            f"{kind} ({module.config.model_type}) never called an attention function: "  # type: ignore[union-attr]
            "it has no attention, or none that can be read"
        )
    refuse_difference(plain, tapped, f"{kind} says something else when its attention is read")
    found = layers_heard(module, heard)
    for layer, one in found:
        if not own_code:  # whose values are not known, and whose weights are those that it used
            refuse_wrong_weights(module, layer, one)
    layers = tuple(layer for layer, _ in found)
    return _Checked(layers, layers_without_attention(module, layers))


def _of_what(inputs: Mapping[str, torch.Tensor]) -> str:
    """What a short input is, in a word."""
    return "text" if "input_ids" in inputs else "picture" if PIXELS in inputs else "sound"


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
    largest = call.scale * float(call.query.norm(dim=-1).amax() * call.key.norm(dim=-1).amax())
    for rows in _checked_rows(call.rule.queries):
        refuse_difference(
            heard.output[:, :, rows],
            _blend(call.weights(rows, slice(None)), value),
            f"layer {layer.number} of {type(module).__name__} ({layer.module}, {name}): "
            "the weights read do not give its output",
            largest,
        )


def _blend(weights: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Values blended by weights, in the dtype of the values."""
    with as_given(value):
        return weights.to(value.dtype) @ value


def _checked_rows(queries: int) -> list[slice]:
    """All rows of a short input; the first, the middle and the last of a long one."""
    if queries <= CHECK_TOKENS:
        return [slice(0, queries)]
    return [slice(row, row + 1) for row in (0, queries // 2, queries - 1)]


def own_module(layers: tuple[AttentionLayer, ...], number: int) -> str:
    """The name of the attention module that runs one layer and no other.

    Raises:
        ReadingError: several layers run one module (ALBERT), so that what is seen of it cannot be told apart.
    """
    name = next(layer.module for layer in layers if layer.number == number)
    if sum(layer.module == name for layer in layers) > 1:
        raise ReadingError(f"several layers run one module ({name}), so that its steps cannot be told apart by layer")
    return name


def refuse_difference(expected: torch.Tensor, found: torch.Tensor, message: str, largest_score: float = 1.0) -> None:
    """Refuse when two tensors differ by more than rounding.

    The bound is 1e-4 of the largest number for float32: rounding alone gives about 1e-6 a layer. Half precision keeps
    8 to 11 bits, so its bound is 0.05; a wrong mask or scale is off by the size of the numbers themselves. What a
    softmax made of large scores is known less well: float32 knows a score to a few eps of it, and exp makes that a part
    of the weight.
    """
    half = expected.dtype in (torch.float16, torch.bfloat16)
    bound = 5e-2 if half else min(max(1e-4, 8 * torch.finfo(torch.float32).eps * abs(largest_score)), 5e-2)
    expected, found = expected.double(), found.double()
    # A broken model says "not a number" with and without the tap: that is to be shown, not refused.
    same_holes = torch.equal(expected.isfinite(), found.isfinite())
    known = expected.isfinite() & found.isfinite()
    nothing = expected.new_zeros(1)
    size = max(torch.cat([expected[known].abs(), nothing]).max().item(), 1e-3)
    difference = torch.cat([(expected - found)[known].abs(), nothing]).max().item()
    if not same_holes or difference > bound * size:
        raise UnsupportedModel(f"{message} (difference {difference:.2g} where numbers reach {size:.2g})")
