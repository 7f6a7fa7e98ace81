"""Scores before softmax: softmax over them gives the weights, and what is forbidden is absent."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.call import AttentionCall
from heedmap.reading.map import Map
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.scores import ScoreMap
from heedmap.text.tokens import Tokens
from tests.conftest import ROUNDING, TROPHY
from tests.reading.test_call import calls, rounding


@pytest.fixture(scope="module")
def trophy(smollm2: Model) -> Reading:
    return smollm2.read(TROPHY, layers=[5, 16])


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


@given(calls())
def test_softmax_of_the_scores_gives_the_weights(made: tuple[AttentionCall, torch.Tensor]) -> None:
    call, value = made
    call = replace(call, sinks=None)
    weights = Map(Tokens("", ()), 0, call.heads - 1, replace(call, logsumexp=call.compute(value)[1]), {})
    scores = np.asarray(ScoreMap(weights))
    allowed = weights.allowed()
    assert ((scores == -np.inf) == ~allowed).all()
    live = allowed.any(1)
    np.testing.assert_allclose(softmax(scores[live]), np.asarray(weights)[live], rtol=0, atol=rounding(call))


def test_on_a_real_head_it_is_query_times_key_by_the_scale(trophy: Reading) -> None:
    scores = trophy.map(16, 3, scores=True)
    call = trophy.call(16)
    products = call.query[0, 3].double().numpy() @ call.key[0, 1].double().numpy().T / 8
    whole = np.asarray(scores)
    lower = np.tril_indices(15)
    np.testing.assert_allclose(whole[lower], products[lower], rtol=1e-5, atol=1e-5)
    assert (whole[np.triu_indices(15, 1)] == -np.inf).all()
    assert scores[10, 4] == pytest.approx(products[10, 4], rel=1e-5)
    assert scores[10, :5].shape == (5,)
    assert scores.shape == (15, 15)
    assert len(scores) == 15
    assert scores.allowed(slice(0, 1)).tolist() == [[True] + [False] * 14]
    assert repr(scores) == "ScoreMap(layer 16, head 3, 15 x 15)"
    with pytest.raises(ValueError, match="always a copy"):
        np.array(scores, copy=False)


def test_a_row_carries_its_scores_when_asked(trophy: Reading) -> None:
    row = trophy.row("it", 16, 3, scores=True)
    assert row.scores is not None
    np.testing.assert_allclose(softmax(row.scores), row.weights, rtol=0, atol=ROUNDING)
    text = json.dumps(row.to_json(), allow_nan=False)
    data = json.loads(text)
    assert data["scores"][:11] == pytest.approx(row.scores[:11].tolist())
    assert data["scores"][11:] == [None] * 4
    assert "scores" not in trophy.row("it", 16, 3).to_json()


def test_a_word_of_several_tokens_has_scores_of_its_last(trophy: Reading) -> None:
    row = trophy.row("suitcase", 16, 3, query_rule="last", scores=True)
    assert row.scores is not None
    assert row.scores.tolist() == trophy.map(16, 3, scores=True)[8].tolist()


def test_means_of_scores_are_refused(trophy: Reading) -> None:
    with pytest.raises(ReadingError, match="no common zero, so their mean says nothing: give head="):
        trophy.map(16, scores=True)
    with pytest.raises(ReadingError, match="give head="):
        trophy.row("it", 16, scores=True)
    with pytest.raises(ReadingError, match='the word has 2 tokens: give query_rule="last"'):
        trophy.row("suitcase", 16, 3, scores=True)
    with pytest.raises(OutOfRange, match="head 9 is out of range"):
        trophy.map(16, 9, scores=True)
