"""Shares of named parts on real models: against whole maps, while streaming and from a reading; what is undefined."""

from __future__ import annotations

import json
import subprocess
import sys
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import AmbiguousWord, OutOfRange, ReadingError, TextError
from heedmap.reading.call import AttentionCall
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.span_shares import LayerShares, SpanMeter
from heedmap.reading.spans import SpanShares, parts_of_text, spans_of_text
from heedmap.text.asking import Asking
from heedmap.text.spans import partition
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING
from tests.reading.span_oracle import expected_shares
from tests.tiny import tiny_ids, tiny_model

TEXT = "It rains a lot today. The cat sat on the mat, and the dog slept. Nobody cared about it."
SPANS: dict[str, str | tuple[int, int]] = {"rain": (0, 21), "cat": "22:44", "dog": (46, 64)}


def whole(reading: Reading, layer: int) -> tuple[Any, Any]:
    """(weights, allowed), [head, query, key], by one whole map a head."""
    heads = reading.layers[layer].heads
    weights = np.stack([np.asarray(reading.map(layer, head)) for head in range(heads)])
    return weights, np.broadcast_to(reading.map(layer).allowed(), weights.shape)


def check(shares: SpanShares, reading: Reading) -> None:
    """Compare every layer with its whole map."""
    for one in shares.layers:
        weights, allowed = whole(reading, one.layer)
        sink = np.zeros(weights.shape[:2])
        expected = expected_shares(weights, allowed, sink, shares.parts.parts, shares.asking.tokens)
        for name in expected._fields:
            np.testing.assert_allclose(getattr(one, name), getattr(expected, name), atol=ROUNDING, err_msg=name)


@pytest.fixture(scope="module")
def reading(smollm2: Model) -> Reading:
    return smollm2.read(TEXT)


@pytest.mark.parametrize("of", ["last", "all", "cat", "46:64", "tok:3:9", "@0"])
def test_streamed_and_kept_equal_the_whole_maps(of: str, smollm2: Model, reading: Reading) -> None:
    streamed, kept = smollm2.spans(TEXT, SPANS, of=of), reading.spans(SPANS, of=of)
    check(streamed, reading)
    for one, two in zip(streamed.layers, kept.layers, strict=True):
        np.testing.assert_allclose(one.shares, two.shares, atol=ROUNDING)
    assert streamed.asking == kept.asking


@pytest.mark.parametrize("of", ["last", "all", "cat"])
def test_an_encoder(of: str, minilm: Model) -> None:
    shares = minilm.spans(TEXT, SPANS, of=of)
    check(shares, minilm.read(TEXT))
    assert [part.kind for part in shares.parts.parts] == ["first", "span", "span", "span", "special", "rest"]
    assert shares.parts.tokens[shares.parts.parts[4].tokens[0]].text == "[SEP]"


@pytest.mark.parametrize("family", ["mistral", "gemma3_text", "gpt2", "bert"])
def test_families_with_windows_and_without(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_model(family), smollm2_tokenizer)
    ids = tiny_ids(20)[0].tolist()
    tokens = Tokens("x " * 20, tuple(Token(n, number, "x", 2 * n, 2 * n + 1) for n, number in enumerate(ids)))
    parts = partition(tokens, {"a": "tok:0:7", "b": "tok:7:15"})
    reading = model.read_tokens(tokens)
    for of in ("all", "last", "tok:4:12"):
        check(spans_of_text(model, parts, of=of), reading)


@pytest.mark.parametrize(("layer", "head"), [(None, None), (7, None), (7, 3), (None, 8)])
def test_the_shares_add_up_to_one(layer: int | None, head: int | None, smollm2: Model) -> None:
    for of in ("last", "all", "rains"):
        table = smollm2.spans(TEXT, SPANS, of=of).table(layer, head)
        assert sum(line.share or 0.0 for line in table) == pytest.approx(1.0, abs=ROUNDING)
        first = next(line.share for line in table if line.kind == "first")
        assert first is not None
        assert sum(line.of_left or 0.0 for line in table) == pytest.approx(1.0, abs=ROUNDING / (1 - first))
        assert sum(line.ordinary or 0.0 for line in table) == pytest.approx(1.0 - first, abs=ROUNDING)


def test_an_equal_look_is_one_time_an_ordinary_share() -> None:
    shares = by_hand([[0.5, 0.25, 0.15, 0.1]], seen=[[1, 5, 3, 2]])
    assert [line.times for line in shares.table()] == [None, *[pytest.approx(1.0)] * 3]
    assert [line.per_token for line in shares.table()] == [0.5, *[pytest.approx(0.05)] * 3]


def by_hand(shares: Any, seen: Any, sink: float = 0.0) -> SpanShares:
    """One layer of the heads given, over the parts first, a, b and rest."""
    tokens = Tokens("x " * 12, tuple(Token(place, place, "x", 2 * place, 2 * place + 1) for place in range(12)))
    parts = partition(tokens, {"a": "tok:1:6", "b": "tok:6:9"})
    some, counts = np.array(shares, dtype=np.float64), np.array(seen, dtype=np.float64)
    others = np.where([True, False, False, False], 0, counts)
    left = 1 - some[:, :1] - sink
    ordinary = left * others / np.maximum(others.sum(1, keepdims=True), 1)
    layer = LayerShares(4, some, ordinary, counts, np.full(len(some), sink))
    return SpanShares(parts, Asking("its last token", (11,)), (layer,), {"name": "mine", "layers": 1, "heads": 1})


def test_long_parts_do_not_win_by_length() -> None:
    shares = by_hand([[0.4, 0.3, 0.2, 0.1]], seen=[[1, 5, 3, 3]])
    assert [line.name for line in shares.ranked()] == ["b", "a"]
    assert shares.share("b").of_left == pytest.approx(0.2 / 0.6)
    assert shares.share("b").times == pytest.approx(0.2 / (0.6 * 3 / 11))


def test_a_learned_sink_has_its_line() -> None:
    shares = by_hand([[0.2, 0.2, 0.2, 0.1]], seen=[[1, 5, 3, 3]], sink=0.3)
    table = shares.table()
    assert (table[-1].name, table[-1].kind) == ("learned sink", "sink")
    assert table[-1].share == pytest.approx(0.3)
    assert sum(line.share or 0 for line in table) == pytest.approx(1.0)
    assert shares.share("a").of_left == pytest.approx(0.2 / 0.5)


def test_what_cannot_be_seen_is_absent_and_not_zero(smollm2: Model) -> None:
    shares = smollm2.spans(TEXT, SPANS, of="rains")
    assert shares.share("dog").share is None
    assert shares.share("dog").times is None
    assert [line.name for line in shares.ranked()] == ["rain", "cat", "dog"]
    assert shares.to_json()["rows"][3]["share"] is None


def test_what_the_first_token_leaves_of_its_own_row_is_undefined(smollm2: Model) -> None:
    # The row of token 0 looks at token 0 alone. Without it there is nothing: not 1, not nan.
    for layer in (None, 0, 17):
        table = smollm2.spans("The cat sat.", {"cat": (4, 7)}, of="@0").table(layer)
        assert table[0].share == pytest.approx(1.0, abs=ROUNDING)
        for line in table[1:]:
            assert (line.share, line.of_left, line.times) == (None, None, None)


def test_next_to_nothing_is_not_divided_by() -> None:
    # float32 knows 1 - share to about 1e-6: shares of what a share of 0.99999 leaves would be mostly rounding.
    table = by_hand([[1 - 1e-5, 5e-6, 3e-6, 2e-6]], seen=[[1, 5, 3, 3]]).table()
    assert table[1].share == pytest.approx(5e-6)
    assert (table[1].of_left, table[1].times) == (None, None)


def test_one_sentence_looks_at_the_other(minilm: Model) -> None:
    """Sentence B to A: the mean over heads and over B's tokens of what each gives to A's tokens."""
    text = "The cat sat [SEP] It was happy"
    shares = minilm.spans(text, {"A": (0, 11), "B": (18, 30)}, of="18:30")
    assert len(shares.parts.tokens) == 9
    assert [token.text for token in shares.parts.tokens if token.special] == ["[CLS]", "[SEP]", "[SEP]"]
    by_name = {part.name: list(part.tokens) for part in shares.parts.parts}
    assert by_name == {"first token": [0], "A": [1, 2, 3], "B": [5, 6, 7], "special tokens": [4, 8]}
    reading = minilm.read(text)
    for layer in range(6):
        weights, _ = whole(reading, layer)
        plain_mean = weights[:, 5:8, 1:4].sum(-1).mean()
        assert shares.share("A", layer).share == pytest.approx(plain_mean, abs=ROUNDING)
        assert shares.share("A", layer).per_token == pytest.approx(weights[:, 5:8, 1:4].mean(), abs=ROUNDING)


def test_one_layer_alone_keeps_its_number(smollm2: Model) -> None:
    for shares in (smollm2.spans(TEXT, SPANS, layers=7), smollm2.read(TEXT, layers=7).spans(SPANS)):
        assert [one.layer for one in shares.layers] == [7]
        assert {row["layer"] for row in shares.to_json()["rows"]} == {None, 7}
        assert "layer 7" in str(shares)
        with pytest.raises(ReadingError, match=r"layer 3 was not measured \(measured: 7\): ask for it with layers=3"):
            shares.table(3)
        with pytest.raises(OutOfRange, match="head 9 is out of range: a layer has 9 heads, 0 to 8"):
            shares.table(7, 9)


def test_the_mean_over_heads_while_streaming_is_the_mean_of_whole_maps(smollm2: Model, reading: Reading) -> None:
    shares = smollm2.spans(TEXT, SPANS, of="all")
    for layer in (0, 12, 29):
        mean = np.asarray(reading.map(layer)).mean(0)
        for part in shares.parts.parts:
            found = shares.share(part.name, layer).share
            assert found == pytest.approx(mean[list(part.tokens)].sum(), abs=ROUNDING)


def test_the_default_is_the_last_token_of_a_decoder_and_every_token_of_an_encoder(
    smollm2: Model, minilm: Model, reading: Reading
) -> None:
    assert smollm2.spans(TEXT, SPANS, layers=0).asking.name == "its last token"
    assert reading.spans(SPANS, layers=0).asking.name == "its last token"
    assert minilm.spans(TEXT, SPANS).asking.name == minilm.read(TEXT).spans(SPANS).asking.name == "all its tokens"


def test_splitting_outside_the_named_parts(smollm2: Model) -> None:
    text = "Answer. ### Doc A one two ### Doc B three four. Question: why?"
    tokens = smollm2.tokenize(text)
    begin = tokens.find("Question").tokens[0]
    wheres: list[tuple[int, int] | str] = [(text.index("Question"), len(text)), f"tok:{begin}:"]
    for where in wheres:
        parts = parts_of_text(tokens, {"question": where}, "### Doc").parts
        assert [part.name for part in parts] == [
            "first token",
            "question",
            "Doc A one two",
            "Doc B three four.",
            "rest",
        ]
        assert "".join(tokens[index].text for index in parts[1].tokens).strip() == "Question: why?"
        assert "".join(tokens[index].text for index in parts[3].tokens).strip() == "### Doc B three four."


def test_a_rule_splits_only_what_was_read(minilm: Model) -> None:
    text = "It rains today. " * 400
    shares = minilm.spans(text, split="sentences", truncate=True, layers=2)
    tokens = shares.parts.tokens
    assert tokens.cut_off > 0
    last = shares.parts.parts[-2]
    assert last.kind == "span"
    assert last.span is not None
    assert last.span.ranges[0][1] <= tokens.seen[1]
    with pytest.raises(TextError, match=r"was not read: the last .* tokens were cut off"):
        minilm.spans(text, {"end": (6000, 6010)}, truncate=True)


def test_a_first_part_of_one_token_is_no_part(smollm2: Model) -> None:
    shares = smollm2.spans("Title\n\nIt rains today.", split="paragraphs", layers=2)
    assert [part.name for part in shares.parts.parts] == ["first token", "2 It rains today.", "rest"]


def test_no_part_was_named(smollm2: Model, reading: Reading) -> None:
    with pytest.raises(TextError, match=r"no part was named: give spans \(instructions=0:812\) or a rule to split by"):
        smollm2.spans(TEXT)
    with pytest.raises(TextError, match="no part is called 'bird'; there are: first token, rain, cat, dog, rest"):
        reading.spans(SPANS, layers=0).share("bird")
    with pytest.raises(AmbiguousWord):
        reading.spans(SPANS, of="the")
    with pytest.raises(OutOfRange, match="layer 30 is out of range"):
        smollm2.spans(TEXT, SPANS, layers=30)


def test_the_json_is_strict_and_holds_every_head_when_asked(smollm2: Model) -> None:
    shares = smollm2.spans(TEXT, SPANS, layers=[2, 5])
    found = json.loads(json.dumps(shares.to_json(per_head=True), allow_nan=False))
    assert found["schema"] == "heedmap/spans/1"
    assert found["model"]["name"] == "smollm2"
    assert len(found["tokens"]) == len(shares.parts.tokens)
    assert found["of"] == {"name": "its last token", "tokens": [len(found["tokens"]) - 1]}
    assert [part["name"] for part in found["parts"]] == ["first token", "rain", "cat", "dog", "rest"]
    assert found["parts"][1] == {
        "name": "rain", "kind": "span", "tokens": [1, 2, 3, 4, 5], "apart": [0], "ranges": [[0, 21]],
        "unit": "characters",
    }  # fmt: skip
    assert len(found["rows"]) == (1 + 2 * (1 + 9)) * 5
    row = next(row for row in found["rows"] if (row["layer"], row["head"], row["part"]) == (5, 8, "cat"))
    assert row["share"] == pytest.approx(shares.share("cat", 5, 8).share)
    assert set(row) == {"layer", "head", "part", "kind", "share", "of_left", "per_token", "ordinary", "times"}
    assert len(shares.to_json()["rows"]) == 3 * 5


def test_what_is_not_a_number_is_counted_and_null() -> None:
    shares = by_hand([[0.4, 0.3, 0.2, 0.1]] * 3, seen=[[1, 5, 3, 3]] * 3)
    layer = shares.layers[0]
    layer.shares[1] = np.nan
    layer.ordinary[1] = np.nan
    assert shares.not_a_number() == {4: 1}
    assert shares.to_json()["rows"][1]["share"] is None
    assert shares.table(4, 0)[1].share == pytest.approx(0.3)
    assert "layer 4: 1 heads are not a number" in str(shares)
    blank = replace(layer, shares=layer.shares * np.nan, seen=layer.seen * np.nan)
    assert replace(shares, layers=(blank,)).not_a_number() == {}


@pytest.mark.slow
def test_ten_texts_one_after_the_other_keep_nothing(minilm: Model) -> None:
    program = """
import heedmap
from tests.conftest import ROUNDING
model = heedmap.load("minilm")
text = "The cat sat on the mat, and the dog slept by the door of the old house. " * 10
sizes = []
for number in range(10):
    model.spans(f"{number} {text}", {"a": (2, 200), "b": (200, 500)}, of="all")
    status = open("/proc/self/status").read()
    sizes.append(int(status.split("VmRSS:")[1].split()[0]))
print(sizes[1], sizes[9])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    second, tenth = map(int, done.stdout.split())
    assert tenth < 1.05 * second


def test_nothing_of_a_layer_outlives_its_measurement(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[torch.Tensor]] = []
    alive: list[int] = []
    measure = SpanMeter.measure

    def watched(meter: SpanMeter, layer: int, call: AttentionCall) -> LayerShares:
        alive.append(sum(one() is not None for one in seen))
        seen.append(weakref.ref(call.key))
        return measure(meter, layer, call)

    monkeypatch.setattr(SpanMeter, "measure", watched)
    shares = smollm2.spans(TEXT, SPANS, of="all")
    assert len(shares.layers) == len(seen) == 30
    assert max(alive) <= 1
    assert not any(one() is not None for one in seen)
