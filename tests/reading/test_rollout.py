"""Attention rollout against a plain NumPy product of whole maps, in rows and as a matrix, under every kind of mask."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import heedmap
from heedmap.errors import ReadingError, TooLarge
from heedmap.reading import memory, rollout
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING, TROPHY
from tests.tiny import tiny_model


def oracle(reading: Reading) -> Any:
    """The rollout from whole maps in float64."""
    rolled = np.eye(len(reading.tokens))
    for layer in reading.layers:
        whole = np.asarray(reading.map(layer.number))
        rolled = (0.5 * whole + 0.5 * np.eye(len(whole))) @ rolled
    return rolled


def made_reading(rules: list[MaskRule], *, sinks: bool = False, seed: int = 0) -> Reading:
    """A reading of random calls with given masks."""
    random = torch.Generator().manual_seed(seed)
    length = rules[0].queries
    calls: OrderedDict[int, AttentionCall] = OrderedDict()
    for number, rule in enumerate(rules):
        query, key = torch.randn(2, 1, 2, length, 8, generator=random) * 2
        sink = torch.randn(1, 2, 1, generator=random) if sinks else None
        call = AttentionCall(query, key, rule, 0.35, sinks=sink)
        calls[number] = replace(call, logsumexp=call.compute(key)[1])
    letters = "abcdefghijklmnopqrstuvwxyz"[:length]
    tokens = Tokens(" ".join(letters), tuple(Token(i, i, one, 2 * i, 2 * i + 1) for i, one in enumerate(letters)))
    layers = tuple(AttentionLayer(number, f"layers.{number}", 2, 2) for number in calls)
    return Reading(tokens, layers, calls, {"name": "random"})


@st.composite
def rules(draw: st.DrawFn) -> list[MaskRule]:
    """Masks of one to four layers over a text of up to 20 tokens."""
    length = draw(st.integers(1, 20))
    ahead = draw(st.sampled_from([0, 0, None, 2]))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        back = draw(st.none() | st.integers(0, 6))
        pattern = (lambda b, h, q, k: (q + k) % 3 != 0) if draw(st.booleans()) else None
        made.append(MaskRule(length, length, back=back, ahead=ahead, pattern=pattern))
    return made


@given(rules(), st.booleans(), st.sampled_from([1, 30, 1 << 22]), st.data())
def test_rows_and_matrix_are_the_product_of_the_whole_maps(
    made: list[MaskRule], sinks: bool, cells: int, data: st.DataObject
) -> None:
    token = data.draw(st.integers(0, made[0].queries - 1))
    reading = made_reading(made, sinks=sinks)
    before = rollout._BLOCK_CELLS
    rollout._BLOCK_CELLS = cells
    try:
        matrix = reading.rollout()
        row = reading.rollout(f"@{token}")
    finally:
        rollout._BLOCK_CELLS = before
    expected = oracle(reading)
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(row.weights, expected[token], rtol=0, atol=ROUNDING)
    paths = np.eye(len(matrix), dtype=bool)
    for layer in reading.layers:
        paths = (np.eye(len(matrix)) + reading.map(layer.number, 0).allowed()) @ paths > 0
    assert row.allowed.tolist() == paths[token].tolist()
    if sinks:
        assert row.sum < 1


def test_one_layer_gives_half_the_map_and_half_the_identity() -> None:
    reading = made_reading([MaskRule(6, 6, ahead=0)])
    np.testing.assert_allclose(reading.rollout(), (np.asarray(reading.map(0)) + np.eye(6)) / 2, atol=ROUNDING)


def test_a_weight_too_small_for_a_number_is_not_absent() -> None:
    query = torch.zeros(1, 1, 3, 1)
    query[..., 0] = 1.0
    key = torch.tensor([0.0, 300.0, 0.0]).view(1, 1, 3, 1)
    call = AttentionCall(query, key, MaskRule(3, 3, ahead=0), 1.0)
    reading = replace(
        made_reading([MaskRule(3, 3, ahead=0)]),
        calls=OrderedDict({0: replace(call, logsumexp=call.compute(key)[1])}),
    )
    row = reading.rollout("@2")
    assert row.weights.tolist() == [0.0, 0.5, 0.5]
    assert row.allowed.tolist() == [True, True, True]
    assert reading.rollout("@1").to_json()["weights"] == [0.0, 1.0, None]


def test_on_a_real_model(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY)
    expected = oracle(reading)
    matrix = reading.rollout()
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-5)
    assert (matrix[np.triu_indices(15, 1)] == 0).all()
    row = reading.rollout("it")
    np.testing.assert_allclose(row.weights, matrix[10], rtol=0, atol=ROUNDING)
    assert row.allowed.tolist() == [True] * 11 + [False] * 4
    mean = reading.rollout("suitcase")
    np.testing.assert_allclose(mean.weights, matrix[7:9].mean(0), rtol=0, atol=ROUNDING)
    assert (mean.query, mean.query_rule) == ((7, 8), "mean")
    last = reading.rollout("suitcase", query_rule="last")
    np.testing.assert_allclose(last.weights, matrix[8], rtol=0, atol=ROUNDING)


def test_in_a_causal_model_nearly_everything_ends_on_the_first_token(smollm2: Model) -> None:
    assert smollm2.read(TROPHY).rollout()[:, 0].min() > 0.999


def test_it_prints_and_goes_to_strict_json(smollm2: Model) -> None:
    row = smollm2.read(TROPHY).rollout("it")
    assert str(row).startswith("rollout of “it” over 30 layers: weights multiplied, half of each kept in place")
    assert "adds up to 1.000" in str(row)
    data = json.loads(json.dumps(row.to_json(), allow_nan=False))
    assert data["schema"] == "heedmap/rollout/1"
    assert data["weights"][11:] == [None] * 4
    assert row.largest(1) == [int(np.argmax(row.weights))]


def test_progress_is_told_and_the_matrix_tells_its_cost_first() -> None:
    reading = made_reading([MaskRule(5, 5, ahead=0)] * 2)
    told: list[tuple[int, int, str]] = []
    reading.rollout("a", progress=lambda *state: told.append(state))
    assert told == [(done, 2, "rollout") for done in (0, 1, 2)]
    told.clear()
    reading.rollout(progress=lambda *state: told.append(state))
    assert told[0] == (0, 2, "the rollout of 5 tokens: 5e+02 operations, 600 bytes")


def test_what_cannot_be_rolled_out_is_refused(smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = heedmap.wrap(tiny_model("llama"), smollm2_tokenizer)
    reading = model.read_tokens(made_reading([MaskRule(5, 5)]).tokens, layers=[0, 2])
    with pytest.raises(ReadingError, match=r"multiplies all 3 layers, and 1 were not kept \(layer 1\): read the text"):
        reading.rollout("a")
    with pytest.raises(ReadingError, match="query_rule 'first' is not known"):
        reading.rollout("a", query_rule="first")
    monkeypatch.setattr(memory, "free_memory", lambda _: 100)
    whole = made_reading([MaskRule(5, 5)])
    with pytest.raises(
        TooLarge, match=r'the rollout of 5 tokens needs about 600 bytes.*: ask for one row.*rollout\("word"\)'
    ):
        whole.rollout()
    assert whole.rollout("a").sum == pytest.approx(1, abs=ROUNDING)
