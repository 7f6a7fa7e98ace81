"""All maps at once: transformers' own shape and numbers, the cost told first, and a refusal where it does not fit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from heedmap.errors import TooLarge
from heedmap.reading import attentions, memory
from heedmap.reading.attentions import attention_tensors, batch_map
from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskRule
from heedmap.reading.tap import Heard, tap
from tests.tiny import tiny_ids, tiny_model


def heard_calls(family: str, length: int = 12) -> tuple[list[AttentionCall], tuple[torch.Tensor, ...]]:
    """The calls of a tiny model, and the attentions that transformers itself gives."""
    heard: list[Heard] = []
    model: Any = tiny_model(family, implementation="eager")
    ids = tiny_ids(length, batch=2)
    with torch.no_grad(), tap(model, heard.append):
        model(input_ids=ids)
    with torch.no_grad():
        expected = model(input_ids=ids, output_attentions=True).attentions
    return [one.call for one in heard], expected


@pytest.mark.parametrize("cells", [1, 40, 1 << 22])
@pytest.mark.parametrize("family", ["llama", "gpt2", "bert"])
def test_the_tuple_is_that_of_transformers(family: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attentions, "_BLOCK_CELLS", cells)
    calls, expected = heard_calls(family)
    found = attention_tensors(calls, instead="")
    assert len(found) == len(expected) == 3
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape == (2, 4, 12, 12)
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    one = batch_map(calls[2], 3, instead="")
    mean = batch_map(calls[2], None, instead="")
    torch.testing.assert_close(one, expected[2][:, 3].double(), atol=1e-5, rtol=0)
    torch.testing.assert_close(mean, expected[2].double().mean(1), atol=1e-5, rtol=0)


def test_the_cost_is_told_before_the_first_layer() -> None:
    calls, _ = heard_calls("llama")
    told: list[tuple[int, int, str]] = []
    attention_tensors(calls, lambda *state: told.append(state), instead="")
    assert told[0] == (0, 3, "all maps of 3 layers x 4 heads, 12 x 12, 13.5 KiB")
    assert [state[:2] for state in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def long_call(length: int) -> AttentionCall:
    """A call of any length that takes no memory: one number, seen from everywhere."""
    vectors = torch.zeros(()).expand(1, 9, length, 64)
    rule = MaskRule(length, length, ahead=0)
    return AttentionCall(vectors, vectors[:, :3], rule, 0.125, logsumexp=torch.zeros(()).expand(1, 9, length))


def test_what_does_not_fit_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda _: 16 << 30)
    with pytest.raises(
        TooLarge, match=r"30 layers x 9 heads, 8,192 x 8,192 needs about 67\.5 GiB, and 16\.0 GiB are free: less"
    ):
        attention_tensors([long_call(8192)] * 30, instead="less")
    with pytest.raises(TooLarge, match=r"a map of 65,536 x 65,536 needs about 32\.0 GiB"):
        batch_map(long_call(65536), 3, instead="a row")


def test_no_calls_give_no_tensors() -> None:
    assert attention_tensors([], instead="") == ()
