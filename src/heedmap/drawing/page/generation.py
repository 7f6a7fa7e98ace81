"""A text that a model went on with, as the page shows it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import torch

from heedmap.drawing.page.notes import at_most
from heedmap.reading.call import AttentionCall
from heedmap.reading.generation import Generation, LayerRows
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.reading.two_stacks import EncoderDecoderReading


def generation_json(generation: Generation, note: str) -> dict[str, Any]:
    """What the page says of a generation: row i is that which chose token i + 1."""
    chosen = range(generation.prompt - 1, len(generation.tokens) - 1)
    return {"generation": {"prompt": generation.prompt, "chosenBy": list(chosen), "note": note}}


def read_again_note(subject: OnAPage, generation: Generation) -> str:
    """That the rows are those of one pass over the whole text, and how far they lie from those of the steps."""
    pairs: list[tuple[OnAPage, Generation]] = [(subject, generation)]
    if isinstance(subject, EncoderDecoderReading):
        pairs = [(subject.decoder, generation), (subject.cross, generation.cross or generation)]
    worst = max(_difference(reading, part) for reading, part in pairs if isinstance(reading, Reading))
    return (
        "The text was read once more as a whole. No row sees what stands behind it, so these are the rows of the "
        f"steps at which the tokens were written, to {at_most(worst)}."
    )


def _difference(reading: Reading, generation: Generation) -> float:
    """The largest difference between the rows of a reading and those of the steps, in the layers that both kept."""
    first = generation.prompt - 1
    differences = [0.0]
    for layer in set(generation.rows_of) & set(reading.calls):
        steps = generation.rows_of[layer].weights
        rows = slice(first, first + len(steps))
        whole = reading.call(layer).weights(rows, slice(0, steps.shape[2]))[0].transpose(0, 1).double().cpu().numpy()
        differences.append(float(np.nan_to_num(np.abs(whole - steps)).max()))
    return max(differences)


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
