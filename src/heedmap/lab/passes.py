"""Forward passes for experiments: a padded batch that is listened to, and one text with its states and logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from heedmap.errors import UnsupportedModel
from heedmap.reading.call import AttentionCall
from heedmap.reading.editor import Editor, edited_text
from heedmap.reading.forward import evaluating, input_device
from heedmap.reading.listening import AttentionLayer, LayerListener
from heedmap.reading.memory import require_memory
from heedmap.reading.own_code import has_own_code, run_own_code
from heedmap.reading.padded import check_padding, pad, padding_id, run_padded
from heedmap.reading.tap import Heard, tap
from heedmap.reading.two_stacks import refuse_without_target
from heedmap.text.from_ids import from_ids

if TYPE_CHECKING:
    from heedmap.reading.model import Model

Listen = Callable[[AttentionLayer, AttentionCall, range], None]
"""Told a layer, its attention call, and which of the texts are in it; padding stands after each text."""


def listen_to_batch(model: Model, texts: Sequence[Sequence[int]], listen: Listen) -> None:
    """Run texts together, padded on the right, and hand over each layer's attention call as it passes.

    Models with attention code of their own run text by text.

    Args:
        model: what runs.
        texts: the token ids of each.
        listen: told each layer in the order they run.

    Raises:
        UnsupportedModel: the model has an encoder and a decoder, or reads padded texts otherwise than alone.
    """
    refuse_without_target(model)
    if has_own_code(model.module):
        for number, ids in enumerate(texts):
            here = torch.tensor([list(ids)], device=input_device(model.module))
            run_own_code(model.module, here, _listener(model, listen, range(number, number + 1)))
        return
    batch = pad(texts, padding_id(model.module), "right")
    if not bool(batch.present.all()):
        check_padding(model.module, "right")
    with tap(model.module, _listener(model, listen, range(len(texts))), editor=_editor(model, texts)):
        run_padded(model.module, batch)


def _editor(model: Model, texts: Sequence[Sequence[int]]) -> Editor | None:
    """What edits these texts, where the model is an edited one."""
    if not model.edit:
        return None
    return model.editor([edited_text(model.edit, from_ids(model.tokenizer, ids)) for ids in texts])


def _listener(model: Model, listen: Listen, texts: range) -> Callable[[Heard], None]:
    """A receiver for the tap."""
    return LayerListener(model.layers, lambda layer, heard: listen(layer, heard.call, texts))


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """What a model made of one text.

    Attributes:
        hidden: [token, dim] after each layer, with attention or without.
        logits: [token, vocabulary]; None for a model that gives none.
    """

    hidden: tuple[torch.Tensor, ...]
    logits: torch.Tensor | None


def run_with_states(model: Model, ids: Sequence[int], listen: Listen) -> States:
    """Run one text alone, listen to its attention, and keep the state after every layer and all logits.

    Args:
        model: what runs.
        ids: the token ids.
        listen: as in `listen_to_batch`, with one text.

    Raises:
        UnsupportedModel: the model has an encoder and a decoder, or hands out no hidden states.
        TooLarge: states and logits need more memory than is free.
    """
    refuse_without_target(model)
    module, device = model.module, input_device(model.module)
    configuration: Any = module.config.get_text_config()
    needed = 8.0 * len(ids) * (configuration.vocab_size + configuration.hidden_size * configuration.num_hidden_layers)
    require_memory(needed, device, f"keeping states and logits of {len(ids):,} tokens", "give shorter texts")
    here = torch.tensor([list(ids)], device=device)
    if has_own_code(module):
        run_own_code(module, here, _listener(model, listen, range(1)))
        with evaluating(module):
            return _states(module, here)
    with tap(module, _listener(model, listen, range(1)), editor=_editor(model, [ids])):
        return _states(module, here)


def _states(module: Any, ids: torch.Tensor) -> States:
    """One forward pass with everything kept."""
    with torch.no_grad():
        result = module(input_ids=ids, attention_mask=torch.ones_like(ids), return_dict=True, output_hidden_states=True)
    hidden = getattr(result, "hidden_states", None)
    if not hidden or not all(isinstance(state, torch.Tensor) and state.ndim == 3 for state in hidden):
        raise UnsupportedModel(f"{type(module).__name__} hands out no hidden states, so what a word sees is not known")
    logits = getattr(result, "logits", None)
    fits = isinstance(logits, torch.Tensor) and logits.ndim == 3 and logits.shape[1] == ids.shape[1]
    states = tuple(state[0] for state in hidden[1:])
    return States(states, logits[0] if isinstance(logits, torch.Tensor) and fits else None)
