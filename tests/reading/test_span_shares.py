"""Shares of parts against the whole map in NumPy float64, on random calls of every kind and on real heads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from heedmap.reading import span_shares
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.span_shares import LayerShares, SpanMeter, parts_allowed
from heedmap.text.ranges import NamedSpan
from heedmap.text.spans import Part, Parts, partition
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING
from tests.reading.span_oracle import Expected, expected_shares
from tests.reading.test_call import calls, oracle, rounding


def some_tokens(count: int, special: int | None = None) -> Tokens:
    made = (Token(place, place, "x", 2 * place, 2 * place + 1, special=place == special) for place in range(count))
    return Tokens("x " * count, tuple(made))


def parts_of(drawn: st.DataObject, count: int, first: int) -> Parts:
    """A few neighbouring spans of tokens, with or without a special token and a rest."""
    special = drawn.draw(st.none() | st.integers(0, count - 1))
    edges = sorted(drawn.draw(st.sets(st.integers(0, count), min_size=2, max_size=5)))
    apart = {first, special}
    spans = [
        NamedSpan(str(start), ((start, end),), "tokens")
        for start, end in pairwise(edges)
        if not apart.issuperset(range(start, end))
    ]
    assume(spans)
    return partition(some_tokens(count, special), spans, first=first)


def check(found: LayerShares, expected: Expected, tolerance: float) -> None:
    for name in Expected._fields:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=tolerance, err_msg=name)


@given(calls(), st.data())
def test_random_calls_equal_the_whole_map(drawn: tuple[AttentionCall, torch.Tensor], data: st.DataObject) -> None:
    call, value = drawn
    rule = call.rule.for_text(0)
    present = np.ones(rule.keys, dtype=bool) if rule.present is None else rule.present[0].numpy()
    assume(present.any() and rule.keys > 1)
    first = int(np.flatnonzero(present)[0])
    parts = parts_of(data, rule.keys, first)
    real = [place for place in range(rule.query_offset, rule.keys) if present[place]]
    assume(real)
    asked = sorted({real[place % len(real)] for place in data.draw(st.sets(st.integers(0, 44), min_size=1))})
    weights, _, sink = (one[0] for one in oracle(call, value))
    allowed = rule.allowed(torch.arange(rule.queries), torch.arange(rule.keys))[0].expand(weights.shape).numpy()
    rows = [place - rule.query_offset for place in asked]
    found = SpanMeter(parts, asked).measure(3, call)
    # A share is a sum of weights, each off by no more than `rounding` of itself; float32 sums add a few eps of 1.
    check(found, expected_shares(weights, allowed, sink, parts.parts, rows), rounding(call) + 2e-6)
    assert found.layer == 3
    live = ~np.isnan(found.sink)
    np.testing.assert_allclose(found.shares.sum(1)[live] + found.sink[live], 1.0, atol=rounding(call) + 2e-6)


@given(calls(), st.sampled_from([1 << 22, 50]))
def test_allowed_tokens_are_counted_without_a_map(drawn: tuple[AttentionCall, torch.Tensor], cells: int) -> None:
    rule = drawn[0].rule.for_text(0)
    marks = torch.nn.functional.one_hot(torch.arange(rule.keys) % 3, 3)
    before = span_shares._BLOCK_CELLS
    span_shares._BLOCK_CELLS = cells
    try:
        found = parts_allowed(rule, marks)
    finally:
        span_shares._BLOCK_CELLS = before
    allowed = rule.allowed(torch.arange(rule.queries), torch.arange(rule.keys))[0]
    assert torch.equal(found, allowed.double() @ marks.double())


def random_call(rule: MaskRule, dtype: torch.dtype = torch.float32, heads: int = 6, dim: int = 16) -> AttentionCall:
    random = torch.Generator().manual_seed(0)
    query = torch.randn(1, heads, rule.queries, dim, generator=random).to(dtype)
    return AttentionCall(query, torch.randn(1, 2, rule.keys, dim, generator=random).to(dtype), rule, dim**-0.5)


def named(count: int, *edges: int) -> Parts:
    spans = [NamedSpan(f"{start}", ((start, end),), "tokens") for start, end in pairwise(edges)]
    return partition(some_tokens(count), spans)


def test_splitting_a_span_adds_up() -> None:
    call = random_call(MaskRule(50, 50, ahead=0))
    whole = SpanMeter(named(50, 5, 31), range(50)).measure(0, call)
    halves = SpanMeter(named(50, 5, 12, 31), range(50)).measure(0, call)
    for name in ("shares", "ordinary", "seen"):
        one, two = getattr(whole, name), getattr(halves, name)
        np.testing.assert_allclose(two[:, 1] + two[:, 2], one[:, 1], atol=ROUNDING)
        np.testing.assert_allclose(two[:, [0, 3]], one[:, [0, 2]], atol=ROUNDING)


def test_order_and_names_change_nothing() -> None:
    call = random_call(MaskRule(50, 50, ahead=0))
    spans = [NamedSpan(name, (span,), "tokens") for name, span in {"a": (3, 9), "b": (9, 20), "c": (30, 40)}.items()]
    mixed = [replace(spans[number], name=f"x{number}") for number in (2, 0, 1)]
    one, two = (SpanMeter(partition(some_tokens(50), given), range(50)).measure(0, call) for given in (spans, mixed))
    np.testing.assert_allclose(two.shares[:, [0, 2, 3, 1, 4]], one.shares, atol=ROUNDING)


def test_more_parts_than_a_head_has_dimensions() -> None:
    call = random_call(MaskRule(90, 90, ahead=0))
    parts = named(90, *range(1, 81, 2))
    found = SpanMeter(parts, range(90)).measure(0, call)
    weights, _, sink = (one[0] for one in oracle(call, call.key))
    allowed = np.broadcast_to(np.tri(90, dtype=bool), weights.shape)
    check(found, expected_shares(weights, allowed, sink, parts.parts, range(90)), 2e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_raised_first(dtype: torch.dtype) -> None:
    # The same numbers in float32 give the same shares: nothing is computed in half precision.
    half = random_call(MaskRule(40, 40, ahead=0, back=9), dtype)
    full = replace(half, query=half.query.float(), key=half.key.float())
    for asked in (range(40), [39]):
        one, two = (SpanMeter(named(40, 2, 20, 35), asked).measure(0, call) for call in (half, full))
        np.testing.assert_allclose(one.shares, two.shares, atol=1e-7)


def test_padding_counts_nowhere() -> None:
    # The same text alone and between padding: the shares are the same, whatever stands in the padding.
    alone = random_call(MaskRule(30, 30, ahead=0))
    random = torch.Generator().manual_seed(5)

    def padded(tensor: torch.Tensor) -> torch.Tensor:
        some = torch.randn(*tensor.shape[:2], 4, tensor.shape[3], generator=random) * 9
        return torch.cat([some, tensor, some[:, :, :3]], 2)

    present = torch.ones(1, 37, dtype=torch.bool)
    present[:, :4] = present[:, 34:] = False
    rule = MaskRule(37, 37, ahead=0, present=present)
    call = replace(alone, query=padded(alone.query), key=padded(alone.key), rule=rule)
    one = SpanMeter(named(30, 2, 12, 25), range(30)).measure(0, alone)
    spans = [NamedSpan(str(start), ((start + 4, end + 4),), "tokens") for start, end in [(2, 12), (12, 25)]]
    two = SpanMeter(partition(some_tokens(37), spans, first=4), range(4, 34)).measure(0, call)
    np.testing.assert_allclose(two.shares, one.shares, atol=ROUNDING)
    np.testing.assert_allclose(two.ordinary, one.ordinary, atol=ROUNDING)
    np.testing.assert_allclose(two.seen, one.seen)


def test_rows_that_may_look_at_nothing_are_left_out() -> None:
    table = torch.ones(1, 1, 6, 6, dtype=torch.bool).tril()
    table[..., 3, :] = False
    call = random_call(MaskRule(6, 6, table=table))
    parts = named(6, 1, 3)
    some, without = (SpanMeter(parts, rows).measure(0, call) for rows in ([2, 3, 5], [2, 5]))
    np.testing.assert_allclose(some.shares, without.shares, atol=ROUNDING)
    np.testing.assert_array_equal(some.seen, without.seen)
    none = SpanMeter(parts, [3]).measure(0, call)
    assert np.isnan(none.shares).all()
    assert np.isnan(none.seen).all()


@pytest.mark.parametrize("parts", [named(8, 1, 4), Parts(some_tokens(8), (Part("all", "rest", tuple(range(8))),))])
def test_a_number_that_is_none_is_not_hidden(parts: Parts) -> None:
    # torch's fused kernel gives a row of nothing but nan as 0, which would pass for a share.
    call = random_call(MaskRule(8, 8, ahead=0))
    query, key = call.query.clone(), call.key.clone()
    query[:, 2, 5] = torch.nan
    found = SpanMeter(parts, range(8)).measure(0, replace(call, query=query))
    assert np.isnan(found.shares[2]).all()
    assert not np.isnan(np.delete(found.shares, 2, 0)).any()
    assert not np.isnan(found.seen).any()
    key[:, 1, 0] = torch.nan
    for asked in (range(8), [0], [7]):
        found = SpanMeter(parts, asked).measure(0, replace(call, key=key))
        assert np.isnan(found.shares[3:]).all()
        assert not np.isnan(found.shares[:3]).any()


def test_all_of_one_text_of_a_batch() -> None:
    """Of a batch the first text is measured."""
    single = random_call(MaskRule(20, 20, ahead=0))
    double = replace(
        single,
        query=torch.cat([single.query, single.query * 2]),
        key=torch.cat([single.key, single.key * 2]),
        rule=MaskRule(20, 20, 2, ahead=0),
    )
    one, two = (SpanMeter(named(20, 3, 9), range(20)).measure(0, call) for call in (single, double))
    np.testing.assert_allclose(one.shares, two.shares, atol=1e-7)


def test_parts_that_nobody_named() -> None:
    tokens = some_tokens(4)
    everything = Parts(tokens, (Part("all", "span", (0, 1, 2, 3)),))
    call = random_call(MaskRule(4, 4, ahead=0))
    np.testing.assert_allclose(SpanMeter(everything, [3]).measure(0, call).shares, 1.0, atol=ROUNDING)
