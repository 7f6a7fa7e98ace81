"""Log-probabilities of continuations, against transformers' own logits, one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedmap.errors import UnsupportedModel
from heedmap.lab import likelihood
from heedmap.lab.likelihood import Choice, log_probabilities, text_ids
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from heedmap.text.tokens import Token
from tests.tiny import DECODERS, tiny_model


def alone(module: Any, prefix: tuple[int, ...], option: tuple[int, ...]) -> np.ndarray:
    """Each token of an option after all before it, from one plain forward pass of this text alone."""
    ids = torch.tensor([[*prefix, *option]])
    with torch.no_grad():
        odds = torch.log_softmax(module(input_ids=ids).logits[0].double(), -1)
    found = [float(odds[place - 1, ids[0, place]]) if place else np.nan for place in range(len(prefix), ids.shape[1])]
    return np.array(found)


def choices(rng: np.random.Generator) -> list[Choice]:
    """Beginnings of several lengths, one empty, with continuations of one to four tokens."""

    def some(count: int) -> tuple[int, ...]:
        return tuple(int(one) for one in rng.integers(3, 99, count))

    lengths = [(5, (1, 1)), (9, (1, 3)), (0, (2, 4)), (12, (2, 2)), (3, (1, 1, 4)), (0, (1, 2)), (30, (4, 1))]
    return [Choice(some(before), tuple(some(one) for one in after)) for before, after in lengths]


@pytest.mark.parametrize("family", sorted(DECODERS))
def test_they_are_those_of_each_text_alone(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "TOGETHER", 4)
    module = tiny_model(family)
    given = choices(np.random.default_rng(0))
    found = log_probabilities(wrap(module, None), given)
    for choice, options in zip(given, found, strict=True):
        assert len(options) == len(choice.options)
        for option, scores in zip(choice.options, options, strict=True):
            # Logits are float32 of size 10 here, and rounded differently in a batch: 1e-4 on their logarithm.
            np.testing.assert_allclose(scores, alone(module, choice.prefix, option), atol=1e-4)


def test_single_tokens_share_a_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    module = tiny_model("llama")
    ran: list[torch.Size] = []
    module.register_forward_pre_hook(lambda _, args, named: ran.append(named["input_ids"].shape), with_kwargs=True)
    model = wrap(module, None)
    ran.clear()  # the check of a model at first use runs it too
    log_probabilities(model, [Choice((5, 6, 7), ((8,), (9,), (10, 11)))])
    assert ran == [torch.Size([1, 5])]


def test_a_token_with_nothing_before_it_has_no_probability() -> None:
    (options,) = log_probabilities(wrap(tiny_model("llama"), None), [Choice((), ((5,), (6,)))])
    assert [np.isnan(one).tolist() for one in options] == [[True], [True]]


def test_an_encoder_gives_none(minilm: Model) -> None:
    with pytest.raises(UnsupportedModel, match="minilm predicts no next token, so that it gives no odds"):
        log_probabilities(minilm, [Choice((1, 2), ((3,), (4,)))])


def test_a_token_put_at_the_end_is_no_part_of_the_text() -> None:
    tokens = [Token(0, 1, "<s>", None, None, True), Token(1, 7, "cat", 0, 3), Token(2, 2, "</s>", None, None, True)]
    assert text_ids(tokens) == [1, 7]
    assert text_ids(tokens[:1]) == []
