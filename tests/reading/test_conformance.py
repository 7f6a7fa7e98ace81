"""Every family that is said to be read rightly, against transformers' own eager attention."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from heedmap.reading.layers import attention_layers
from tests.conformance import SIDES, TOLERANCE, agreement
from tests.families import FAMILIES, tiny_family

tiny = functools.cache(tiny_family)

LOADED = [*((side, None) for side in SIDES), ("left", "eager")]
"""Where the padding is, and how the model was loaded: for eager attention it gets masks that are added."""


@pytest.mark.parametrize(("side", "implementation"), LOADED)
@pytest.mark.parametrize("name", FAMILIES)
def test_weights_equal_those_of_eager_and_outputs_those_of_the_untouched_model(
    name: str, side: str, implementation: str | None
) -> None:
    found = agreement(name, side, implementation, make=tiny)
    assert found.weights <= found.bound
    assert found.output <= TOLERANCE


@pytest.mark.parametrize("name", FAMILIES)
def test_layers_keep_the_models_own_numbers(name: str) -> None:
    layers = attention_layers(tiny(name, implementation=None))
    stacks: dict[str, list[int]] = {}
    for layer in layers:
        stacks.setdefault(layer.stack, []).append(layer.number)
    if FAMILIES[name].auto == "encoder-decoder":
        assert stacks == {"encoder": [0, 1, 2], "decoder": [0, 1], "cross": [0, 1]}
    else:
        assert stacks == {"": list(FAMILIES[name].layers)}


@pytest.mark.parametrize("name", ["gpt_oss", "granite_swa", "granitemoe_swa"])
def test_the_sinks_share_is_what_the_rows_lack(name: str) -> None:
    found: Any = agreement(name, "none", make=tiny)
    assert 0.05 < found.sinks < 1
    assert found.sums_with_sinks == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", ["glm_moe_dsa", "deepseek_v32"])
def test_no_weight_on_keys_that_were_not_picked(name: str) -> None:
    # Each query picks 4 of 12 keys, so that a row has at most 4 weights.
    assert agreement(name, "none", make=tiny).most_keys == 4


@pytest.mark.parametrize(("name", "keys"), [("mistral", 6), ("gemma2", 12), ("modernbert", 12), ("llama4_text", 12)])
def test_windows_bound_the_number_of_keys(name: str, keys: int) -> None:
    assert agreement(name, "none", make=tiny).most_keys == keys
