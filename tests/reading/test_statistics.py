"""Statistics of real heads against their whole maps in NumPy float64, and the table they stand in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import OutOfRange, ReadingError
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import find_copy
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.statistics import COLUMNS, COUNTS, MEDIAN, Statistics, combine
from tests.conftest import TROPHY

ALICE = """Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do:
once or twice she had peeped into the book her sister was reading, but it had no pictures or conversations in it,
“and what is the use of a book,” thought Alice “without pictures or conversations?”

So she was considering in her own mind (as well as she could, for the hot day made her feel very sleepy and stupid),
whether the pleasure of making a daisy-chain would be worth the trouble of getting up and picking the daisies, when
suddenly a White Rabbit with pink eyes ran close by her."""


def whole_map(reading: Reading, layer: int) -> tuple[Any, float]:
    """All weights of a layer, [head, query, key], and the largest |score|, in float64."""
    call = reading.call(layer)
    query, key = call.query[0].double().numpy(), call.key[0].double().numpy()
    scores = call.scale * query @ np.repeat(key, call.heads // call.key_value_heads, 0).swapaxes(-1, -2)
    length = scores.shape[-1]
    back = np.arange(length)[:, None] - np.arange(length)
    allowed = np.ones((length, length), dtype=bool)
    if call.rule.ahead is not None:
        allowed &= back >= -call.rule.ahead
    if call.rule.back is not None:
        allowed &= back <= call.rule.back
    assert call.rule.is_band
    scores = np.where(allowed, scores, -np.inf)
    largest = float(np.abs(scores[np.isfinite(scores)]).max())
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True), largest


def whole_statistics(weights: Any, special: Any) -> dict[str, Any]:
    """The statistics of whole maps, each [head, query], and "received", [head, key]."""
    length = weights.shape[-1]
    places = np.arange(length)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    counts = (weights > 0).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        normalised = np.where(counts > 1, entropy / np.log(counts), np.nan)
    return {
        "first": weights[:, :, 0],
        "itself": weights[:, places, places],
        "previous": np.pad(weights[:, places[1:], places[:-1]], ((0, 0), (1, 0)), constant_values=np.nan),
        "special": weights[..., special].sum(-1),
        "entropy": entropy,
        "normalised_entropy": normalised,
        "effective_tokens": np.exp(entropy),
        "distance": (weights * (places[:, None] - places)).sum(-1),
        "largest": weights.max(-1),
        "received": weights.sum(1),
    }


def check_real_heads(reading: Reading) -> None:
    """Compare all heads of all layers with their whole maps.

    Scores are known to a few eps of the largest |score| of the layer (float32; transformers' own eager attention is
    no better), so shares are within 6e-7 of it: 1e-5 where scores reach 17. A row's entropy is within 2e-5 nats in
    all but one row of a thousand, and within 2e-6 times the largest score in all; its mean over positions within
    5e-6, or 2e-5 of itself. A distance is within 2e-4 tokens, or 1e-5 of how far the row reaches; a column sum within
    1e-5, or within 6e-7 times the largest score, of itself.
    """
    stats = reading.stats(largest=True, positions=True, received=True)
    assert stats.by_position is not None
    assert stats.column_sums is not None
    special = np.array([token.special for token in reading.tokens])
    errors: list[Any] = []
    for layer in reading.calls:
        weights, score = whole_map(reading, layer)
        want = whole_statistics(weights, special)
        rows = stats.where(layer)
        share = max(1e-5, 6e-7 * score)
        nats = max(2e-5, 2e-6 * score)
        length = weights.shape[-1]
        atol = {
            "entropy": nats,
            "normalised_entropy": 2 * nats,
            "effective_tokens": nats * length,
            "distance": 2e-4 + 1e-5 * length,
        }
        for name, values in stats.by_position.items():
            if name == "sink":
                assert np.isnan(values).all()
                continue
            found = values[rows]
            np.testing.assert_allclose(found, want[name], rtol=0, atol=atol.get(name, share), err_msg=f"{name} {layer}")
            after_first = want[name][:, 1:]
            means, medians = stats[name][rows], stats[name + MEDIAN][rows]
            np.testing.assert_allclose(means, np.nanmean(after_first, -1), rtol=2e-5, atol=5e-6, err_msg=name)
            np.testing.assert_allclose(medians, np.nanmedian(after_first, -1), rtol=2e-5, atol=2e-5, err_msg=name)
        errors.append(np.abs(stats.by_position["entropy"][rows] - want["entropy"]).ravel())
        np.testing.assert_allclose(stats.column_sums[rows], want["received"], rtol=share, atol=1e-30)
    assert np.quantile(np.concatenate(errors), 0.999) < 2e-5
    assert (stats["counted"] == len(reading.tokens) - 1).all()
    assert (stats["dead"] == 0).all()


@pytest.fixture(scope="module")
def alice(smollm2: Model) -> Reading:
    return smollm2.read(ALICE)


def test_all_heads_of_smollm2_equal_their_whole_maps(alice: Reading) -> None:
    check_real_heads(alice)


def test_all_heads_of_smollm2_equal_their_whole_maps_on_long_english_text(smollm2: Model, data_folder: Path) -> None:
    text = (data_folder / "texts" / "moby_dick.32k.txt").read_text(encoding="utf-8")
    check_real_heads(smollm2.read(text[:4000], layers=[0, 11, 18, 29]))


def test_all_heads_of_minilm_equal_their_whole_maps(minilm: Model) -> None:
    reading = minilm.read(ALICE)
    check_real_heads(reading)
    stats = reading.stats(only=["first", "special"])
    # [CLS] is the first token, and special tokens are [CLS] and [SEP].
    assert (stats["special"] > stats["first"]).all()


def test_all_heads_of_gemma3_equal_their_whole_maps_with_windows(data_folder: Path) -> None:
    entry = find_entry("gemma3")
    if entry is None or find_copy(entry) is None:
        pytest.skip("gemma3 is not in the cache: its terms must be accepted first (heedmap models get gemma3)")
    text = (data_folder / "texts" / "moby_dick.8k.txt").read_text(encoding="utf-8")
    reading = heedmap.load("gemma3").read(text[:3600], layers=[0, 5])
    assert len(reading.tokens) > 600
    windows = [call.rule.back for call in reading.calls.values()]
    assert 511 in windows
    assert None in windows
    check_real_heads(reading)


def test_reducing_during_the_pass_equals_measuring_what_a_reading_kept(smollm2: Model, alice: Reading) -> None:
    during = smollm2.stats(ALICE, layers=[3, 17], largest=True, received=True)
    after = alice.stats(layers=[17, 3], largest=True, received=True)
    # Two passes, whose numbers lie differently in memory: a matrix product may add them up in another order.
    for name, column in during.columns.items():
        np.testing.assert_allclose(after[name], column, rtol=2e-5, atol=2e-5, err_msg=name)
    assert during.column_sums is not None
    assert after.column_sums is not None
    np.testing.assert_allclose(after.column_sums, during.column_sums, rtol=2e-5)
    assert during["layer"].tolist() == [3] * 9 + [17] * 9


def test_more_than_half_of_a_short_sentence_s_attention_sits_on_its_first_token(smollm2: Model) -> None:
    """Over all layers, heads and rows but the first; people who look at one picture take it for a fault."""
    stats = smollm2.stats("The trophy did not fit in the big suitcase.", only=["first"])
    assert len(stats.tokens) == 11
    assert 0.5 < stats["first"].mean() < 0.65
    assert stats["first"].max() == pytest.approx(1, abs=1e-3)


def test_the_previous_token_heads_of_smollm2_are_found(smollm2: Model, data_folder: Path) -> None:
    text = (data_folder / "texts" / "moby_dick.8k.txt").read_text(encoding="utf-8")[:2000]
    stats = smollm2.stats(text, only=["previous"])
    best = [(int(stats["layer"][row]), int(stats["head"][row])) for row in stats.order("previous")[:4]]
    assert {(16, 0), (11, 1), (2, 1)} <= set(best)


def test_a_half_precision_model_is_measured_in_float32(smollm2: Model) -> None:
    """The model rounds its own sums by up to 0.03; its statistics are those of its query and key in float32."""
    half = heedmap.load("smollm2", dtype="bfloat16").read(TROPHY, layers=[0, 16])
    stats = half.stats(positions=True)
    assert stats.by_position is not None
    for layer in (0, 16):
        weights, _ = whole_map(half, layer)
        want = whole_statistics(weights, np.zeros(len(half.tokens), dtype=bool))
        for name in ("first", "itself", "entropy"):
            np.testing.assert_allclose(stats.by_position[name][stats.where(layer)], want[name], rtol=0, atol=2e-5)


@pytest.fixture(scope="module")
def trophy(smollm2: Model) -> Statistics:
    return smollm2.stats(TROPHY, layers=[3, 16], largest=True, positions=True, received=True)


def test_the_json_is_strict_and_has_the_schema(trophy: Statistics) -> None:
    value = json.loads(json.dumps(trophy.to_json(), allow_nan=False))
    assert list(value) == ["schema", "model", "text", "tokens", "rows"]
    assert value["schema"] == "heedmap/stats/1"
    assert value["text"] == TROPHY
    assert value["tokens"][0] == {"index": 0, "text": "The", "start": 0, "end": 3, "special": False}
    assert len(value["rows"]) == 18
    row = value["rows"][12]
    assert (row["layer"], row["head"]) == (16, 3)
    assert row["first"] == pytest.approx(trophy["first"][12])
    assert row["first_median"] == pytest.approx(trophy["first_median"][12])
    assert row["sink"] is None
    assert row["positions"]["previous"][0] is None
    assert len(row["positions"]["previous"]) == len(row["received"]) == len(value["tokens"])
    statistics = [name + kind for name in COLUMNS for kind in ("", MEDIAN)]
    assert list(row) == ["layer", "head", *statistics, *COUNTS, "positions", "received", "lookers"]


def test_without_positions_the_rows_are_numbers_alone(alice: Reading) -> None:
    row = alice.stats(layers=5, only=["entropy"]).to_json()["rows"][0]
    assert list(row) == ["layer", "head", "entropy", "entropy_median", *COUNTS]


def test_one_token_has_no_position_after_the_first(smollm2: Model) -> None:
    stats = smollm2.stats("cat", layers=[0])
    assert (stats["counted"] == 0).all()
    assert all(np.isnan(stats[name]).all() for name in stats.statistics)
    assert stats.to_json()["rows"][0]["first"] is None
    assert "no position after the first" in str(stats)


def test_the_curve_is_the_mean_over_heads_at_each_position(trophy: Statistics, smollm2: Model) -> None:
    assert trophy.by_position is not None
    curve = trophy.curve("first", layer=16)
    np.testing.assert_allclose(curve, trophy.by_position["first"][9:].mean(0), rtol=1e-6)
    np.testing.assert_array_equal(trophy.curve("first", 16, 3), trophy.by_position["first"][12])
    assert curve[1:].mean() == pytest.approx(trophy["first"][9:].mean())
    axes = trophy.plot("entropy", layer=16)
    assert axes.get_ylabel() == "entropy (nats)"
    assert "layer 16" in axes.get_title(loc="left")
    with pytest.raises(ReadingError, match="ask for them with positions=True"):
        smollm2.stats("The cat sat.", layers=0).curve("first")
    with pytest.raises(OutOfRange, match="there is no statistic 'fist' here: there are first, itself"):
        trophy.curve("fist")


def test_rows_are_found_and_sorted(trophy: Statistics) -> None:
    assert trophy.where(16, 3) == [12]
    assert trophy.where(head=3) == [3, 12]
    order = trophy.order("entropy", ascending=True)
    assert trophy["entropy"][order].tolist() == sorted(trophy["entropy"].tolist())
    with pytest.raises(OutOfRange, match="the table has no layer 4: it has 3, 16"):
        trophy.where(4)
    with pytest.raises(OutOfRange, match="the table has no column 'fist': it has layer, head, first"):
        trophy["fist"]


def test_an_unknown_statistic_is_refused_before_anything_runs(smollm2: Model) -> None:
    with pytest.raises(OutOfRange, match="there is no statistic 'fist'"):
        smollm2.stats("The cat sat.", only=["fist"])
    with pytest.raises(OutOfRange, match="layer 30 is out of range"):
        smollm2.stats("The cat sat.", layers=30)


def test_what_tokens_receive_is_the_column_sum(alice: Reading) -> None:
    received = alice.received(16, 3)
    whole = np.asarray(alice.map(16, 3))
    np.testing.assert_allclose(received.sums, whole.sum(0), rtol=2e-5)
    length = len(alice.tokens)
    np.testing.assert_array_equal(received.lookers, length - np.arange(length))
    np.testing.assert_allclose(received.corrected, whole.sum(0) / (length - np.arange(length)), rtol=2e-5)
    assert received.largest(1) == [int(received.corrected.argmax())]
    np.testing.assert_allclose(
        alice.received(16).sums, np.mean([alice.received(16, head).sums for head in range(9)], 0), rtol=1e-6
    )
    assert alice.received().layer == alice.middle
    value = json.loads(json.dumps(received.to_json(), allow_nan=False))
    assert value["schema"] == "heedmap/received/1"
    assert len(value["received"]) == len(value["corrected"]) == length
    assert "layer 16, head 3" in str(received)
    with pytest.raises(OutOfRange, match="head 9 is out of range"):
        alice.received(16, 9)
    with pytest.raises(ReadingError, match="ask for it with received=True"):
        alice.stats(layers=16, only=["first"]).received()


def test_each_text_of_a_data_set_counts_once(smollm2: Model) -> None:
    texts = [smollm2.stats(text, layers=[7]) for text in ("The cat sat.", ALICE, "It rained all day long.")]
    table = combine(texts)
    np.testing.assert_allclose(table["first"], np.mean([text["first"] for text in texts], 0))
    np.testing.assert_allclose(table["first_median"], np.median([text["first_median"] for text in texts], 0))
    assert table["counted"][0] == sum(len(text.tokens) - 1 for text in texts)
    value = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert list(value) == ["schema", "model", "rows", "texts"]
    assert [len(text["rows"]) for text in value["texts"]] == [9, 9, 9]
    assert "3 texts of" in str(table)
    with pytest.raises(ReadingError, match="the same layers, heads and columns"):
        combine([texts[0], smollm2.stats("The cat sat.", layers=[8])])
    with pytest.raises(ReadingError, match="there is no text"):
        combine([])


def test_a_layer_that_was_not_kept_is_named(smollm2: Model) -> None:
    with pytest.raises(ReadingError, match="layer 5 was not kept"):
        smollm2.read("The cat sat.", layers=7).stats(layers=5)


def test_progress_is_told(smollm2: Model) -> None:
    told: list[tuple[int, int, str]] = []
    smollm2.stats("The cat sat.", layers=[0], progress=lambda *state: told.append(state))
    assert told[-1][:2] == (30, 30)
    told.clear()
    smollm2.read("The cat sat.", layers=[0, 1]).stats(progress=lambda *state: told.append(state))
    assert told == [(0, 2, "statistics"), (1, 2, "statistics"), (2, 2, "statistics")]


def test_nothing_is_kept(smollm2: Model) -> None:
    """The table holds no tensor, and no array that grows with the text."""
    stats = smollm2.stats(ALICE, layers=[0, 1])
    assert stats.by_position is None
    assert stats.column_sums is None
    assert all(column.shape == (18,) and not isinstance(column, torch.Tensor) for column in stats.columns.values())
