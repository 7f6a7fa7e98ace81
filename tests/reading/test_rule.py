"""Mask rules: the band against its definition, and the slice of keys that a block of queries can reach."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import heedmap
from heedmap.reading.rule import MaskRule, told_apart
from tests.families import tiny_family
from tests.reading.test_two_stacks import word_tokenizer

reach = st.none() | st.integers(0, 12)


@st.composite
def bands(draw: st.DrawFn) -> MaskRule:
    earlier = draw(st.integers(0, 10))
    return MaskRule(
        queries=draw(st.integers(1, 15)),
        keys=draw(st.integers(1, 25)),
        query_offset=earlier,
        key_offset=draw(st.integers(0, earlier)),
        back=draw(reach),
        ahead=draw(reach),
    )


def whole(rule: MaskRule) -> torch.Tensor:
    return rule.materialise(torch.bool, torch.device("cpu"))[0, 0]


@given(bands())
def test_a_band_allows_what_its_definition_says(rule: MaskRule) -> None:
    allowed = whole(rule)
    for row in range(rule.queries):
        for column in range(rule.keys):
            distance = (row + rule.query_offset) - (column + rule.key_offset)
            expected = (rule.back is None or distance <= rule.back) and (rule.ahead is None or -distance <= rule.ahead)
            assert bool(allowed[row, column]) == expected


@given(bands(), st.data())
def test_the_key_range_holds_every_allowed_key(rule: MaskRule, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, rule.queries - 1))
    stop = data.draw(st.integers(start + 1, rule.queries))
    low, high = rule.key_range(start, stop)
    reached = whole(rule)[start:stop].any(0).nonzero().flatten().tolist()
    assert all(low <= key < high for key in reached)
    if reached:
        # As narrow as a band can be: its ends are reached, but for keys that do not exist.
        assert low == min(reached)
        assert high == max(reached) + 1


@given(bands())
def test_what_kernels_know_by_a_flag_is_recognised_only_where_true(rule: MaskRule) -> None:
    allowed = whole(rule)
    assert rule.allows_everything == bool(allowed.all())
    if rule.is_full_causal:
        assert allowed.equal(torch.ones(rule.queries, rule.keys, dtype=torch.bool).tril())


def test_tables_and_padding_are_cut_out_of_the_band() -> None:
    table = torch.tensor([[[[0.0, -0.5, torch.finfo(torch.float32).min], [0.0, 0.0, 0.0]]]])
    present = torch.tensor([[True, True, True], [False, True, True]])
    rule = MaskRule(2, 3, batch=2, present=present, table=table)
    rows, columns = torch.arange(2), torch.arange(3)
    assert rule.allowed(rows, columns).tolist() == [
        [[[True, True, False], [True, True, True]]],
        [[[False, True, False], [False, True, True]]],
    ]
    bias = rule.bias(rows, columns)
    assert bias is not None
    assert bias.tolist() == [[[[0.0, -0.5, 0.0], [0.0, 0.0, 0.0]]]]
    assert rule.bias_is_added
    assert rule.for_text(1).allowed(rows, columns).tolist() == [[[[False, True, False], [False, True, True]]]]
    assert not rule.crop_keys(1).bias_is_added


@pytest.mark.parametrize("forbids", [-1e4, -1e9])
@pytest.mark.parametrize("family", ["llama", "mistral", "gpt2", "gpt_neox", "bert", "distilbert"])
def test_a_mask_of_large_numbers_forbids(family: str, forbids: float) -> None:
    """Its keys are not among those that a query may look at: an even look is one over the others."""
    model = tiny_family(family)
    forbidden = torch.ones(7, 7).triu(1).bool()
    forbidden[4:, 2] = True
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])
    found = []
    for number in (forbids, torch.finfo(torch.float32).min):
        table = torch.zeros(1, 1, 7, 7).masked_fill(forbidden, number)
        with heedmap.watch(model, word_tokenizer()) as watched, torch.no_grad():
            plain = model(input_ids=ids, attention_mask=table)[0]
        torch.testing.assert_close(plain, model(input_ids=ids, attention_mask=table)[0], atol=1e-5, rtol=0)
        (reading,) = watched.readings
        assert reading.row("@6", 1).allowed.tolist() == (~forbidden[6]).tolist()
        found.append(reading.stats())
    for name in ("normalised_entropy", "entropy", "distance"):
        np.testing.assert_allclose(found[0][name], found[1][name], atol=1e-5)


def test_a_bias_is_no_mask() -> None:
    distance = torch.arange(30_000.0)[None, None, None]
    torch.testing.assert_close(told_apart(-distance), -distance)
    whole_row = torch.full((1, 1, 1, 4), -1e4)
    torch.testing.assert_close(told_apart(whole_row), whole_row)
    allowed = torch.ones(1, 1, 2, 2, dtype=torch.bool)
    assert told_apart(allowed) is allowed
