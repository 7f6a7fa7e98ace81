"""Training mode: where next to nothing is dropped, the output is the plain one; what is dropped is drawn as ever."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.reading.call import AttentionCall
from heedmap.reading.dropout import drop_out
from heedmap.reading.rule import MaskRule
from tests.reading.test_call import calls

NEARLY_NOTHING = 1e-12


@given(calls(), st.booleans())
def test_dropping_nothing_gives_the_plain_output(made: tuple[AttentionCall, torch.Tensor], loaded_eager: bool) -> None:
    call, value = made
    if call.rule.table is not None and not loaded_eager:
        call = replace(call, rule=replace(call.rule, table=None))
    expected, logsumexp = call.compute(value)
    mask = call.rule.materialise(torch.bool, value.device)
    found = drop_out(call, value, mask, NEARLY_NOTHING, loaded_eager)
    live = logsumexp.isfinite()
    torch.testing.assert_close(found[live], expected[live], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("loaded_eager", [True, False])
@pytest.mark.parametrize("kind", ["plain", "softcap", "sinks"])
def test_half_of_the_weights_are_dropped_and_the_others_doubled(kind: str, loaded_eager: bool) -> None:
    kinds: dict[str, dict[str, Any]] = {"softcap": {"softcap": 5.0}, "sinks": {"sinks": torch.ones(1, 2, 1)}}
    query, key = torch.randn(2, 1, 2, 40, 8, generator=torch.Generator().manual_seed(0))
    call = AttentionCall(query, key, MaskRule(40, 40, ahead=0), 0.35, **kinds.get(kind, {}))
    one_each = torch.eye(40)[None, None].expand(1, 2, -1, -1)  # values that let the weights through
    plain, _ = call.compute(one_each)
    torch.manual_seed(3)
    dropped = drop_out(call, one_each, None, 0.5, loaded_eager)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * plain[kept])
    share = float(kept.sum() / (plain > 0).sum())
    assert 0.45 < share < 0.55  # 1,640 weights: half of them, to within five standard deviations and more


def test_both_ways_of_loading_draw_the_same_random_numbers() -> None:
    query, key = torch.randn(2, 1, 2, 20, 8, generator=torch.Generator().manual_seed(0))
    call = AttentionCall(query, key, MaskRule(20, 20, ahead=0), 0.35)
    outputs = []
    for loaded_eager in (True, False):
        torch.manual_seed(3)
        outputs.append(drop_out(call, key, None, 0.5, loaded_eager))
    torch.testing.assert_close(*outputs)


def test_a_row_that_may_look_at_nothing_gives_no_gradient_that_is_not_a_number() -> None:
    query = torch.randn(1, 1, 3, 4, requires_grad=True)
    key = torch.randn(1, 1, 3, 4, requires_grad=True)
    present = torch.tensor([[False, True, True]])
    call = AttentionCall(query, key, MaskRule(3, 3, ahead=0, present=present), 0.5)
    output = drop_out(call, key, None, 0.5, loaded_eager=True)
    assert (output[0, 0, 0] == 0).all()
    output.sum().backward()
    assert query.grad is not None
    assert query.grad.isfinite().all()
