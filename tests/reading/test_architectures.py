"""What people have tripped over in single architectures: windows, softcaps, sinks, huge scores, latent attention."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

from heedmap.reading.layers import attention_layers
from heedmap.reading.listening import LayerListener
from heedmap.reading.tap import Heard, tap
from tests.families import FAMILIES

IDS = torch.randint(3, 99, (1, 12), generator=torch.Generator().manual_seed(1))


def made(family: str, *, auto: Any = AutoModelForCausalLM, std: float | None = None, **changed: Any) -> Any:
    """A tiny random model of a family with other settings."""
    torch.manual_seed(0)
    settings = {**FAMILIES[family].settings, **changed}
    model = auto.from_config(AutoConfig.for_model(family, **settings)).eval()
    for name, parameter in model.named_parameters():
        if std is not None and parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=std)
        if "sinks" in name:
            torch.nn.init.zeros_(parameter)
    return model


def heard_of(model: Any) -> list[Heard]:
    """What is heard of each layer of one text."""
    heard: list[Heard] = []
    layers = attention_layers(model)
    with tap(model, LayerListener(layers, lambda _, one: heard.append(one))), torch.no_grad():
        model(input_ids=IDS, attention_mask=torch.ones_like(IDS))
    return heard


def weights_of(model: Any) -> list[torch.Tensor]:
    """Each layer's maps of one text, [head, query, key]."""
    return [one.call.weights(slice(None), slice(None))[0] for one in heard_of(model)]


def widths(weights: torch.Tensor) -> list[int]:
    """How many keys each query has weight on, over all heads."""
    return [int(row.any(0).sum()) for row in (weights > 0).unbind(1)]


def test_a_window_of_four_holds_four_keys_with_the_token_itself() -> None:
    for weights in weights_of(made("mistral", sliding_window=4)):
        assert widths(weights) == [1, 2, 3, *[4] * 9]


def test_a_window_to_both_sides_in_two_layers_of_three() -> None:
    model = made("modernbert", auto=AutoModel, local_attention=4, global_attn_every_n_layers=3)
    every, *local = weights_of(model)
    assert widths(every) == [12] * 12
    for weights in local:
        assert widths(weights) == [3, 4, *[5] * 8, 4, 3]


def test_a_softcap_bounds_how_far_weights_differ_and_leaks_nothing() -> None:
    later = torch.ones(12, 12, dtype=torch.bool).triu(1)
    model = made("gemma2", attn_logit_softcapping=2.0, std=1.0, sliding_window=64)
    for weights in weights_of(model):
        seen = torch.where(later, torch.nan, weights)
        largest, smallest = seen.nan_to_num(0).amax(-1), seen.nan_to_num(1).amin(-1)
        assert (largest / smallest).max() <= 54.6  # scores lie between -2 and 2: e^4
        assert (largest / smallest).max() > 20  # and the cap does act
        assert (weights[:, later] == 0).all()


def test_a_sink_takes_the_share_that_rows_lack() -> None:
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    heard = heard_of(made("gpt_oss", sliding_window=4, layer_types=kinds))
    shares = []
    for one in heard:
        weights, sink = one.call.weights(slice(None), slice(None))[0], one.call.sink_share(slice(None))
        assert sink is not None
        torch.testing.assert_close(weights.sum(-1) + sink[0], torch.ones(4, 12))
        shares.append(weights.sum(-1))
    # Fresh weights are nearly equal, and a sink of score 0 counts as one more key: n / (n + 1).
    assert [float(one[:, 0].mean()) for one in shares] == pytest.approx([1 / 2] * 3, abs=0.01)
    assert [float(one[:, -1].mean()) for one in shares] == pytest.approx([4 / 5, 12 / 13, 4 / 5], abs=0.01)


def test_huge_scores_do_not_beat_the_mask() -> None:
    model = made("gpt_neox")
    attention_layers(model)  # checks the weights, and keeps what it found: of scores of 4e7 rounding alone leaves units
    with torch.no_grad():
        for layer in model.gpt_neox.layers:
            layer.attention.query_key_value.weight.mul_(2e4)
    later = torch.ones(12, 12, dtype=torch.bool).triu(1)
    for weights in weights_of(model):
        assert (weights[:, later] == 0).all()
        assert (weights[:, ~later] > 0).any()


def test_latent_attention_has_keys_and_values_of_different_sizes() -> None:
    for one in heard_of(made("deepseek_v3")):
        assert (one.call.query.shape[-1], one.call.key.shape[-1], one.value.shape[-1]) == (24, 24, 16)
        weights = one.call.weights(slice(None), slice(None))[0]
        assert weights.shape == (4, 12, 12)
        torch.testing.assert_close(weights.sum(-1), torch.ones(4, 12))
