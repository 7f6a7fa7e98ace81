"""Attention rollout: the maps of all layers multiplied into one, whole or one row of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.errors import ReadingError
from heedmap.reading.call import AttentionCall
from heedmap.reading.memory import bytes_text, require_memory
from heedmap.reading.progress import Progress
from heedmap.reading.rule import MaskRule
from heedmap.reading.word_row import Floats, WordRow, number_or_none, or_null

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/rollout/1"

_BLOCK_CELLS = 1 << 22
"""Weights that are computed at once, over all heads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RolloutRow(WordRow):
    """Where one word's place in the last layer comes from, by attention rollout; `allowed` is where a path leads.

    Attributes, beside those of `WordRow`:
        layers: how many layers were multiplied.
    """

    layers: int

    def to_json(self) -> dict[str, Any]:
        """The row as JSON: weights are null where no path leads."""
        return {
            "schema": SCHEMA,
            **self.asked_to_json(),
            "layers": self.layers,
            "weights": or_null(self.weights, self.allowed),
            "sum": number_or_none(self.sum),
        }

    def __str__(self) -> str:
        from heedmap.drawing.flows import rollout_text

        return rollout_text(self)


def rollout_row(reading: Reading, word: str, query_rule: str, progress: Progress | None) -> RolloutRow:
    """One row of the rollout, from the last layer to the first: one product of a vector and a map a layer."""
    found = reading.find(word)
    query = found.tokens if query_rule == "mean" else found.tokens[-1:]
    numbers = _all_layers(reading)
    share = torch.zeros(len(reading.tokens), dtype=torch.float64)
    share[list(query)] = 1.0 / len(query)
    reached = share > 0
    for done, number in enumerate(reversed(numbers)):
        if progress is not None:
            progress(done, len(numbers), "rollout")
        call = reading.call(number)
        share = 0.5 * share + 0.5 * _through(call, share)
        reached = reached | _reached(call.rule, reached)
    if progress is not None:
        progress(len(numbers), len(numbers), "rollout")
    return RolloutRow(
        tokens=reading.tokens,
        word=found.text,
        query=found.tokens,
        query_rule=query_rule if len(found.tokens) > 1 else "mean",
        layers=len(numbers),
        weights=share.numpy(),
        allowed=reached.numpy(),
        model=reading.model,
    )


def rollout_matrix(reading: Reading, progress: Progress | None) -> Floats:
    """The whole rollout, [query, key], from the first layer to the last: a product of two matrices a layer."""
    numbers = _all_layers(reading)
    length = len(reading.tokens)
    needed = 3.0 * 8 * length * length
    what = f"the rollout of {length:,} tokens"
    require_memory(needed, "cpu", what, 'ask for one row, which needs no more than the text: reading.rollout("word")')
    told = f"{what}: {2.0 * len(numbers) * length**3:.1g} operations, {bytes_text(needed)}"
    rolled = torch.eye(length, dtype=torch.float64)
    for done, number in enumerate(numbers):
        if progress is not None:
            progress(done, len(numbers), told)
        mixed = torch.empty_like(rolled)
        for rows, mean in _blocks(reading.call(number)):
            mixed[rows] = mean @ rolled
        rolled = mixed.add_(rolled).mul_(0.5)
    if progress is not None:
        progress(len(numbers), len(numbers), told)
    return np.asarray(rolled.numpy())


def _through(call: AttentionCall, share: torch.Tensor) -> torch.Tensor:
    """The shares of the queries handed on to the keys by the mean map of a layer: share @ map, [key]."""
    mixed = torch.zeros_like(share)
    for rows, mean in _blocks(call, share):
        mixed += share[rows] @ mean
    return mixed


def _reached(rule: MaskRule, queries: torch.Tensor) -> torch.Tensor:
    """The keys that at least one of some queries may look at, [key] bool, whatever their weights are."""
    rows = queries.nonzero().flatten()
    if rule.is_band:
        # Each query reaches one run of keys: mark where the runs start and end, and count how many are open.
        positions = rows + rule.query_offset - rule.key_offset
        first = torch.zeros_like(rows) if rule.back is None else (positions - rule.back).clamp(0, rule.keys)
        stop = (
            torch.full_like(rows, rule.keys) if rule.ahead is None else (positions + rule.ahead + 1).clamp(0, rule.keys)
        )
        edges = torch.bincount(first, minlength=rule.keys + 1) - torch.bincount(stop, minlength=rule.keys + 1)
        return edges.cumsum(0)[: rule.keys] > 0
    device = next((part.device for part in (rule.present, rule.table) if part is not None), rows.device)
    columns = torch.arange(rule.keys, device=device)
    found = torch.zeros(rule.keys, dtype=torch.bool)
    for block in rows.to(device).split(max(_BLOCK_CELLS // rule.keys, 1)):
        found |= rule.allowed(block, columns)[0].flatten(0, 1).any(0).cpu()
    return found


def _blocks(call: AttentionCall, share: torch.Tensor | None = None) -> Iterator[tuple[slice, torch.Tensor]]:
    """The mean map over heads by blocks of rows, as (rows, [query, key] in float64); rows without a share left out."""
    step = max(_BLOCK_CELLS // max(call.heads * call.rule.keys, 1), 1)
    for start in range(0, call.rule.queries, step):
        rows = slice(start, min(start + step, call.rule.queries))
        if share is None or bool((share[rows] != 0).any()):
            yield rows, call.weights(rows, slice(None))[0].mean(0).double().cpu()


def _all_layers(reading: Reading) -> list[int]:
    """The numbers of all layers of the model, all of which must have been kept."""
    numbers = [layer.number for layer in reading.layers]
    missing = [number for number in numbers if number not in reading.calls]
    if missing:
        raise ReadingError(
            f"rollout multiplies all {len(numbers)} layers, and {len(missing)} were not kept "
            f"(layer {missing[0]}{' ...' if len(missing) > 1 else ''}): read the text again without layers="
        )
    return numbers
