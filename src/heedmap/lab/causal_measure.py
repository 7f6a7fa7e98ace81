"""Where two texts that part somewhere differ in a model: weights, states and logits, before that point and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        `states_apart_before` and so on, the largest difference of a token's vector by the length of that vector, and
        `states_rounding` and `logits_rounding`, the same where the first text's word vectors are one rounding off;
        `layers` [layer] and their numbers; `looks_ahead` [layer], whether the layer's own mask lets a token look at
        later ones; `dtype`.
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
    with _one_rounding_off(model.module):
        moved = run_with_states(model, first, lambda *_: None)
    return {
        "before": split,
        "after": stop - split,
        "same_length": len(first) == len(second),
        "layers": np.array(sorted(ahead), np.int32),
        "looks_ahead": np.array([ahead[number] for number in sorted(ahead)]),
        "dtype": str(model.module.dtype).removeprefix("torch."),
        **{f"weights_{when}": np.stack(found) for when, found in weights.items()},
        **_states_differ(one, two, split, stop),
        "states_rounding": np.array([_apart(*pair) for pair in zip(one.hidden, moved.hidden, strict=True)]),
        "logits_rounding": _apart(one.logits, moved.logits) if one.logits is not None else float("nan"),
    }


@contextmanager
def _one_rounding_off(module: Any) -> Iterator[None]:
    """Inside the block each number of the word vectors is one rounding larger or smaller.

    What becomes of that in a layer is what rounding alone does there: other kernels, threads and lengths round
    otherwise, and begin with no less. No later token has a part in it, and so no leak.
    """

    def hook(part: Any, given: Any, output: torch.Tensor) -> torch.Tensor:
        signs = torch.randint(0, 2, output.shape, generator=torch.Generator().manual_seed(0)) * 2 - 1
        factors = 1 + torch.finfo(output.dtype).eps * signs.double()
        return (output.cpu().double() * factors).to(output.dtype).to(output.device)

    handle = module.get_input_embeddings().register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _apart(one: torch.Tensor, other: torch.Tensor | None, rows: slice = slice(None)) -> float:
    """The largest difference of a token's vector by its length, of [token, dim]; NaN without tokens."""
    assert other is not None, "both runs give the same"
    one, other = one[rows].double(), other[rows].double()
    if not len(one):
        return float("nan")
    found: float = ((one - other).norm(dim=-1) / one.norm(dim=-1).clamp(min=1e-30)).max().item()
    return found


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
    """The largest differences of states and logits before the texts part and from there on, in numbers and by size."""

    def largest(first: torch.Tensor, second: torch.Tensor, rows: slice) -> float:
        apart = (first[rows].float() - second[rows].float()).abs()
        found: float = apart.max().item() if len(apart) else float("nan")
        return found

    found: dict[str, Any] = {}
    for when, rows in (("before", slice(0, split)), ("after", slice(split, stop))):
        measures: dict[str, Callable[[torch.Tensor, torch.Tensor, slice], float]] = {"": largest, "apart_": _apart}
        for how, measure in measures.items():
            of_states = [measure(*pair, rows) for pair in zip(one.hidden, two.hidden, strict=True)]
            found[f"states_{how}{when}"] = np.array(of_states)
            both = one.logits is not None and two.logits is not None
            found[f"logits_{how}{when}"] = measure(one.logits, two.logits, rows) if both else float("nan")  # type: ignore[arg-type]
    return found
