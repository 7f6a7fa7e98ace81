"""The output table of an attention module: which one it is, and whether the heads go straight into it.

A head can be taken out of a layer by its part of what enters the table only where nothing else comes between: no gate,
no difference of heads, no normalisation. That is looked at, not assumed: a short text runs, and what enters the table
must be the heads' own outputs side by side.
"""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

import torch
from torch import nn

from heedmap.reading.forward import evaluating, input_device, run, spread_ids
from heedmap.reading.layers import attention_layers, is_encoder_decoder
from heedmap.reading.tap import Heard, tap

TABLES = ("o_proj", "out_proj", "c_proj", "dense", "out_lin", "Wo", "o")
"""What families call the output table inside their attention module; BERT's kin keep it beside, in `output.dense`."""

_CHECK_TOKENS = 6

_straight: weakref.WeakKeyDictionary[nn.Module, dict[str, str]] = weakref.WeakKeyDictionary()


def candidates(module: nn.Module, attention: str) -> dict[str, nn.Module]:
    """The modules that may be the output table of an attention module, by their names in the model."""
    parent = attention.rpartition(".")[0]
    names = [f"{attention}.{name}" for name in TABLES] + [f"{parent}.output.dense"]
    known = dict(module.named_modules())
    return {name: known[name] for name in names if name in known}


def straight_tables(module: nn.Module) -> dict[str, str]:
    """The attention modules whose heads go straight into their output table, and the table's name; checked once.

    Args:
        module: a transformers model that the tap reaches.

    Example:
        >>> import heedmap
        >>> straight_tables(heedmap.load("smollm2").module)["model.layers.12.self_attn"]
        'model.layers.12.self_attn.o_proj'
    """
    if module not in _straight:
        _straight[module] = _look(module)
    return _straight[module]


def _look(module: nn.Module) -> dict[str, str]:
    """Run a short text, and compare what enters each candidate with the heads that were heard last."""
    heard: list[Heard] = []
    found: dict[str, str] = {}
    agreed: Counter[str] = Counter()

    def enters(name: str) -> Any:
        def hook(_: nn.Module, arguments: tuple[Any, ...]) -> None:
            given = arguments[0] if arguments else None
            if not heard or not isinstance(given, torch.Tensor):
                return
            joined = heard[-1].output.transpose(1, 2).flatten(2)
            if given.shape == joined.shape and torch.equal(given, joined):
                found[heard[-1].module] = name
                agreed[heard[-1].module] += 1

        return hook

    attentions = dict.fromkeys(layer.module for layer in attention_layers(module))
    tables = {table: part for name in attentions for table, part in candidates(module, name).items()}
    handles = [part.register_forward_pre_hook(enters(name)) for name, part in tables.items()]
    ids = torch.tensor([spread_ids(module, _CHECK_TOKENS)], device=input_device(module))
    try:
        with evaluating(module), tap(module, heard.append):
            run(module, ids, ids[:, :-1] if is_encoder_decoder(module) else None)
    finally:
        for handle in handles:
            handle.remove()
    calls = Counter(one.module for one in heard)
    # A module that runs several times a pass is straight when it was so each time.
    return {name: table for name, table in found.items() if agreed[name] == calls[name]}
