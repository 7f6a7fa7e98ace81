"""The texts that a watched forward call ran: seen as they went in, and handed out as readings."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from heedmap.errors import EmptyText, ReadingError, UnsupportedModel
from heedmap.models.load import LoadedModel, ModelSource
from heedmap.reading.batch import text_call
from heedmap.reading.forward import predicts_next_token
from heedmap.reading.forward_call import ForwardCall, WatchedCall
from heedmap.reading.listening_model import describe
from heedmap.reading.model import Model
from heedmap.reading.odds import most_likely
from heedmap.reading.reading import Reading
from heedmap.text.tokenize import from_ids


def ids_and_presence(
    part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """The token ids that a module was called with, and which of them are no padding, both [text, token] or None."""
    given = arguments_by_name(part, arguments, named)
    ids, mask = (given.get(name) for name in ("input_ids", "attention_mask"))
    if not isinstance(ids, torch.Tensor) or ids.ndim != 2 or ids.is_floating_point():
        return None, None
    present = mask.detach().bool() if isinstance(mask, torch.Tensor) and mask.shape == ids.shape else None
    return ids.detach().clone(), None if present is None or bool(present.all()) else present


def pictures_and_sizes(
    part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[int, int, int] | None:
    """How many pictures a module was called with, their height and their width; None where there were none."""
    pixels = arguments_by_name(part, arguments, named).get("pixel_values")
    if not isinstance(pixels, torch.Tensor) or pixels.ndim != 4:
        return None
    return pixels.shape[0], pixels.shape[2], pixels.shape[3]


def arguments_by_name(part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """What a module was called with, by name; nothing for a wrong call, of which the module itself will say so."""
    try:
        bound = inspect.signature(part.forward).bind_partial(*arguments, **named).arguments
        return {name: one for name, one in bound.items() if name not in ("args", "kwargs")} | named
    except TypeError:
        return {}


def last_logits(part: nn.Module, output: Any, forward: ForwardCall) -> torch.Tensor | None:
    """The logits after each text's last token, [text, vocabulary]; None where the model gives none."""
    logits = getattr(output, "logits", None)
    if forward.ids is None or not isinstance(logits, torch.Tensor) or not predicts_next_token(part):
        return None
    texts, length = forward.ids.shape
    last = torch.full((texts,), length - 1, device=logits.device)
    if forward.present is not None:
        last = length - 1 - forward.present.to(logits.device).int().flip(1).argmax(1)
    place = last - (length - logits.shape[1])  # generation asks for the logits of the last token alone
    if logits.ndim != 3 or bool((place < 0).any()):
        return None
    return logits.detach()[torch.arange(texts, device=logits.device), place]


def readings_of(forward: ForwardCall, module: nn.Module, tokenizer: Any) -> list[Reading]:
    """One reading for each text of a forward call, without its padding; see `ForwardCall.readings`."""
    if forward.ids is None:
        raise ReadingError(
            "the forward call was given no input_ids, so that its texts are not known: give the ids by that name"
        )
    heard = _stack_of_whole_texts(forward)
    layers = tuple(sorted((one.layer for one in heard), key=lambda layer: layer.number))
    name = type(module).__name__
    source = ModelSource(name, "watched", name, None, None)
    about = describe(_model_in(module), source, layers)
    if forward.dropout:
        about["dropout"] = forward.dropout
    reader = _reader(forward, module, LoadedModel(module, tokenizer, source))
    readings = []
    for text, ids in enumerate(forward.ids):
        start, stop = _real_tokens(forward, text)
        logits = None if forward.logits is None else forward.logits[text]
        readings.append(
            Reading(
                tokens=from_ids(tokenizer, ids[start:stop].tolist()),
                layers=layers,
                calls=OrderedDict(
                    (one.layer.number, text_call(one.call, text, start, stop)) for one in heard if one.call is not None
                ),
                model=about,
                logits=logits,
                candidates=() if logits is None else most_likely(logits, tokenizer),
                reader=reader,
                ran=replace(forward.ran, text=text, start=start),
            )
        )
    return readings


def _reader(forward: ForwardCall, module: nn.Module, loaded: LoadedModel) -> Model | None:
    """The model that can run a forward call again: of the whole module, over one stack of text; None for others."""
    if not isinstance(module, PreTrainedModel) or forward.part or len(forward.stacks) > 1 or forward.pixels:
        return None
    try:
        return Model(loaded)
    except UnsupportedModel:
        return None  # heard call by call, but its layers are not known


def _stack_of_whole_texts(forward: ForwardCall) -> list[WatchedCall]:
    """The attention calls of the one stack of layers that every token of every text ran through.

    Raises:
        ReadingError: there is none, or several, or a layer called attention more than once.
    """
    assert forward.ids is not None
    texts, length = forward.ids.shape
    fitting = forward.text_stacks
    longest = max((one.call.rule.queries for one in forward.calls if one.call is not None), default=0)
    if not fitting and longest > length:
        raise ReadingError(
            f"the model ran {longest} positions for {length} tokens: virtual tokens, which stand in no text, would "
            "shift every row; the weights of all positions are in .weights(layer)"
        )
    if not fitting:
        raise ReadingError(
            f"no stack of layers ran {texts} texts of {length} tokens whole (a step of generation runs one new token, "
            "prefix tuning adds keys that are no tokens): "
            "the weights are in .weights(layer)"
        )
    if len(fitting) > 1:
        raise ReadingError(
            f"several stacks of layers ran texts of {length} tokens ({', '.join(fitting)}): "
            "the weights are in .weights(layer, stack=...)"
        )
    heard = [one for one in forward.heard if one.stack in fitting]
    if len({one.layer.number for one in heard}) < len(heard):
        raise ReadingError("a layer called attention several times in this forward call: take them from .calls")
    return heard


def _real_tokens(forward: ForwardCall, text: int) -> tuple[int, int]:
    """First token and one past the last that is no padding."""
    assert forward.ids is not None
    if forward.present is None:
        return 0, forward.ids.shape[1]
    places = forward.present[text].nonzero().flatten()
    if not len(places):
        raise EmptyText(f"text {text} of the batch is nothing but padding")
    return int(places[0]), int(places[-1]) + 1


def _model_in(module: nn.Module) -> nn.Module:
    """The transformers model that a module is or holds."""
    return next((part for part in module.modules() if isinstance(part, PreTrainedModel)), module)
