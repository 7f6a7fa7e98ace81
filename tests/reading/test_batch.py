"""One text cut out of a batch: the same cells as in the batch, under every kind of mask."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from heedmap.reading.batch import text_call
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from tests.reading.test_call import calls, rounding


@given(calls(), st.data())
def test_the_cells_of_one_text_are_those_of_the_batch(
    made: tuple[AttentionCall, torch.Tensor], data: st.DataObject
) -> None:
    call, value = made
    assume(call.rule.queries == call.rule.keys)
    text = data.draw(st.integers(0, call.query.shape[0] - 1))
    start = data.draw(st.integers(0, call.rule.queries - 1))
    stop = data.draw(st.integers(start + 1, call.rule.queries))
    call = replace(call, logsumexp=call.compute(value)[1], value=value, output=value)

    cut = text_call(call, text, start, stop)

    inside = slice(start, stop)
    whole = call.weights(inside, inside)[text]
    torch.testing.assert_close(cut.weights(slice(None), slice(None))[0], whole, atol=1e-6, rtol=rounding(call))
    assert cut.rule.queries == cut.rule.keys == stop - start
    for kept in (cut.value, cut.output):
        assert kept is not None
        assert torch.equal(kept[0], value[text, :, inside])
    rows, columns = torch.arange(stop - start), torch.arange(stop - start)
    expected = call.rule.allowed(rows + start, columns + start)
    found = cut.rule.allowed(rows, columns)
    assert torch.equal(found.expand(1, *expected.shape[1:])[0], expected[text if len(expected) > 1 else 0])


@given(st.integers(0, 5), st.integers(1, 9))
def test_a_text_without_the_padding_around_it_is_a_plain_triangle_again(padding: int, length: int) -> None:
    keys = padding + length
    present = torch.ones(2, keys, dtype=torch.bool)
    present[1, :padding] = False
    vectors = torch.zeros(2, 1, keys, 4)
    rule = MaskRule(keys, keys, 2, ahead=0, present=present)
    cut = text_call(AttentionCall(vectors, vectors, rule, 1.0), 1, padding, keys)
    assert cut.rule.is_full_causal
    assert cut.query.shape == (1, 1, length, 4)
