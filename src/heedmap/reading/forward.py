"""One plain forward pass over token ids, with nothing computed that nobody asked for."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from heedmap.errors import TextError

_OUTPUTS = ("logits", "logits_per_image", "last_hidden_state")
"""Where a model's answer stands, best first."""


@contextlib.contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Eval mode inside the block, since dropout would falsify weights; each part's own mode afterwards."""
    training = [part for part in module.modules() if part.training]
    try:
        for part in training:
            part.training = False
        yield
    finally:
        for part in training:
            part.training = True


def refuse_other_vocabulary(module: nn.Module, *several: torch.Tensor) -> None:
    """Refuse token ids that the model has no vector for: its tokenizer is another model's, or damaged.

    Args:
        module: a transformers model.
        several: ids of any shape.

    Raises:
        TextError: an id is beyond the table of vectors; on a GPU the process could not go on after the look-up.
    """
    try:
        table: Any = module.get_input_embeddings()  # type: ignore[operator]
    except (NotImplementedError, AttributeError):
        return  # no one table is known: the model's own look-up decides
    size = getattr(table, "num_embeddings", None)
    largest = max(int(ids.max()) for ids in several)
    if isinstance(size, int) and largest >= size:
        raise TextError(
            f"a token has the number {largest:,} in the vocabulary, where the model has vectors for {size:,}: "
            "load it with its own tokenizer"
        )


def run(
    module: nn.Module, ids: torch.Tensor, target: torch.Tensor | None = None, *, output_attentions: bool = False
) -> torch.Tensor:
    """The model's answer for one text: its last row of logits, or all its last hidden states.

    Without gradients and without a cache.

    Args:
        module: a transformers model that takes `input_ids`.
        ids: [batch, token] int64, on the model's device.
        target: [batch, token] int64, what the decoder of an encoder-decoder runs; None for all other models.
        output_attentions: make the model's parts return their weights.

    Returns:
        logits [batch, 1 or token, vocabulary], or for a model without a head its last states [batch, token, dim].
    """
    refuse_other_vocabulary(module, ids)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if target is not None:
        inputs["decoder_input_ids"] = target
    return run_inputs(module, inputs, output_attentions=output_attentions)


def run_inputs(
    module: nn.Module, inputs: Mapping[str, torch.Tensor], *, output_attentions: bool = False
) -> torch.Tensor:
    """The same for inputs of any kind, by the names of the model's arguments: pictures, sound, text."""
    known = inspect.signature(type(module).forward).parameters
    options: dict[str, Any] = {}
    if "use_cache" in known:
        options["use_cache"] = False
    if "logits_to_keep" in known:
        options["logits_to_keep"] = 1
    if output_attentions:
        options["output_attentions"] = True
    with torch.no_grad():
        result = module(**inputs, return_dict=True, **options)
    return answer_of(result, module)


def answer_of(result: Any, module: nn.Module) -> torch.Tensor:
    """Where a model's answer stands in what it returned: its logits, or else its last states."""
    for name in _OUTPUTS:
        answer = getattr(result, name, None)
        if isinstance(answer, torch.Tensor):
            return answer
    raise TypeError(f"{type(module).__name__} returns neither {' nor '.join(_OUTPUTS)}")


def predicts_next_token(module: nn.Module) -> bool:
    """Whether the model is a causal language model with a head, whose last logits are the odds of the next token."""
    name = type(module).__name__
    # The heads of XLNet (XLNetLMHeadModel) and XLM (XLMWithLMHeadModel) fill in tokens that stand in the text.
    return "ForCausalLM" in name or ("LMHeadModel" in name and "WithLMHead" not in name and "XLNet" not in name)


def spread_ids(module: nn.Module, count: int) -> list[int]:
    """A few different token ids that the model knows, spread over its vocabulary."""
    vocabulary = vocabulary_size(module) or 0
    return [int(number) for number in torch.linspace(0, vocabulary - 1, count + 2).long()[1:-1].tolist()]


def vocabulary_size(module: nn.Module) -> int | None:
    """How many token ids a model knows; of several numbers in its configuration the smallest. None for none."""
    configuration: Any = module.config
    known = (getattr(one, "vocab_size", None) for one in (configuration, configuration.get_text_config()))
    return min((int(size) for size in known if size), default=None)


def input_device(module: nn.Module) -> torch.device:
    """Where token ids go: to the word vectors, wherever the rest of the model lies.

    accelerate's offload leaves tables without data until they are called, and says where it brings them then.
    """
    try:
        table: Any = module.get_input_embeddings()  # type: ignore[operator]
    except (AttributeError, NotImplementedError):
        table = None
    for part in (table, module):
        place = getattr(getattr(part, "_hf_hook", None), "execution_device", None)
        if place is not None:
            return torch.device(place)
    weight = getattr(table, "weight", None)
    device = weight.device if isinstance(weight, torch.Tensor) else next(module.parameters()).device
    return torch.device("cpu") if device.type == "meta" else device
