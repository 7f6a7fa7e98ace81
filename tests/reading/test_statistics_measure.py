"""Every statistic against the whole map in NumPy float64, on random calls of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.reading import call as call_module
from heedmap.reading import statistics_linear, statistics_tiles
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_measure import Measured, measure
from tests.reading.test_call import calls, oracle, rounding


def computed(call: AttentionCall) -> AttentionCall:
    """The call with its log-sum-exp, as the tap hands it over."""
    return replace(call, logsumexp=call.compute(call.key)[1])


def expected(call: AttentionCall, special: torch.Tensor, text: int) -> dict[str, Any]:
    """All statistics of one text from its whole map."""
    weights, _, sink = (one[text] for one in oracle(call, call.key))
    rule = call.rule.for_text(text)
    rows, columns = torch.arange(rule.queries), torch.arange(rule.keys)
    allowed = np.broadcast_to(rule.allowed(rows, columns)[0].numpy(), weights.shape)
    own = np.arange(rule.queries) + rule.query_offset - rule.key_offset
    present = np.ones(rule.keys, dtype=bool) if rule.present is None else rule.present[0].numpy()
    # A query may stand where there is no key: it is a token all the same, and its own weight is 0.
    inside = (own >= 0) & (own < rule.keys)
    real = present[own.clip(0, rule.keys - 1)] | ~inside
    first = None if rule.key_offset and not (~present[:1]).any() else int(np.argmax(present))
    counts = allowed.sum(-1)
    most = np.log(np.maximum(counts, 1))
    safe = np.where(weights > 0, weights, 1)
    entropy = -(weights * np.log(safe)).sum(-1)
    # Where the mask leaves nothing, 0/0: those rows are absent below.
    distances = own[:, None] - np.arange(rule.keys)
    after_first = np.ones_like(real) if first is None else own > first

    def at(keys: Any) -> Any:
        """The weight of each query on one key; 0 where there is no such key."""
        there = (keys >= 0) & (keys < rule.keys)
        places = np.broadcast_to(keys.clip(0, rule.keys - 1)[:, None], (*weights.shape[:2], 1))
        return np.where(there, np.take_along_axis(weights, places, -1)[..., 0], 0)

    found = {
        "first": np.zeros(weights.shape[:2]) if first is None else weights[:, :, first],
        "itself": at(own),
        "previous": np.where(after_first, at(own - 1), np.nan),
        "special": weights[..., special.numpy()].sum(-1),
        "sink": sink if call.sinks is not None else np.full(sink.shape, np.nan),
        "entropy": entropy,
        "normalised_entropy": np.where(most > 0, entropy / np.where(most > 0, most, 1), np.nan),
        "effective_tokens": np.exp(entropy),
        "distance": (weights * distances).sum(-1),
        "largest": weights.max(-1),
    }
    absent = ~real | (counts == 0)
    found = {name: np.where(absent, np.nan, values) for name, values in found.items()}
    received = np.where(absent[..., None], 0, weights).sum(1)
    return {
        **found,
        "received": np.where(present, received, np.nan),
        "lookers": (allowed & real[:, None]).sum(1) * present,
        "dead": real & (counts == 0),
        "padding": ~real,
        "after_first": real & after_first,
    }


def check(call: AttentionCall, measured: Measured, special: torch.Tensor, text: int = 0) -> None:
    """Compare everything with the whole map.

    float32 knows a score to a few eps of the largest, and a weight moves by that fraction of itself (`rounding`). A
    row's entropy moves by it times the spread of log weights, at most about ln(keys) where there is any mass; a
    distance by it times the places that there are; a column sum by it times its rows.
    """
    want = expected(call, special, text)
    tolerance = rounding(call) + 1e-6
    keys = call.rule.keys
    size = {
        "entropy": 2 + np.log(keys),
        "normalised_entropy": 2 * (2 + np.log(keys)),
        "effective_tokens": keys * (2 + np.log(keys)),
        "distance": keys,
    }
    for name in COLUMNS:
        found = measured.values[name].numpy()
        np.testing.assert_allclose(found, want[name], rtol=0, atol=tolerance * size.get(name, 1), err_msg=name)
    assert measured.received is not None
    sums = measured.received.sums.numpy()
    np.testing.assert_allclose(sums, want["received"], rtol=tolerance, atol=tolerance, err_msg="received")
    lookers = np.broadcast_to(measured.received.lookers.numpy(), sums.shape)
    np.testing.assert_array_equal(lookers, want["lookers"])
    np.testing.assert_array_equal(measured.dead.numpy(), want["dead"])
    np.testing.assert_array_equal(measured.padding.numpy(), want["padding"])
    np.testing.assert_array_equal(measured.after_first.numpy(), want["after_first"])


@given(calls(), st.booleans(), st.integers(0, 1), st.integers(0, 999))
def test_every_statistic_equals_that_of_the_whole_map(
    drawn: tuple[AttentionCall, torch.Tensor], small_blocks: bool, text: int, seed: int
) -> None:
    call = computed(drawn[0])
    special = torch.rand(call.rule.keys, generator=torch.Generator().manual_seed(seed)) < 0.5
    text %= call.query.shape[0]
    sizes = (
        (call_module, "_BLOCK_CELLS", 200),
        (call_module, "_SMALLEST_BLOCK", 3),
        (statistics_linear, "_BLOCK_QUERIES", 7),
        (statistics_tiles, "_TILE_CELLS", 200),
        (statistics_tiles, "_TILE_KEYS", 9),
    )
    with pytest.MonkeyPatch.context() as patch:
        for module, name, size in sizes if small_blocks else ():
            patch.setattr(module, name, size)
        measured = measure(call, COLUMNS, special, received=True, text=text)
    check(call, measured, special, text)


def random_call(length: int, rule: MaskRule | None = None, *, heads: int = 4, size: float = 1.0) -> AttentionCall:
    random = torch.Generator().manual_seed(length)
    query = torch.randn(1, heads, length, 16, generator=random) * size
    key = torch.randn(1, heads // 2, length, 16, generator=random) * size
    return computed(AttentionCall(query, key, rule or MaskRule(length, length, ahead=0), 0.25))


def marks(length: int) -> torch.Tensor:
    return torch.arange(length) % 5 == 0


@pytest.mark.parametrize("columns", [("first",), ("first", "itself", "previous"), ("distance",), ("special",), ()])
def test_columns_alone_are_those_of_the_whole_table(columns: tuple[str, ...]) -> None:
    call = random_call(40)
    whole = measure(call, COLUMNS, marks(40)).values
    for name, values in measure(call, columns, marks(40)).values.items():
        torch.testing.assert_close(values, whole[name], atol=1e-5, rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("rule", [MaskRule(30, 30, ahead=0), MaskRule(30, 30), MaskRule(30, 30, ahead=0, back=6)])
@pytest.mark.parametrize(("before", "after"), [(5, 0), (0, 7), (4, 3)])
def test_padding_changes_nothing(rule: MaskRule, before: int, after: int) -> None:
    """A text between padding has the statistics that it has alone, at its place, and padding has none."""
    alone = random_call(30, rule)
    length = before + 30 + after
    text = slice(before, before + 30)
    present = torch.zeros(1, length, dtype=torch.bool)
    present[0, text] = True
    wide = replace(rule, queries=length, keys=length, present=present)
    call = AttentionCall(torch.randn(1, 4, length, 16), torch.randn(1, 2, length, 16), wide, 0.25)
    call.query[:, :, text], call.key[:, :, text] = alone.query, alone.key
    special = torch.ones(length, dtype=torch.bool)
    special[text] = marks(30)
    found = measure(computed(call), COLUMNS, special, received=True)
    want = measure(alone, COLUMNS, marks(30), received=True)
    for name in COLUMNS:
        torch.testing.assert_close(found.values[name][:, text], want.values[name], equal_nan=True, msg=name)
        assert found.values[name][:, found.padding].isnan().all()
    assert found.received is not None
    assert want.received is not None
    torch.testing.assert_close(found.received.sums[:, text], want.received.sums)
    assert torch.equal(found.received.lookers[:, text], want.received.lookers)
    assert found.received.sums[:, found.padding].isnan().all()
    assert torch.equal(found.after_first[text], want.after_first)


def test_a_text_that_is_all_padding_is_absent() -> None:
    rule = MaskRule(6, 6, ahead=0, present=torch.zeros(1, 6, dtype=torch.bool))
    measured = measure(random_call(6, rule), COLUMNS, marks(6), received=True)
    assert all(values.isnan().all() for values in measured.values.values())
    assert measured.padding.all()
    assert not measured.dead.any()
    assert measured.received is not None
    assert measured.received.sums.isnan().all()


@pytest.mark.parametrize("length", [1, 2, 100])
@pytest.mark.parametrize("size", [1.0, 8.0])
def test_the_first_row_of_a_causal_model_has_entropy_exactly_0(length: int, size: float) -> None:
    measured = measure(random_call(length, size=size), COLUMNS, marks(length))
    assert (measured.values["entropy"][:, 0] == 0).all()
    assert (measured.values["effective_tokens"][:, 0] == 1).all()
    assert measured.values["normalised_entropy"][:, 0].isnan().all()
    assert measured.values["previous"][:, 0].isnan().all()


def test_an_even_look_has_the_entropy_of_all_its_keys() -> None:
    call = random_call(50)
    call = computed(replace(call, query=torch.zeros_like(call.query)))
    measured = measure(call, COLUMNS, marks(50))
    counts = torch.arange(1, 51, dtype=torch.float32)
    torch.testing.assert_close(measured.values["effective_tokens"], counts.expand(4, -1))
    # Two logarithms of the same count, one of them made in the kernel: apart by the rounding of each.
    torch.testing.assert_close(measured.values["normalised_entropy"][:, 1:], torch.ones(4, 49), rtol=0, atol=1e-6)
    assert (measured.values["normalised_entropy"][:, 1:] <= 1).all()


def test_outside_the_window_the_weight_on_the_first_token_is_exactly_0() -> None:
    measured = measure(random_call(40, MaskRule(40, 40, ahead=0, back=3)), COLUMNS, marks(40))
    assert (measured.values["first"][:, 4:] == 0).all()
    assert (measured.values["first"][:, :4] > 0).all()


@pytest.mark.parametrize("rule", [MaskRule(5, 20, query_offset=4, back=3, ahead=2), MaskRule(5, 20, query_offset=4)])
def test_queries_may_stand_in_the_middle_of_their_keys(rule: MaskRule) -> None:
    random = torch.Generator().manual_seed(0)
    query, key = torch.randn(1, 4, 5, 16, generator=random), torch.randn(1, 2, 20, 16, generator=random)
    call = computed(AttentionCall(query, key, rule, 0.25))
    check(call, measure(call, COLUMNS, marks(20), received=True), marks(20))


def test_a_token_that_a_sliding_cache_dropped_has_weight_0() -> None:
    call = random_call(12, MaskRule(12, 12, query_offset=20, key_offset=20, ahead=0, back=11))
    measured = measure(call, COLUMNS, marks(12))
    assert (measured.values["first"] == 0).all()
    assert measured.after_first.all()


def test_entropy_survives_scores_near_900() -> None:
    """All keys point the same way: scores of about 900 that differ by a few. Without centring it is off by 1e-4."""
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, 2, 400, 64, generator=random) for _ in range(2))
    key[..., 0] += 120
    query[..., 0] = 60
    call = computed(AttentionCall(query, key, MaskRule(400, 400, ahead=0), 0.125))
    assert call.scores(slice(-1, None), slice(None)).mean() == pytest.approx(900, abs=30)
    found = measure(call, ("entropy",), marks(400)).values["entropy"].numpy()
    np.testing.assert_allclose(found, expected(call, marks(400), 0)["entropy"], rtol=0, atol=2e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [("first", "itself", "previous"), tuple(COLUMNS)])
def test_half_precision_is_measured_in_float32(dtype: torch.dtype, columns: tuple[str, ...]) -> None:
    """The statistics are those of the half-precision query and key themselves; the model's own sums are off by 1e-3."""
    call = random_call(60, size=2.0)
    half = computed(replace(call, query=call.query.to(dtype), key=call.key.to(dtype)))
    measured = measure(half, columns, marks(60))
    want = expected(replace(half, query=half.query.float(), key=half.key.float()), marks(60), 0)
    for name in columns:
        atol = 1e-5 * {"distance": 60, "effective_tokens": 60}.get(name, 1)
        np.testing.assert_allclose(measured.values[name].numpy(), want[name], rtol=0, atol=atol, err_msg=name)


def test_rows_that_are_no_numbers_are_counted_and_spoil_no_others() -> None:
    call = random_call(20)
    query = call.query.clone()
    query[0, 1, 7] = torch.nan
    measured = measure(computed(replace(call, query=query)), COLUMNS, marks(20), received=True)
    assert measured.not_a_number.nonzero().tolist() == [[1, 7]]
    assert not measured.dead.any()
    assert measured.values["entropy"].isnan().nonzero().tolist() == [[1, 7]]
    assert measured.received is not None
    assert not measured.received.sums.isnan().any()
    assert measured.received.sums.sum(-1).tolist() == pytest.approx([20, 19, 20, 20], rel=1e-5)


def near_distance_error(length: int) -> float:
    """How far off the mean distance of a head that looks at the two tokens before is, but for the worst tenth.

    In those rows the head also looks at tokens that happen to be alike.
    """
    random = torch.Generator().manual_seed(0)
    key = torch.nn.functional.normalize(torch.randn(1, 1, length, 64, generator=random), dim=-1)
    one, two = key.roll(1, 2), key.roll(2, 2)
    call = computed(AttentionCall(one + two, key, MaskRule(length, length, ahead=0), 100.0))
    found = measure(call, ("distance",), torch.zeros(length, dtype=torch.bool)).values["distance"]
    query = call.query.double()
    ahead = 100 * ((query * one.double()).sum(-1) - (query * two.double()).sum(-1))
    want = 2 - torch.sigmoid(ahead)[0]
    return float((found - want)[:, 2:].abs().quantile(0.9))


def test_a_near_distance_is_known_in_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions are counted from each block's start: float32 then knows them to eps · 1,024, not eps · 16,384."""
    by_blocks = near_distance_error(16384)
    assert by_blocks < 2e-4
    monkeypatch.setattr(statistics_linear, "_BLOCK_QUERIES", 16384)
    assert 4 * by_blocks < near_distance_error(16384)  # 8 and 16 times as far off, by the order of adding up
