"""How far the weights that are read lie from those that eager attention reports, for one family of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch

import heedmap
from heedmap.reading.layers import attention_layers
from heedmap.reading.listening import AttentionLayer, LayerListener
from heedmap.reading.own_code import run_own_code
from heedmap.reading.tap import Heard, tap
from tests.families import FAMILIES, family_inputs, tiny_family
from tests.watched_families import WATCHED, tiny_watched, watched_inputs

SIDES = ("none", "left", "right")
"""Where the padding is."""

TOLERANCE = 1e-5
"""Float32 keeps 24 bits, so that scores up to 80 leave about 1e-5 on a weight; eager itself is no better."""

_ATTENTIONS = {
    "": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was measured of one family.

    Attributes:
        layers: how many layers were compared.
        weights: the largest difference of a weight of a real token.
        output: the largest difference of the model's answer with and without the tap, relative to its largest number.
        score: the largest score.
        sinks: the largest share of a learned sink.
        sums_with_sinks: the row whose weights and sink's share add up to the furthest from 1.
        most_keys: the largest number of keys that one row has weights on.
    """

    layers: int
    weights: float
    output: float
    score: float
    sinks: float
    sums_with_sinks: float
    most_keys: int

    @property
    def bound(self) -> float:
        """What the difference of weights may be: rounding grows with the scores."""
        return TOLERANCE * max(1.0, self.score / 80)


def agreement(
    name: str, side: str, implementation: str | None = None, *, make: Callable[..., Any] = tiny_family
) -> Agreement:
    """Read a tiny model of a family, and compare with eager attention in another one with the same numbers."""
    model, reference = make(name, implementation=implementation), make(name, implementation="eager")
    inputs = family_inputs(name, side)
    options = {} if FAMILIES[name].auto == "encoder" else {"use_cache": False}
    heard: list[tuple[AttentionLayer, Heard]] = []
    layers = attention_layers(model)
    with torch.no_grad():
        plain = answer(model(**inputs, **options))
        with tap(model, LayerListener(layers, lambda layer, one: heard.append((layer, one)))):
            tapped = answer(model(**inputs, **options))
        official = reference(**inputs, **options, output_attentions=True)
    real = inputs["attention_mask"].bool()
    weights, score, sinks, odd_sum, most_keys = 0.0, 0.0, 0.0, 1.0, 0
    expected = {stack: _maps(official, stack) for stack in dict.fromkeys(layer.stack for layer in layers)}
    for layer, one in heard:
        call = one.call
        found = call.weights(slice(None), slice(None))
        place = [other.number for other in layers if other.stack == layer.stack].index(layer.number)
        share = call.sink_share(slice(None))
        sums = found.sum(-1) if share is None else found.sum(-1) + share
        theirs = expected[layer.stack][place]
        if share is not None:
            sinks = max(sinks, float(share.max()))
            # Granite's eager function divides the sink's share out of the weights, and takes it off the output.
            theirs = theirs * found.sum(-1, keepdim=True) / theirs.sum(-1, keepdim=True)
        live = real if layer.stack in ("", "encoder") else torch.ones(found.shape[0], found.shape[2], dtype=torch.bool)
        rows = live[:, None, :].expand(found.shape[:3])
        odd_sum = max((odd_sum, *sums[rows].tolist()), key=lambda one: abs(one - 1))
        most_keys = max(most_keys, int((found[rows] > 0).sum(-1).max()))
        weights = max(weights, float((found - theirs)[rows].abs().max()))
        scores = call.scores(slice(None), slice(None))[rows]
        score = max(score, float(scores[scores.isfinite()].abs().max()))
    live = real if tapped.shape[:2] == real.shape else torch.ones(tapped.shape[:2], dtype=torch.bool)
    output = float((tapped - plain)[live].abs().max() / plain[live].abs().max())
    counts = {stack: len(maps) for stack, maps in expected.items()}
    assert counts == {stack: sum(layer.stack == stack for layer in layers) for stack in counts}
    return Agreement(len(heard), weights, output, score, sinks, odd_sum, most_keys)


def own_code_agreement(name: str, *, make: Callable[..., Any] = tiny_family) -> float:
    """The largest difference of a weight of a family with attention code of its own from what it reports itself."""
    model, reference = make(name, implementation=None), make(name, implementation="eager")
    inputs = {part: tensor[:1] for part, tensor in family_inputs(name, "none").items()}
    heard: list[Heard] = []
    run_own_code(model, inputs["input_ids"], heard.append)
    with torch.no_grad():
        official = reference(**inputs, output_attentions=True).attentions
    found = [one.call.weights(slice(None), slice(None)) for one in heard]
    return _largest(found, official)


def watched_agreement(name: str, *, make: Callable[..., Any] = tiny_watched) -> float:
    """The largest difference of a weight, over all stacks, of a family that is watched."""
    model, reference = make(name, implementation=None), make(name, implementation="eager")
    with heedmap.watch(model) as watched, torch.no_grad():
        model(**watched_inputs(name))
    (forward,) = watched.forwards
    with torch.no_grad():
        official = reference(**watched_inputs(name), output_attentions=True)
    return max(
        _largest(forward.attentions(stack=stack or None), reduce(getattr, path, official))
        for stack, path in WATCHED[name].stacks.items()
    )


def _largest(found: Sequence[torch.Tensor], official: Sequence[torch.Tensor]) -> float:
    """The largest difference of two lists of maps."""
    return max(float((one - other).abs().max()) for one, other in zip(found, official, strict=True))


def _maps(official: Any, stack: str) -> list[torch.Tensor]:
    """The maps that transformers reports for a stack."""
    return [weights for weights in getattr(official, _ATTENTIONS[stack]) if weights is not None]


def answer(output: Any) -> torch.Tensor:
    """A model's logits, or its last states."""
    found = output.logits if "logits" in output else output.last_hidden_state
    assert isinstance(found, torch.Tensor)
    return found
