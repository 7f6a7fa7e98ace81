"""The page's rules allow what the model's masks allow, and are bits only where no rule says it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.drawing.page.rules import PageRule, page_rule
from heedmap.reading.rule import MaskRule


def cells(rule: MaskRule) -> np.ndarray:
    allowed = rule.allowed(torch.arange(rule.queries), torch.arange(rule.keys))[0]
    return np.asarray(allowed.expand(-1, rule.queries, rule.keys).numpy())


bands = st.builds(
    MaskRule,
    queries=st.integers(1, 9),
    keys=st.integers(1, 9),
    query_offset=st.integers(0, 4),
    key_offset=st.integers(0, 4),
    back=st.none() | st.integers(0, 9),
    ahead=st.none() | st.integers(0, 9),
)


@given(rule=bands, absent=st.lists(st.integers(0, 8)), heads=st.integers(1, 3))
def test_a_band_with_padding_needs_no_bits(rule: MaskRule, absent: list[int], heads: int) -> None:
    present = ~torch.isin(torch.arange(rule.keys), torch.tensor(absent, dtype=torch.long))[None]
    rule = replace(rule, present=present)
    mine = page_rule(rule)
    assert mine.bits is None
    assert np.array_equal(mine.allowed(), cells(rule))
    assert mine.cells(heads) == heads * int(cells(rule).sum())


@given(data=st.data(), heads=st.sampled_from([1, 3]))
def test_any_table_is_kept_exactly(data: st.DataObject, heads: int) -> None:
    size = data.draw(st.integers(2, 7))
    flags = data.draw(st.lists(st.booleans(), min_size=heads * size * size, max_size=heads * size * size))
    rule = MaskRule(size, size, table=torch.tensor(flags).reshape(1, heads, size, size))
    mine = page_rule(rule)
    assert np.array_equal(np.broadcast_to(mine.allowed(), cells(rule).shape), cells(rule))
    assert mine.cells(heads) == int(cells(rule).sum())
    assert mine.is_causal == (not np.triu(cells(rule).any(0), 1).any())


@pytest.mark.parametrize("ahead", [0, None])
def test_a_table_that_says_no_more_than_a_rule_becomes_that_rule(ahead: int | None) -> None:
    """transformers hands over causal masks as tables: as bits they would weigh more than the weights."""
    table = torch.ones(1, 1, 5, 5).bool()
    rule = MaskRule(5, 5, table=table.tril() if ahead == 0 else table)
    assert page_rule(rule).same_as(PageRule(5, 5, ahead=ahead))


def test_bits_are_packed_a_mask_at_a_time() -> None:
    bits = np.eye(3, dtype=bool)[None].repeat(2, 0)
    part = PageRule(3, 3, bits=bits).part()
    assert part is not None
    assert part.numbers.shape == (2, 2)
    assert np.unpackbits(part.numbers[1].astype(np.uint8))[:9].reshape(3, 3).tolist() == np.eye(3).tolist()
