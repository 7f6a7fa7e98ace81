"""The statistics of every family, with padding on either side, against transformers' own eager attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_measure import measure
from heedmap.reading.tap import Heard, tap
from tests.families import VOCABULARY
from tests.reading.test_statistics import whole_statistics
from tests.reading.test_tap import forward, padded
from tests.tiny import FAMILIES, tiny_ids, tiny_model

BENT: dict[str, dict[str, Any]] = {
    # Caps on scores, and windows in every other layer.
    "gemma2": {"head_dim": 16, "sliding_window": 4, "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 1},
    # A learned sink a head, and windows in every other layer.
    "gpt_oss": {"head_dim": 16, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
}


def model_of(family: str, implementation: str) -> Any:
    """A tiny random model."""
    if family in FAMILIES:
        return tiny_model(family, implementation=implementation)
    configuration = AutoConfig.for_model(
        family,
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        pad_token_id=0,
        **BENT[family],
    )
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(configuration, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.15 if parameter.ndim >= 2 else 1.0)
    return model


@pytest.mark.parametrize("side", ["none", "left", "right"])
@pytest.mark.parametrize("family", [*FAMILIES, *BENT])
def test_statistics_are_those_of_the_eager_weights_without_padding(family: str, side: str) -> None:
    ids, mask = padded(tiny_ids(14, batch=2), side)
    expected = forward(model_of(family, "eager"), ids, mask, output_attentions=True).attentions
    heard: list[Heard] = []
    model = model_of(family, "sdpa" if family in FAMILIES else "eager")
    with tap(model, heard.append):
        forward(model, ids, mask)
    assert all((one.call.softcap is not None) == (family == "gemma2") for one in heard)
    assert all((one.call.sinks is not None) == (family == "gpt_oss") for one in heard)
    special = torch.arange(14) % 3 == 0
    for one, eager in zip(heard, expected, strict=True):
        for text in (0, 1):
            real = mask[text].bool()
            found = measure(one.call, COLUMNS, special, received=True, text=text)
            weights = eager[text][:, real][:, :, real].double().numpy()
            want = whole_statistics(weights, special[real].numpy())
            if family == "gpt_oss":
                want["sink"] = 1 - weights.sum(-1)
            for name in want.keys() - {"received", "normalised_entropy"}:
                values = found.values[name][:, real].numpy()
                # A tiny model's scores are a few units: weights within 1e-5, sums over 14 keys within ten times that.
                np.testing.assert_allclose(values, want[name], rtol=1e-4, atol=1e-4, err_msg=f"{name} {text}")
            assert found.received is not None
            np.testing.assert_allclose(found.received.sums[:, real].numpy(), want["received"], rtol=1e-4, atol=1e-6)
            assert torch.equal(found.padding, ~real)
            assert not found.dead.any()
