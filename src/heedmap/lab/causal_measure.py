"""Where two texts that part somewhere differ in a model: weights, states and logits, before that point and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.lab.passes import States, run_with_states
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import AttentionLayer
from heedmap.reading.rule import MaskRule

if TYPE_CHECKING:
    from heedmap.reading.model import Model

_CELLS = 1 << 22
"""Weights of one head that are compared at once."""


def differences(model: Model, texts: Sequence[str], special_tokens: bool | None) -> dict[str, Any]:
    """The largest absolute differences between two texts, before the first token in which they differ and from it on.

    Returns:
        `before` and `after`, how many positions there are; `same_length`; for weights [layer, head], states [state]
        and logits (a number, NaN where the model gives none) the largest difference `_before` and `_after`;
        `states_scale` [state] and `logits_scale`, the largest number there is; `layers` [layer] and their numbers;
        `looks_ahead` [layer], whether the layer's own mask lets a token look at later ones; `epsilon` of the dtype.
    """
    first, second = (model.tokenize(text, special_tokens=special_tokens).ids for text in texts)
    split = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    stop = min(len(first), len(second))
    calls: dict[AttentionLayer, AttentionCall] = {}
    ahead: dict[int, bool] = {}

    def keep(layer: AttentionLayer, call: AttentionCall, texts: range) -> None:
        calls[layer] = call
        ahead[layer.number] = _looks_ahead(call.rule, call.query.device)

    weights: dict[str, list[np.ndarray]] = {"before": [], "after": []}

    def compare(layer: AttentionLayer, call: AttentionCall, texts: range) -> None:
        other = calls.pop(layer).made_exact()
        here = call.made_exact()
        before, after = _weights_differ(other, here, split, stop)
        weights["before"].append(before)
        weights["after"].append(after)

    one = run_with_states(model, first, keep)
    two = run_with_states(model, second, compare)
    return {
        "before": split,
        "after": stop - split,
        "same_length": len(first) == len(second),
        "layers": np.array(sorted(ahead), np.int32),
        "looks_ahead": np.array([ahead[number] for number in sorted(ahead)]),
        "epsilon": float(torch.finfo(model.module.dtype).eps),
        **{f"weights_{when}": np.stack(found) for when, found in weights.items()},
        **_states_differ(one, two, split, stop),
    }


def _looks_ahead(rule: MaskRule, device: torch.device) -> bool:
    """Whether a mask lets some token look at a later one."""
    if rule.ahead is not None and rule.ahead <= 0:
        return False
    rows = torch.arange(rule.queries - 1, device=device)
    for row in (rows[:1], rows[len(rows) // 2 : len(rows) // 2 + 1]):
        if len(row) and bool(rule.allowed(row, torch.arange(int(row) + 1, rule.keys, device=device)).any()):
            return True
    return False


def _weights_differ(one: AttentionCall, other: AttentionCall, split: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest difference of any weight of the queries before `split`, and of those from there to `stop`, [head]."""
    rows_apart = np.full((one.heads, stop), np.nan, np.float32)
    step = max(_CELLS // max(stop, 1) // one.heads, 1)
    for begin in range(0, stop, step):
        rows = slice(begin, min(begin + step, stop))
        apart = one.weights(rows, slice(0, stop)) - other.weights(rows, slice(0, stop))
        rows_apart[:, rows] = apart.abs().amax((0, 3)).float().cpu().numpy()
    nothing = np.full(one.heads, np.nan, np.float32)
    return (
        rows_apart[:, :split].max(1) if split else nothing,
        rows_apart[:, split:].max(1) if split < stop else nothing,
    )


def _states_differ(one: States, two: States, split: int, stop: int) -> dict[str, Any]:
    """The largest differences of states and logits, and how large these are."""

    def largest(first: torch.Tensor, second: torch.Tensor, start: int, end: int) -> float:
        if start >= end:
            return float("nan")
        apart: float = (first[start:end].float() - second[start:end].float()).abs().max().item()
        return apart

    def of_states(measure: Callable[[torch.Tensor, torch.Tensor], float]) -> np.ndarray:
        return np.array([measure(first, second) for first, second in zip(one.hidden, two.hidden, strict=True)])

    found: dict[str, Any] = {
        "states_before": of_states(lambda first, second: largest(first, second, 0, split)),
        "states_after": of_states(lambda first, second: largest(first, second, split, stop)),
        "states_scale": of_states(lambda first, second: max(first.abs().max().item(), second.abs().max().item())),
        "logits_before": float("nan"),
        "logits_after": float("nan"),
        "logits_scale": float("nan"),
    }
    if one.logits is not None and two.logits is not None:
        found["logits_before"] = largest(one.logits, two.logits, 0, split)
        found["logits_after"] = largest(one.logits, two.logits, split, stop)
        found["logits_scale"] = max(one.logits.abs().max().item(), two.logits.abs().max().item())
    return found
