"""Several texts in one forward pass: padded to one length, run, and cut apart again without their padding."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.forward import answer_of, evaluating, input_device, refuse_other_vocabulary, spread_ids
from heedmap.reading.layers import refuse_difference
from heedmap.reading.tap import Heard, tap

Side = Literal["left", "right"]
"""Where the padding stands: before the text, or after it."""

SIDES: tuple[Side, ...] = ("right", "left")

_CHECK_LENGTHS = (8, 5)
"""Lengths of the texts that the check runs together."""


@dataclass(frozen=True, slots=True, eq=False)
class Padded:
    """Texts as one batch.

    Attributes:
        ids: [text, token] int64.
        present: [text, token] int64, 0 for padding. It comes from the lengths, never from the ids: the padding id may
            stand in a text as well.
        places: first token and one past the last of each text.
    """

    ids: torch.Tensor
    present: torch.Tensor
    places: tuple[tuple[int, int], ...]


def pad(texts: Sequence[Sequence[int]], padding_id: int, side: Side) -> Padded:
    """Put texts of several lengths below each other.

    Args:
        texts: the token ids of each.
        padding_id: what fills the rest.
        side: where the rest is.

    Example:
        >>> pad([[5, 6, 7], [8]], 0, "left").ids.tolist()
        [[5, 6, 7], [0, 0, 8]]
    """
    length = max(len(ids) for ids in texts)
    starts = [length - len(ids) if side == "left" else 0 for ids in texts]
    places = tuple((start, start + len(ids)) for start, ids in zip(starts, texts, strict=True))
    whole = torch.full((len(texts), length), padding_id, dtype=torch.long)
    present = torch.zeros_like(whole)
    for row, (ids, (start, stop)) in enumerate(zip(texts, places, strict=True)):
        whole[row, start:stop] = torch.tensor(list(ids))
        present[row, start:stop] = 1
    return Padded(whole, present, places)


def run_padded(module: nn.Module, batch: Padded) -> torch.Tensor:
    """One forward pass over a batch: each text's last row of logits, or all its last hidden states.

    Positions start at each text's first real token where the model takes positions.

    Returns:
        logits [text, vocabulary], or for a model without a head its last states [text, token, dim].
    """
    refuse_other_vocabulary(module, batch.ids)
    known = inspect.signature(type(module).forward).parameters
    device = input_device(module)
    last = torch.tensor([stop - 1 for _, stop in batch.places])  # indices may stay on the CPU, wherever the logits lie
    options: dict[str, Any] = {}
    if "use_cache" in known:
        options["use_cache"] = False
    wanted = torch.unique(last)
    if "logits_to_keep" in known:
        options["logits_to_keep"] = wanted
    if "position_ids" in known and not _counts_from_padding(module) and any(start for start, _ in batch.places):
        options["position_ids"] = (batch.present.cumsum(-1) - 1).clamp(min=0).to(device)
    with torch.no_grad():
        result = module(
            input_ids=batch.ids.to(device), attention_mask=batch.present.to(device), return_dict=True, **options
        )
    answer: torch.Tensor = answer_of(result, module)
    if getattr(result, "logits", None) is not answer or answer.ndim != 3:
        return answer
    if "logits_to_keep" in known:
        last = torch.searchsorted(wanted, last)
    chosen: torch.Tensor = answer[torch.arange(len(last)), last]
    return chosen


def padding_id(module: nn.Module) -> int:
    """An id that the model has for padding; where it names none, 0, since no text looks at it."""
    configuration: Any = module.config
    number = getattr(configuration.get_text_config(), "pad_token_id", None)
    return int(number) if isinstance(number, int) and number >= 0 else 0


def _counts_from_padding(module: nn.Module) -> bool:
    """Whether the model makes positions of its own by counting what is not the padding id (RoBERTa and its kin)."""
    return any(
        name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None
        for name, part in module.named_modules()
    )


_checked: weakref.WeakKeyDictionary[nn.Module, set[str]] = weakref.WeakKeyDictionary()


def check_padding(module: nn.Module, side: Side) -> None:
    """Refuse a model for which a padded text is not what it is alone; checked at the first use of a side.

    Two short texts run together and each alone. What the model says and what every layer looked at must be the same.

    Raises:
        UnsupportedModel: they are not: the model does not mind its padding mask, or counts positions from the padding.
    """
    if side in _checked.setdefault(module, set()):
        return
    ids = spread_ids(module, sum(_CHECK_LENGTHS))
    texts = [ids[: _CHECK_LENGTHS[0]], ids[_CHECK_LENGTHS[0] :]]
    together: list[Heard] = []
    message = (
        f"{type(module).__name__} does not read a text with {side} padding as it reads it alone: "
        "read the texts one by one with model.read(text)"
    )
    batch = pad(texts, padding_id(module), side)
    with evaluating(module), tap(module, together.append):
        answers = run_padded(module, batch)
    for row, (text, (start, stop)) in enumerate(zip(texts, batch.places, strict=True)):
        alone: list[Heard] = []
        with evaluating(module), tap(module, alone.append):
            expected = run_padded(module, pad([text], padding_id(module), side))[0]
        found = answers[row] if answers.ndim == 2 else answers[row, start:stop]
        if answers.ndim == 3 and expected.shape != found.shape:
            raise UnsupportedModel(message)
        refuse_difference(expected, found, message)
        for one, padded in zip(alone, together, strict=True):
            if one.call.rule.queries != len(text):
                raise UnsupportedModel(message)
            whole = one.call.made_exact().weights(slice(None), slice(None))[0]
            cut = padded.call.made_exact().weights(slice(start, stop), slice(start, stop))[row]
            # Weights are float32, but no better known than the query and key they come from.
            dtype = one.call.query.dtype
            refuse_difference(whole.to(dtype), cut.to(dtype), message)
    _checked[module].add(side)
