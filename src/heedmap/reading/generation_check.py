"""The check that a model writes under the tap what it writes without, and that its rows are those of a whole pass.

A cache hands its keys over in ways that change from release to release; what goes wrong there goes wrong silently, with
other words written. So the first use of each kind of cache runs a few tokens both ways.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.forward import evaluating, input_device, run, spread_ids
from heedmap.reading.layers import (
    AttentionLayer,
    attention_layers,
    is_encoder_decoder,
    position_limit,
    refuse_difference,
)
from heedmap.reading.listening import CROSS, ENCODER, LayerListener
from heedmap.reading.tap import Heard, tap

_PROMPT, _NEW = 8, 3
"""How long the check's prompt is, and how many tokens it writes."""

_checked: weakref.WeakKeyDictionary[nn.Module, set[str]] = weakref.WeakKeyDictionary()


def check_generation(module: nn.Module, cache: str | None) -> None:
    """Check a model with a kind of cache, once.

    Args:
        module: a transformers model that generates.
        cache: `cache_implementation` as transformers names it; None for the model's own.

    Raises:
        UnsupportedModel: it writes other tokens, or is surer or less sure of them, when it is read; or a row of its
            cached steps is not the row of one pass over the same tokens.
    """
    kind = cache or "its own"
    if kind in _checked.setdefault(module, set()):
        return
    room = position_limit(module)
    length = _PROMPT if room is None else min(_PROMPT, room - _NEW)
    if length < 1:
        return  # no room for what would be checked, nor for what would be asked
    _check(module, cache, torch.tensor([spread_ids(module, length)], device=input_device(module)))
    _checked[module].add(kind)


def _check(module: nn.Module, cache: str | None, ids: torch.Tensor) -> None:
    """Write with and without the tap, and read the whole text in one pass."""
    from heedmap.reading.generate import StepListener, run_generation, what_was_written

    name = type(module).__name__
    options: dict[str, Any] = {"do_sample": False, "num_beams": 1, "min_new_tokens": _NEW, "output_logits": True}
    if cache is not None:
        options["cache_implementation"] = cache
    with evaluating(module):
        plain = run_generation(module, ids, _NEW, **options)
    layers = attention_layers(module)
    steps = StepListener(layers, [layer.number for layer in layers])
    with steps.hearing(module):
        tapped = run_generation(module, ids, _NEW, **options)
    with_cache = "" if cache is None else f" with a {cache} cache"
    message = f"{name} writes something else{with_cache} when its attention is read"
    refuse_other_words(plain, tapped, module.dtype, message)  # type: ignore[arg-type]
    if not all(bool(step.isfinite().all()) for step in plain.logits):
        return  # a broken model: what it does is to be shown, not refused
    two_stacks = is_encoder_decoder(module)
    begin = 1 if two_stacks else ids.shape[1]
    written, beams = what_was_written(tapped, begin)
    if module.dtype in (torch.float16, torch.bfloat16):
        return  # in half precision a cached step and a whole pass round differently
    heard: list[tuple[AttentionLayer, Heard]] = []
    with tap(module, LayerListener(layers, lambda *one: heard.append(one))):
        run(module, *((ids, tapped.sequences[:, :-1]) if two_stacks else (tapped.sequences[:, :-1],)))
    for layer, one in heard:
        if layer.stack == ENCODER:
            continue
        rows = slice(begin - 1, begin - 1 + len(written))
        keys = range(one.call.rule.keys) if layer.stack == CROSS else None
        whole = one.call.weights(rows, slice(None))[0].transpose(0, 1).cpu()
        found = torch.from_numpy(steps.rows(layer, begin, beams, keys).weights)[..., : whole.shape[-1]]
        refuse_difference(
            whole.float(),
            found.float(),
            f"layer {layer.number} of {name} ({layer.module}): the rows of its cached steps{with_cache} are not those "
            "of one pass over the same text",
        )


def refuse_other_words(plain: Any, tapped: Any, dtype: torch.dtype, message: str) -> None:
    """Refuse when two greedy runs differ: in their logits while the words are the same, and in the words.

    Words may part where two are as likely as the dtype's rounding can tell; from there on the runs are not comparable.

    Args:
        plain: what transformers returned without the tap, with its logits.
        tapped: the same with it.
        dtype: what the model computes in; its logits are handed out in float32.
        message: what the refusal says.

    Raises:
        UnsupportedModel: they differ.
    """
    prompt = plain.sequences.shape[1] - len(plain.logits)
    for step, (expected, found) in enumerate(zip(plain.logits, tapped.logits, strict=True)):
        refuse_difference(expected.to(dtype), found.to(dtype), message)
        if plain.sequences[0, prompt + step] != tapped.sequences[0, prompt + step]:
            best, second = expected[0].double().topk(2).values.tolist()
            tie = 5e-2 if dtype in (torch.float16, torch.bfloat16) else 1e-3
            if best - second > tie * max(abs(best), 1.0):
                raise UnsupportedModel(f"{message} (word {step})")
            return
