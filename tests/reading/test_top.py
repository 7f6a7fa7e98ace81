"""The largest weights of a word's rows against whole rows sorted by NumPy."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from heedmap.errors import AmbiguousWord, OutOfRange, ReadingError, WordNotFound
from heedmap.reading import top as top_module
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING, TROPHY
from tests.reading.test_call import calls, oracle, rounding


def reading_of(call: AttentionCall) -> Reading:
    """A reading of one layer, of as many tokens as the call has keys."""
    known = replace(call, logsumexp=call.compute(call.key)[1])
    tokens = Tokens("", tuple(Token(place, place, "x", None, None) for place in range(call.rule.keys)))
    layers = (AttentionLayer(0, "0", call.heads, call.key_value_heads),)
    return Reading(tokens, layers, OrderedDict({0: known}), {"name": "random"})


@given(calls(), st.integers(1, 12), st.sampled_from([1 << 20, 30]), st.data())
def test_random_calls(drawn: tuple[AttentionCall, torch.Tensor], k: int, cells: int, data: st.DataObject) -> None:
    call, value = drawn
    assume(call.rule.query_offset == 0 and call.rule.batch == 1)
    query = data.draw(st.integers(0, call.rule.queries - 1))
    weights = oracle(call, value)[0][0][:, query]
    allowed = call.rule.allowed(torch.tensor([query]), torch.arange(call.rule.keys))[0, 0, 0].numpy()
    before = top_module._TILE_CELLS
    top_module._TILE_CELLS = cells
    try:
        top = reading_of(call).top(f"@{query}", k)
    finally:
        top_module._TILE_CELLS = before
    close = rounding(call) + 1e-7
    for one in top.heads:
        assert len(one.tokens) == len(one.weights) == min(k, allowed.sum())
        assert allowed[one.tokens].all()
        assert len(set(one.tokens.tolist())) == len(one.tokens)
        np.testing.assert_allclose(one.weights, weights[one.head][one.tokens], atol=close)
        # The tokens may differ where weights do by less than rounding; the weights may not.
        largest = np.sort(weights[one.head][allowed])[::-1][:k]
        np.testing.assert_allclose(one.weights, largest, atol=close)


@pytest.mark.parametrize(("word", "rule"), [("it", "mean"), ("suitcase", "mean"), ("suitcase", "last")])
def test_real_heads(word: str, rule: str, smollm2: Model) -> None:
    reading = smollm2.read(TROPHY)
    top = reading.top(word, 4, query_rule=rule)
    assert [(one.layer, one.head) for one in top.heads] == [(layer, head) for layer in range(30) for head in range(9)]
    for one in (top.heads[0], top.heads[16 * 9 + 3], top.heads[-1]):
        row = reading.row(word, one.layer, one.head, query_rule=rule)
        assert one.tokens.tolist() == row.largest(4)
        np.testing.assert_allclose(one.weights, row.weights[one.tokens], atol=ROUNDING)


def test_an_encoder_and_chosen_layers(minilm: Model) -> None:
    reading = minilm.read(TROPHY)
    top = reading.top("trophy", 3, layers=[1, 4])
    assert [one.layer for one in top.heads] == [1] * 12 + [4] * 12
    row = reading.row("trophy", 4, 11)
    assert top.heads[-1].tokens.tolist() == row.largest(3)


def test_fewer_where_the_word_may_look_at_fewer(smollm2: Model) -> None:
    top = smollm2.read("The cat sat.", layers=3).top("cat", 5)
    assert {len(one.tokens) for one in top.heads} == {2}


def test_of_equal_weights_the_earlier_comes_first() -> None:
    alike = AttentionCall(torch.ones(1, 2, 9, 4), torch.ones(1, 1, 9, 4), MaskRule(9, 9, ahead=0), 0.5)
    before = top_module._TILE_CELLS
    for cells in (1 << 20, 6):
        top_module._TILE_CELLS = cells
        top = reading_of(alike).top("@6", 4)
        top_module._TILE_CELLS = before
        assert [one.tokens.tolist() for one in top.heads] == [[0, 1, 2, 3]] * 2


def test_what_is_not_a_number_comes_first_and_is_null(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, layers=3)
    call = reading.call(3)
    query = call.query.clone()
    query[:, 2, 10] = torch.nan
    reading.calls[3] = replace(call, query=query)
    top = reading.top("it", 2)
    assert np.isnan(top.heads[2].weights).all()
    assert top.to_json()["heads"][2]["weights"] == [None, None]
    assert not np.isnan(top.heads[3].weights).any()


def test_the_json(smollm2: Model) -> None:
    top = smollm2.read(TROPHY, layers=16).top("suitcase", 2, query_rule="last")
    found = json.loads(json.dumps(top.to_json(), allow_nan=False))
    assert (found["schema"], found["word"], found["query"]) == ("heedmap/top/1", "suitcase", [7, 8])
    assert found["query_rule"] == "last"
    assert found["heads"][3] == {
        "layer": 16, "head": 3, "tokens": top.heads[3].tokens.tolist(), "weights": top.heads[3].weights.tolist(),
    }  # fmt: skip


def test_what_is_not_there(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, layers=16)
    with pytest.raises(WordNotFound, match="dog"):
        reading.top("dog")
    with pytest.raises(AmbiguousWord, match="stands 2 times"):
        smollm2.read("a b a", layers=16).top("a")
    with pytest.raises(OutOfRange, match="the 0 largest weights were asked for: take 1 or more"):
        reading.top("it", 0)
    with pytest.raises(ReadingError, match="layer 3 was not kept"):
        reading.top("it", layers=3)
    with pytest.raises(ReadingError, match="query_rule 'first' is not known: take 'mean' or 'last'"):
        reading.top("it", query_rule="first")
