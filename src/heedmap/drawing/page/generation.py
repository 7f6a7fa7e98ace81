"""A text that a model went on with, as the page shows it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.generation import Generation, LayerRows
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule


def generation_json(generation: Generation, note: str) -> dict[str, Any]:
    """What the page says of a generation: row i is that which chose token i + 1."""
    chosen = range(generation.prompt - 1, len(generation.tokens) - 1)
    return {"generation": {"prompt": generation.prompt, "chosenBy": list(chosen), "note": note}}


def reading_of(generation: Generation) -> Reading:
    """The rows of a generation as a reading; the rows of the prompt, which chose nothing, are not allowed to look."""
    keys = None if generation.source is None else generation.source
    return Reading(
        tokens=generation.tokens,
        layers=generation.layers,
        calls=OrderedDict((number, _call(generation, rows)) for number, rows in generation.rows_of.items()),
        model=generation.model | {"weights_from": "the steps of the generation"},
        keys=keys,
    )


def _call(generation: Generation, rows: LayerRows) -> AttentionCall:
    """Rows of weights as an attention call, whose scores are the weights' logarithms."""
    steps, heads, keys = rows.weights.shape
    queries = len(generation.tokens)
    weights = np.zeros((heads, queries, keys))
    allowed = np.zeros((queries, keys), dtype=np.bool_)
    sinks = np.zeros((heads, queries))
    chosen = slice(generation.prompt - 1, generation.prompt - 1 + steps)
    weights[:, chosen] = rows.weights.transpose(1, 0, 2)
    allowed[chosen] = rows.allowed
    sinks[:, chosen] = rows.sinks.T
    nothing = torch.zeros(())
    tiny = float(np.finfo(np.float64).tiny)
    return AttentionCall(
        query=nothing.expand(1, heads, queries, 1).double(),
        key=nothing.expand(1, heads, keys, 1).double(),
        rule=MaskRule(queries, keys, table=torch.from_numpy(allowed)[None, None]),
        scale=1.0,
        bias=torch.from_numpy(np.log(np.maximum(weights, tiny)))[None],
        sinks=torch.from_numpy(np.log(np.maximum(sinks, tiny)))[None] if sinks.any() else None,
        logsumexp=nothing.expand(1, heads, queries).double(),
    )
