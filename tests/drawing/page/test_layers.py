"""Each layer goes into the page in the smaller form that is exact enough, and says truly how exact it is."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from heedmap.drawing.page.blocks import pack
from heedmap.drawing.page.layers import WORST_FROM_VECTORS, EncodedLayer, encode_layer
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from tests.drawing.page.decoding import weights_by
from tests.drawing.page.making import HEADS, call, random_mask, reading

CAUSAL = MaskRule(40, 40, ahead=0)
ROUNDING = 2e-5
"""Python's own weights are float32 work: a few roundings of scores around 30, others in every order of adding up."""


def part(encoded: EncodedLayer, name: str) -> np.ndarray:
    return next(one.numbers for one in encoded.parts if one.name == name).astype(np.float64)


def names(encoded: EncodedLayer) -> list[str]:
    return [one.name for one in encoded.parts]


def again(encoded: EncodedLayer) -> np.ndarray:
    """The weights that a page works out, [head, query, key]."""
    parts = {one.name: one.numbers.astype(np.float64) for one in encoded.parts}
    return weights_by(encoded.info, encoded.rule.allowed(), parts)


def true_weights(given: AttentionCall) -> np.ndarray:
    return np.asarray(given.weights(slice(None), slice(None))[0].double().numpy())


KINDS: dict[str, tuple[MaskRule, int, dict[str, Any]]] = {
    "causal, short": (CAUSAL, 32, {}),
    "causal, few dimensions": (CAUSAL, 2, {}),
    "window": (replace(CAUSAL, back=6), 2, {}),
    "padding": (replace(CAUSAL, present=torch.arange(40)[None] > 2), 2, {}),
    "softcap": (CAUSAL, 2, {"softcap": 2.0}),
    "sink": (CAUSAL, 2, {"sinks": torch.linspace(-3, 3, HEADS).reshape(1, HEADS, 1)}),
    "bias": (CAUSAL, 2, {"bias": torch.randn(1, HEADS, 40, 40, generator=torch.Generator().manual_seed(1))}),
    "a mask a head": (replace(CAUSAL, table=random_mask(40, HEADS)), 2, {}),
    "both ways": (MaskRule(40, 30), 2, {}),
}


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_page_works_out_is_the_models_own(kind: str, precision: str, steps: bool) -> None:
    rule, dim, more = KINDS[kind]
    given = call(rule, dim, seed=4, **more)
    encoded = encode_layer(3, given, precision=precision, steps=steps)
    off = np.abs(again(encoded) - true_weights(given)).max()
    assert off <= encoded.info["worst"] + ROUNDING
    exact = precision == "float32" or encoded.info["precision"] == "float32"
    assert off <= (ROUNDING if exact else 5e-4 if encoded.info["carries"] == "weights" else WORST_FROM_VECTORS)
    assert encoded.info["hasSteps"] == steps


def test_the_smaller_form_is_taken() -> None:
    assert encode_layer(0, call(CAUSAL, 32, seed=1)).info["carries"] == "weights"
    assert encode_layer(0, call(CAUSAL, 2, seed=1)).info["carries"] == "queries and keys"


def test_a_learned_sink_keeps_its_share() -> None:
    given = call(CAUSAL, 32, seed=2, sinks=torch.full((1, HEADS, 1), -15.0))
    share = given.sink_share(slice(None))
    assert share is not None
    assert share.max() > 0.5
    encoded = encode_layer(0, given)
    assert np.abs(part(encoded, "sinkShare") - share[0].numpy()).max() < 1e-6
    known = encode_layer(0, given, steps=True)
    assert np.abs(np.exp(part(known, "sinks") - part(known, "logsumexp")) - share[0].numpy()).max() < 1e-5


def test_queries_too_strong_for_float16_go_in_float32() -> None:
    """Scores in the hundreds: the rounding of float16 alone would move weights by more than the page may be off."""
    given = call(replace(CAUSAL, queries=120, keys=120), 2, seed=5, strength=40.0)
    encoded = encode_layer(0, given)
    assert encoded.info["precision"] == "float32" or encoded.info["carries"] == "weights"
    assert np.abs(again(encoded) - true_weights(given)).max() < min(encoded.info["worst"] + 10 * ROUNDING, 5e-3)


def test_numbers_too_large_for_float16_go_in_float32() -> None:
    given = call(replace(CAUSAL, queries=120, keys=120), 2, seed=5)
    given.query[0, 0, 5] *= 1e5
    given = replace(given, logsumexp=replace(given).compute(torch.zeros(1, 2, 120, 2))[1])
    assert encode_layer(0, given).info["precision"] == "float32"


def test_not_a_number_stays_so_and_spoils_nothing_else() -> None:
    given = reading().call(6)
    encoded = encode_layer(6, given)
    assert encoded.info["carries"] == "queries and keys"
    found, wanted = again(encoded), true_weights(given)
    assert np.isnan(wanted).sum() == 6  # one row of one head, which may look at six keys
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.isfinite(encoded.info["worst"])


def test_a_value_too_large_for_float16_goes_in_float32() -> None:
    given = call(replace(CAUSAL, queries=1500, keys=1500), 64, seed=6)
    assert given.value is not None
    given.value[0, 0, 0, 0] = 1e6
    encoded = encode_layer(0, given, steps=True)
    assert next(one for one in encoded.parts if one.name == "value").numbers.dtype == np.float32
    assert next(one for one in encoded.parts if one.name == "query").numbers.dtype == np.float16


def test_blocks_hold_their_parts_lowest_bytes_first() -> None:
    encoded = encode_layer(0, call(CAUSAL, 32, seed=1))
    raw = np.frombuffer(zlib.decompress(pack(encoded.parts)), np.uint8).reshape(2, -1)
    assert np.array_equal(np.ascontiguousarray(raw.T).view("<f2")[:, 0], part(encoded, "weights").astype("<f2"))
