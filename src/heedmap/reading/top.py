"""The largest weights of a word's rows in every head, found by tiles of keys, each forgotten after it was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.call import AttentionCall
from heedmap.reading.word_row import Floats, number_or_none
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/top/1"

_TILE_CELLS = 1 << 20
"""Weights of all heads that are computed at once."""

Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class HeadTop:
    """The largest weights of one head.

    Attributes:
        layer: the layer, from 0.
        head: the head, from 0.
        tokens: [rank] positions of the tokens looked at, largest weight first; fewer than asked for where the word may
            look at fewer. Of equal weights the earlier token comes first.
        weights: [rank] their weights.
    """

    layer: int
    head: int
    tokens: Integers
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """The largest weights of a word's rows, head by head.

    Attributes:
        tokens: the tokens that ran.
        word: the word as it stands in the text.
        query: positions of its tokens.
        query_rule: how the rows of several tokens became one: "mean" or "last".
        heads: one entry a head, layer by layer.
        model: what the numbers were measured on.
    """

    tokens: Tokens
    word: str
    query: tuple[int, ...]
    query_rule: str
    heads: tuple[HeadTop, ...]
    model: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The tokens and weights as JSON."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "word": self.word,
            "query": list(self.query),
            "query_rule": self.query_rule,
            "heads": [
                {
                    "layer": one.layer,
                    "head": one.head,
                    "tokens": one.tokens.tolist(),
                    "weights": [number_or_none(weight) for weight in one.weights],
                }
                for one in self.heads
            ],
        }


def top_of_reading(reading: Reading, word: str, k: int, *, layers: int | Iterable[int] | None, query_rule: str) -> Top:
    """The body of `Reading.top`."""
    if k < 1:
        raise OutOfRange(f"the {k} largest weights were asked for: take 1 or more")
    if query_rule not in ("mean", "last"):
        raise ReadingError(f"query_rule {query_rule!r} is not known: take 'mean' or 'last'")
    found = reading.find(word)
    query = found.tokens if query_rule == "mean" else found.tokens[-1:]
    numbers = reading.kept_numbers(layers)
    heads = [one for number in numbers for one in _top_of_call(number, reading.call(number), query, k)]
    rule = query_rule if len(found.tokens) > 1 else "mean"
    return Top(reading.tokens, found.text, found.tokens, rule, tuple(heads), reading.model)


def _top_of_call(layer: int, call: AttentionCall, query: tuple[int, ...], k: int) -> list[HeadTop]:
    """The largest weights of every head of one layer, in the mean of some queries' rows."""
    device = call.query.device
    rows = torch.tensor(query, device=device)
    step = max(_TILE_CELLS // (call.heads * len(query)), 1)
    best = torch.empty((call.heads, 0), dtype=call.exact_dtype, device=device)
    places = torch.empty((call.heads, 0), dtype=torch.long, device=device)
    live = _may_look(call, rows, step)
    for start in range(0, call.rule.keys, step):
        columns = torch.arange(start, min(start + step, call.rule.keys), device=device)
        tile = slice(start, start + len(columns))
        weights = torch.stack([call.weights(slice(row, row + 1), tile)[0, :, 0] for row in query])
        mean = weights.sum(0) / live
        # Forbidden keys rank below every weight, and are dropped at the end.
        mean = mean.masked_fill(~call.rule.allowed(rows, columns)[0].any(-2), -torch.inf)
        best, order = torch.sort(torch.cat([best, mean], -1), descending=True, stable=True)
        places = torch.cat([places, columns.expand(call.heads, -1)], -1).gather(-1, order)[:, :k]
        best = best[:, :k]
    counts = (best != -torch.inf).sum(-1).tolist()
    tokens, shares = places.cpu().numpy(), best.double().cpu().numpy()
    return [HeadTop(layer, head, tokens[head, :count], shares[head, :count]) for head, count in enumerate(counts)]


def _may_look(call: AttentionCall, rows: torch.Tensor, step: int) -> torch.Tensor:
    """How many of these queries may look at anything, [head|1, 1]; 1 where none may: nothing is divided by 0."""
    columns = torch.split(torch.arange(call.rule.keys, device=rows.device), step)
    live = torch.stack([call.rule.allowed(rows, some)[0].any(-1) for some in columns]).any(0)
    return live.sum(-1, keepdim=True).clamp(min=1)
