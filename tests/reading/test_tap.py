"""The tap against transformers' own eager attention, on every family that can be read."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from heedmap.errors import UnsupportedModel
from heedmap.reading.tap import Heard, tap
from tests.tiny import DECODERS, FAMILIES, tiny_ids, tiny_model

TOLERANCE = 1e-5
"""Float32 keeps 24 bits; scores of a few units leave about 1e-6 on a weight, and eager itself is no better."""


def padded(batch: torch.Tensor, side: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The second text shortened by five tokens of padding on one side."""
    mask = torch.ones_like(batch)
    cut = slice(0, 5) if side == "left" else slice(-5, None)
    if side != "none":
        mask[1, cut] = 0
        batch = batch.masked_fill(mask == 0, 0)
    return batch, mask


def forward(model: Any, ids: torch.Tensor, mask: torch.Tensor, **options: Any) -> Any:
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask, **options)


def answer(output: Any) -> torch.Tensor:
    logits = output.logits if "logits" in output else output.last_hidden_state
    assert isinstance(logits, torch.Tensor)
    return logits


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("side", ["none", "left", "right"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_weight_and_the_answer_equal_those_of_eager(family: str, side: str, implementation: str) -> None:
    model = tiny_model(family, implementation=implementation)
    ids, mask = padded(tiny_ids(12, batch=2), side)
    plain = answer(forward(model, ids, mask))
    heard: list[Heard] = []
    with tap(model, heard.append):
        tapped = answer(forward(model, ids, mask))
    reference = tiny_model(family, implementation="eager")
    expected = forward(reference, ids, mask, output_attentions=True).attentions

    live = mask.bool()
    torch.testing.assert_close(tapped[live], plain[live], atol=TOLERANCE, rtol=TOLERANCE)
    assert len(heard) == len(expected)
    for one, weights in zip(heard, expected, strict=True):
        found = one.call.weights(slice(None), slice(None))
        rows = live[:, None, :].expand(found.shape[:3])
        torch.testing.assert_close(found[rows], weights[rows], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("family", DECODERS)
def test_no_weight_on_a_later_token(family: str) -> None:
    model = tiny_model(family)
    ids, mask = padded(tiny_ids(12, batch=2), "left")
    heard: list[Heard] = []
    with tap(model, heard.append):
        forward(model, ids, mask)
    later = torch.ones(12, 12, dtype=torch.bool).triu(1)
    for one in heard:
        assert (one.call.weights(slice(None), slice(None))[..., later] == 0).all()


def test_absent_rows_have_no_weights() -> None:
    model = tiny_model("llama")
    ids, mask = padded(tiny_ids(12, batch=2), "left")
    heard: list[Heard] = []
    with tap(model, heard.append):
        forward(model, ids, mask)
    weights = heard[0].call.weights(slice(None), slice(None))
    assert (weights[1, :, :5] == 0).all()
    assert (weights[1, :, :, :5] == 0).all()


def test_a_window_of_six_shows_six_keys() -> None:
    heard: list[Heard] = []
    model = tiny_model("mistral")
    with tap(model, heard.append):
        forward(model, tiny_ids(12), torch.ones(1, 12, dtype=torch.long))
    seen = (heard[1].call.weights(slice(None), slice(None))[0, 0] > 0).sum(-1)
    assert seen.tolist() == [1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]


def settings(model: Any) -> tuple[Any, ...]:
    return (
        model.config._attn_implementation,
        [part.training for part in model.modules()],
        [parameter.requires_grad for parameter in model.parameters()],
    )


def test_the_model_is_left_as_it_was_found() -> None:
    model = tiny_model("gpt2", attn_pdrop=0.5, resid_pdrop=0.0, embd_pdrop=0.0)
    model.train()
    model.transformer.h[1].eval()
    before = settings(model)
    heard: list[Heard] = []
    with tap(model, heard.append):
        forward(model, tiny_ids(), torch.ones(1, 12, dtype=torch.long))
    assert settings(model) == before
    # Dropout of one half would have doubled some weights and removed others.
    sums = heard[0].call.weights(slice(None), slice(None)).sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_the_model_is_left_as_it_was_found_after_an_error() -> None:
    model = tiny_model("llama").train()
    before = settings(model)
    with pytest.raises(ZeroDivisionError), tap(model, lambda _: 1 // 0):  # type: ignore[arg-type]
        forward(model, tiny_ids(), torch.ones(1, 12, dtype=torch.long))
    assert settings(model) == before


def test_gradients_flow_as_without_the_tap() -> None:
    model = tiny_model("llama")
    ids = tiny_ids()
    model(input_ids=ids, labels=ids).loss.backward()
    expected = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    heard: list[Heard] = []
    with tap(model, heard.append):
        model(input_ids=ids, labels=ids).loss.backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name])
    assert not any(one.call.query.requires_grad or one.output.requires_grad for one in heard)


def test_a_second_thread_waits_and_hears_only_its_own() -> None:
    model = tiny_model("llama")
    counts: dict[int, list[int]] = {}

    def listen(length: int) -> None:
        heard: list[Heard] = []
        for _ in range(5):
            with tap(model, heard.append):
                forward(model, tiny_ids(length), torch.ones(1, length, dtype=torch.long))
        counts[length] = [one.call.query.shape[2] for one in heard]

    threads = [threading.Thread(target=listen, args=(length,)) for length in (5, 6, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {length: [length] * 15 for length in (5, 6, 7)}
    assert model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_two_models_that_share_a_configuration_leave_its_name(implementation: str) -> None:
    """In two threads: whoever ends first must not take the name from the other, nor the other leave it behind."""
    one = tiny_model("llama", implementation=implementation)
    other = type(one)(one.config).eval()
    assert other.config is one.config
    entered, left = threading.Event(), threading.Event()
    heard: list[Heard] = []

    def listen() -> None:
        with tap(other, heard.append):
            entered.set()
            assert left.wait(30)
            with torch.no_grad():
                other(tiny_ids(5))

    thread = threading.Thread(target=listen)
    with tap(one, lambda _: None):
        thread.start()
        assert entered.wait(30)
    left.set()
    thread.join()
    assert len(heard) == one.config.num_hidden_layers
    assert one.config._attn_implementation == implementation


def test_modules_that_are_no_transformers_model_are_refused() -> None:
    with (
        pytest.raises(UnsupportedModel, match="Linear is not a transformers model"),
        tap(torch.nn.Linear(2, 2), lambda _: None),
    ):
        pass


def test_numbers_that_are_not_known_are_refused_by_name() -> None:
    model = tiny_model("llama")
    with (
        pytest.raises(UnsupportedModel, match=r"LlamaAttention gives its attention numbers called 'temperature'"),
        tap(model, lambda _: None),
    ):
        model(input_ids=tiny_ids(), temperature=torch.ones(4))


def test_blocks_picked_by_an_index_are_refused_by_name() -> None:
    model = tiny_model("llama")
    with (
        pytest.raises(UnsupportedModel, match="LlamaAttention picks blocks of keys by an index"),
        tap(model, lambda _: None),
    ):
        model(input_ids=tiny_ids(), block_indices=torch.ones(1, 12, 2, dtype=torch.long))
