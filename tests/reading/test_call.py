"""One attention call: output, log-sum-exp and any tile of weights against a full NumPy map in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.reading import call as call_module
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule


@st.composite
def calls(draw: st.DrawFn) -> tuple[AttentionCall, torch.Tensor]:
    """A random call of any kind, and its values.

    NumPy's numbers, which are the same on every processor: torch's are not.
    """
    random = np.random.default_rng(draw(st.integers(0, 999)))
    key_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    batch, length, dim = draw(st.integers(1, 2)), draw(st.integers(1, 40)), draw(st.sampled_from([4, 16]))
    earlier = draw(st.integers(0, 5))
    heads, keys = key_heads * group, length + earlier

    def numbers(*shape: int, size: float = 1.0) -> torch.Tensor:
        return torch.from_numpy(random.standard_normal(shape, dtype=np.float32) * np.float32(size))

    present = None
    if draw(st.booleans()):
        present = torch.from_numpy(random.random((batch, keys)) > 0.3)
    table = None
    if draw(st.booleans()):
        table = numbers(1, 1, length, keys)
        table[..., torch.from_numpy(random.random((length, keys)) < 0.2)] = -torch.inf
    rule = MaskRule(
        queries=length,
        keys=keys,
        batch=batch,
        query_offset=earlier,
        back=draw(st.none() | st.integers(0, 12)),
        ahead=draw(st.sampled_from([None, 0, 0, 3])),
        present=present,
        pattern=(lambda b, h, q, k: (q + 2 * k + b) % 5 != 0) if draw(st.booleans()) else None,
        table=table,
    )
    size = draw(st.sampled_from([1.0, 1.0, 8.0]))
    call = AttentionCall(
        query=numbers(batch, heads, length, dim, size=size),
        key=numbers(batch, key_heads, keys, dim, size=size),
        rule=rule,
        scale=draw(st.sampled_from([dim**-0.5, 1.0])),
        softcap=draw(st.sampled_from([None, None, 5.0])),
        bias=numbers(1, heads, length, keys) if draw(st.booleans()) else None,
        sinks=numbers(1, heads, 1) if draw(st.booleans()) else None,
    )
    return call, numbers(batch, key_heads, keys, draw(st.sampled_from([dim, 5])))


def oracle(call: AttentionCall, value: torch.Tensor) -> tuple[Any, Any, Any]:
    """(weights, output, sink share) of the whole map in float64."""
    group = call.heads // call.key_value_heads
    query, key, values = (tensor.double().numpy() for tensor in (call.query, call.key, value))
    key, values = np.repeat(key, group, 1), np.repeat(values, group, 1)
    scores = call.scale * query @ key.swapaxes(-1, -2)
    if call.softcap is not None:
        scores = call.softcap * np.tanh(scores / call.softcap)
    if call.bias is not None:
        scores = scores + call.bias.double().numpy()
    rule = call.rule
    allowed = np.ones(scores.shape, dtype=bool)
    for batch, row, column in np.ndindex(len(scores), rule.queries, rule.keys):
        position, place = row + rule.query_offset, column + rule.key_offset
        allowed[batch, :, row, column] = (
            (rule.back is None or place >= position - rule.back)
            and (rule.ahead is None or place <= position + rule.ahead)
            and (rule.present is None or bool(rule.present[batch, column]))
            and (rule.pattern is None or (position + 2 * place + batch) % 5 != 0)
        )
    if rule.table is not None:
        table = rule.table.double().numpy()
        allowed = allowed & (table > -np.inf)
        scores = scores + np.where(table > -np.inf, table, 0)
    scores = np.where(allowed, scores, -np.inf)
    sink = np.full(scores.shape[:3], -np.inf)
    if call.sinks is not None:
        sink = np.broadcast_to(call.sinks.double().numpy(), sink.shape)
    highest = np.maximum(scores.max(-1), sink)
    highest = np.where(np.isfinite(highest), highest, 0)[..., None]
    exponentials, of_sink = np.exp(scores - highest), np.exp(sink[..., None] - highest)
    total = exponentials.sum(-1, keepdims=True) + of_sink
    total = np.where(total == 0, 1, total)
    weights = exponentials / total
    return weights, weights @ values, (of_sink / total)[..., 0]


def rounding(call: AttentionCall) -> float:
    """How far a weight may be off, relative to itself: as far as float32 may be off in a score.

    A sum of products is known to eps times the sum of their sizes, which is far more than its own size where they
    cancel; a softcap flattens that error; what is added to it is known to eps times the score that comes out. The
    order of the additions, and so the factor, differs between processors.
    """
    rows, columns = slice(None), slice(None)
    group = call.heads // call.key_value_heads
    key = call.key.double().abs().repeat_interleave(group, 1)
    sizes = (call.query.double().abs() @ key.transpose(-1, -2)) * abs(call.scale)
    scores = call.scores(rows, columns).double()
    if call.softcap is not None:
        bent = replace(call, bias=None, rule=MaskRule(call.rule.queries, call.rule.keys)).scores(rows, columns)
        sizes = sizes * (1 - (bent.double() / call.softcap) ** 2).clamp(min=0)
    seen = scores.isfinite()
    largest = torch.cat([sizes[seen], scores[seen].abs(), torch.ones(1)]).max()
    return float(8 * torch.finfo(torch.float32).eps * largest)


@given(calls(), st.sampled_from([1 << 22, 200]))
def test_a_call_equals_the_whole_map(drawn: tuple[AttentionCall, torch.Tensor], cells: int) -> None:
    call, value = drawn
    before = call_module._BLOCK_CELLS, call_module._SMALLEST_BLOCK
    call_module._BLOCK_CELLS, call_module._SMALLEST_BLOCK = cells, 64 if cells > 1000 else 3
    try:
        output, logsumexp = call.compute(value)
    finally:
        call_module._BLOCK_CELLS, call_module._SMALLEST_BLOCK = before
    weights, expected, sink = oracle(call, value)
    computed = AttentionCall(
        call.query, call.key, call.rule, call.scale, call.softcap, call.bias, call.sinks, logsumexp
    )
    tolerance = rounding(call)
    np.testing.assert_allclose(computed.weights(slice(None), slice(None)).numpy(), weights, rtol=0, atol=tolerance)
    np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=10 * tolerance)
    share = computed.sink_share(slice(None))
    if call.sinks is not None:
        assert share is not None
        np.testing.assert_allclose(share.numpy(), sink, rtol=0, atol=tolerance)


@given(calls(), st.data())
def test_a_tile_is_a_part_of_the_whole(drawn: tuple[AttentionCall, torch.Tensor], data: st.DataObject) -> None:
    call, value = drawn

    def part(size: int) -> slice:
        start = data.draw(st.integers(0, size - 1))
        return slice(start, data.draw(st.integers(start + 1, size)))

    rows, columns, heads = part(call.rule.queries), part(call.rule.keys), part(call.heads)
    call = replace(call, logsumexp=call.compute(value)[1])
    whole = call.weights(slice(None), slice(None))
    tile = call.weights(rows, columns, heads)
    torch.testing.assert_close(tile, whole[:, heads, rows, columns], rtol=0, atol=rounding(call))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_made_exact(dtype: torch.dtype) -> None:
    """The weights of a half-precision call are those of its own rounded query and key, in full precision."""
    query, key, value = ((torch.randn(1, 2, 40, 16) * 3).to(dtype) for _ in range(3))
    call = AttentionCall(query, key, MaskRule(40, 40, ahead=0), 0.25)
    exact = AttentionCall(query, key, call.rule, 0.25, logsumexp=call.compute(value)[1]).made_exact()
    weights = exact.weights(slice(None), slice(None))
    expected, _, _ = oracle(call, value)
    np.testing.assert_allclose(weights.numpy(), expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(weights.sum(-1), np.ones((1, 2, 40)), rtol=0, atol=rounding(call))


def test_rows_of_scores_near_900_still_sum_to_one() -> None:
    query, key, value = torch.randn(1, 1, 50, 64), torch.randn(1, 1, 50, 64), torch.randn(1, 1, 50, 64)
    query, key = query * 30 / query.norm(dim=-1, keepdim=True), key * 30 / key.norm(dim=-1, keepdim=True)
    key[0, 0, 7] = query[0, 0, 20]
    call = AttentionCall(query, key, MaskRule(50, 50), 1.0)
    call = AttentionCall(query, key, call.rule, 1.0, logsumexp=call.compute(value)[1])
    assert call.scores(slice(20, 21), slice(7, 8)).item() == pytest.approx(900, rel=1e-6)
    sums = call.weights(slice(None), slice(None)).sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), atol=900 * 1.2e-7 * 8, rtol=0)
