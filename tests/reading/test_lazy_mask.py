"""The lazy masks against transformers' own, cell by cell, and that they really are lazy."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.masking_utils import (
    and_masks,
    bidirectional_mask_function,
    blockwise_overlay,
    causal_mask_function,
    chunked_causal_mask_function,
    eager_mask,
    or_masks,
    sdpa_mask,
    sliding_window_bidirectional_mask_function,
    sliding_window_causal_mask_function,
)

from heedmap.reading.lazy_mask import LazyMask, lazy_bool_mask, lazy_float_mask
from heedmap.reading.rule import MaskRule

FUNCTIONS: dict[str, Any] = {
    "causal": lambda size, batch: causal_mask_function,
    "bidirectional": lambda size, batch: bidirectional_mask_function,
    "window": lambda size, batch: sliding_window_causal_mask_function(size),
    "window both ways": lambda size, batch: sliding_window_bidirectional_mask_function(size),
    "chunks": lambda size, batch: chunked_causal_mask_function(size, torch.zeros(batch, dtype=torch.long)),
    "image block": lambda size, batch: or_masks(
        causal_mask_function, blockwise_overlay(torch.arange(64).expand(batch, -1) // size - 1)
    ),
    "own": lambda size, batch: lambda b, h, q, k: (q + k) % (size + 1) != 0,
    "own in a window": lambda size, batch: and_masks(
        sliding_window_causal_mask_function(size), lambda b, h, q, k: (q + k + b) % 3 != 0
    ),
}
BANDS = ("causal", "bidirectional", "window", "window both ways")


@given(
    name=st.sampled_from(sorted(FUNCTIONS)),
    size=st.integers(1, 9),
    queries=st.integers(1, 20),
    earlier=st.integers(0, 20),
    dropped=st.integers(0, 5),
    batch=st.integers(1, 3),
    padding=st.none() | st.integers(0, 2**60 - 1),
)
def test_materialised_masks_equal_those_of_transformers(
    name: str, size: int, queries: int, earlier: int, dropped: int, batch: int, padding: int | None
) -> None:
    dropped = min(dropped, earlier)
    keys = earlier - dropped + queries
    present = None
    if padding is not None:
        bits = [(padding >> place) & 1 for place in range(60)]
        present = torch.tensor(bits).repeat(batch)[: batch * (earlier + queries)].reshape(batch, -1).bool()
    arguments: dict[str, Any] = {
        "batch_size": batch,
        "q_length": queries,
        "kv_length": keys,
        "q_offset": earlier,
        "kv_offset": dropped,
        "mask_function": FUNCTIONS[name](size, batch),
        "attention_mask": present,
    }
    expected = sdpa_mask(**arguments, allow_is_causal_skip=False)
    assert expected is not None
    mask = lazy_bool_mask(**arguments)
    assert mask.shape == (batch, 1, queries, keys)
    assert mask.materialise().equal(expected.expand(mask.shape))
    assert lazy_float_mask(**arguments).materialise().equal(eager_mask(**arguments).expand(mask.shape))
    if name in BANDS:
        assert mask.rule.pattern is None


def test_any_operation_sees_the_real_mask() -> None:
    arguments: dict[str, Any] = {"batch_size": 1, "q_length": 4, "kv_length": 4}
    mask = lazy_float_mask(**arguments)
    real = eager_mask(**arguments)
    torch.testing.assert_close(torch.zeros(4, 4) + mask, torch.zeros(4, 4) + real)
    assert type(mask[..., :2]) is torch.Tensor
    assert mask[..., :2].equal(real[..., :2])
    assert torch.softmax(mask, -1)[0, 0, 0].tolist() == [1, 0, 0, 0]


def test_a_function_that_only_looks_like_a_band_is_kept_whole() -> None:
    """A recognised rule is compared with the function; here the closure's window is not the one it names."""
    liar: Any = sliding_window_causal_mask_function(5)
    overlay = liar.__closure__[0].cell_contents[0]
    overlay.__code__ = (lambda batch_idx, head_idx, q_idx, kv_idx: kv_idx >= 0).__code__.replace(
        co_freevars=overlay.__code__.co_freevars, co_flags=overlay.__code__.co_flags
    )
    mask = lazy_bool_mask(batch_size=1, q_length=9, kv_length=9, mask_function=liar)
    expected = sdpa_mask(1, 9, 9, mask_function=liar, allow_is_causal_skip=False)
    assert expected is not None
    assert mask.materialise().equal(expected)


@pytest.mark.parametrize("name", ["causal", "window", "chunks"])
def test_a_long_mask_takes_no_room_until_somebody_looks(name: str) -> None:
    length = 65_536  # the whole mask would take 4 GiB
    mask = lazy_bool_mask(batch_size=1, q_length=length, kv_length=length, mask_function=FUNCTIONS[name](512, 1))
    assert isinstance(mask, LazyMask)
    assert mask.rule.key_range(60_000, 60_001) == ((0, 60_001) if name == "causal" else (59_489, 60_001))


@pytest.mark.parametrize("padded", [True, False])
def test_a_mask_that_moves_to_another_device_stays_a_rule(padded: bool) -> None:
    """A device map moves masks along with each layer's inputs; a whole one would be N x N on each device."""
    length = 1 << 20  # a whole mask of this size would be a terabyte
    present = torch.ones(1, length, dtype=torch.bool) if padded else None
    mask = LazyMask(MaskRule(length, length, ahead=0, present=present), torch.bool, torch.device("cpu"))
    moved = mask.to("meta", non_blocking=True)
    assert isinstance(moved, LazyMask)
    assert moved.device == torch.device("meta")
    assert moved.shape == mask.shape
    assert (moved.rule.queries, moved.rule.ahead) == (length, 0)
    if moved.rule.present is not None:
        assert moved.rule.present.device == torch.device("meta")
    assert (moved.rule.present is not None) == padded
