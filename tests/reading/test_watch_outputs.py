"""Under `watch` a model returns what it returns without it: outputs, weights, losses, gradients, in every family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import heedmap
from tests.families import FAMILIES, family_inputs, tiny_family
from tests.watched_families import WATCHED, tiny_watched, watched_inputs

ALL = [*FAMILIES, *WATCHED]


def tiny(name: str, **options: Any) -> tuple[Any, dict[str, torch.Tensor]]:
    """A model of a family, and inputs for it."""
    if name in WATCHED:
        return tiny_watched(name, **options), watched_inputs(name)
    return tiny_family(name, **options), family_inputs(name, "none")


def answer(output: Any) -> torch.Tensor:
    found = next(output[name] for name in ("logits", "logits_per_image", "last_hidden_state") if name in output)
    assert isinstance(found, torch.Tensor)
    return found


def gradients(model: Any, loss: Callable[[], torch.Tensor]) -> dict[str, torch.Tensor]:
    """The gradients of a loss, by parameter, and the loss."""
    model.zero_grad()
    torch.manual_seed(7)
    value = loss()
    value.backward()
    found = {name: part.grad.clone() for name, part in model.named_parameters() if part.grad is not None}
    return {**found, "loss": value.detach()}


def assert_same(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    # The same function on the same numbers; a mask may come in another form, which changes the order of sums.
    assert found.keys() == expected.keys()
    for name, one in expected.items():
        scale = max(float(one.abs().max()), 1e-3)
        torch.testing.assert_close(found[name] / scale, one / scale, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", ALL)
def test_gradients_are_those_without_the_watch(name: str, training: bool) -> None:
    model, inputs = tiny(name)
    model.train(training)

    def loss() -> torch.Tensor:
        return answer(model(**inputs)).square().mean()

    expected = gradients(model, loss)
    with heedmap.watch(model) as watched:
        found = gradients(model, loss)
    assert watched.forwards[0].calls
    assert_same(found, expected)


@pytest.mark.parametrize("name", ALL)
def test_the_weights_that_eager_attention_returns_are_returned_with_their_gradients(name: str) -> None:
    model, inputs = tiny(name, implementation="eager")

    def outputs(value: Any) -> list[torch.Tensor]:
        """All weights in what a model returned, wherever they stand."""
        found = []
        for key, one in value.items():
            if "attentions" in key and one is not None:
                found += [weights for weights in one if weights is not None]
            elif hasattr(one, "items"):
                found += outputs(one)
        return found

    def loss() -> torch.Tensor:
        weights = outputs(model(**inputs, output_attentions=True))
        assert weights
        return torch.stack([one.square().mean() for one in weights]).sum()

    expected = gradients(model, loss)
    with heedmap.watch(model):
        found = gradients(model, loss)
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["gpt_oss", "granite_swa"])
def test_a_gradient_of_a_learned_sink_is_the_finite_difference(name: str) -> None:
    model, inputs = tiny(name)
    sinks = next(part for key, part in model.named_parameters() if "sink" in key)

    def loss() -> torch.Tensor:
        return answer(model(**inputs)).square().mean()

    with heedmap.watch(model):
        loss().backward()
    step = 0.03
    with torch.no_grad():
        sinks += step
        above = loss()
        sinks -= 2 * step
        below = loss()
    assert sinks.grad is not None
    # The square of the step is 0.001, and rounding of a loss near 1 gives 1e-7 / 0.06 beside a gradient of about 0.01.
    torch.testing.assert_close(sinks.grad.sum(), (above - below) / (2 * step), rtol=0.01, atol=1e-4)


@pytest.mark.parametrize("implementation", [None, "eager"])
@pytest.mark.parametrize("name", ALL)
def test_under_autocast_a_watched_model_says_what_it_says_without(name: str, implementation: str | None) -> None:
    model, inputs = tiny(name, implementation=implementation)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        expected = answer(model(**inputs))
        with heedmap.watch(model) as watched:
            found = answer(model(**inputs))
    assert watched.forwards[0].calls
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, atol=1e-2, rtol=1e-2)
    for call in watched.forwards[0].calls:
        assert call.call is not None
        exact = call.call.made_exact()
        sums = exact.weights(slice(None), slice(None)).sum(-1)
        assert float(sums.max()) < 1 + 1e-5
