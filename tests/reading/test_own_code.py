"""Families with attention code of their own: the weights that their eager attention makes, a layer at a time."""

from __future__ import annotations

import functools
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

import heedmap
from heedmap.errors import ReadingError, TooLarge, UnsupportedModel
from heedmap.reading import own_code
from heedmap.reading.layers import attention_layers
from heedmap.reading.model import Model
from heedmap.reading.own_code import KNOWN, NO_PLAIN_MAP, has_own_code, run_own_code
from heedmap.reading.reading import Reading
from heedmap.reading.tap import Heard
from tests.conformance import TOLERANCE, answer, own_code_agreement
from tests.conftest import ROUNDING
from tests.families import OWN_CODE, tiny_family
from tests.reading.test_two_stacks import SOURCE, word_tokenizer

IDS = torch.randint(3, 99, (1, 12), generator=torch.Generator().manual_seed(1))

tiny = functools.cache(tiny_family)


@functools.cache
def model_of(family: str) -> Model:
    return heedmap.wrap(tiny_family(family), word_tokenizer(), name=family)


def heard_of(model: Any, ids: torch.Tensor = IDS) -> list[Heard]:
    heard: list[Heard] = []
    run_own_code(model, ids, heard.append)
    return heard


def test_the_families_that_are_known_are_those_that_are_tested() -> None:
    assert set(KNOWN) == set(OWN_CODE)
    assert not set(KNOWN) & set(NO_PLAIN_MAP)


@pytest.mark.parametrize("family", OWN_CODE)
def test_weights_are_those_that_the_model_reports(family: str) -> None:
    model = tiny(family)
    assert has_own_code(model)
    assert own_code_agreement(family) <= TOLERANCE
    with torch.no_grad():
        plain = answer(model(input_ids=IDS, attention_mask=torch.ones_like(IDS)))
    last = run_own_code(model, IDS, lambda _: None)
    torch.testing.assert_close(last, plain[:, -last.shape[1] :], atol=1e-5, rtol=1e-5)
    assert len(attention_layers(model)) == len(heard_of(model)) == 3


@pytest.mark.parametrize("family", ["bloom", "mpt"])
def test_equal_tokens_differ_by_their_distance_alone(family: str) -> None:
    # Both conventions of ALiBi add slope x place, up to a constant a row; the second of four heads has slope 1/16.
    heard = heard_of(tiny(family), torch.full((1, 8), 5))
    row = heard[0].call.weights(slice(7, 8), slice(None), slice(1, 2))[0, 0, 0]
    expected = torch.softmax(torch.arange(8) / 16, 0)
    torch.testing.assert_close(row, expected, atol=1e-5, rtol=0)
    assert (round(float(row[0]), 3), round(float(row[7]), 3)) == (0.099, 0.154)


@pytest.mark.parametrize("family", ["bloom", "falcon", "mpt", "gpt_neo", "xglm"])
def test_later_tokens_are_forbidden(family: str) -> None:
    every = torch.arange(12)
    for one in heard_of(tiny(family)):
        allowed = one.call.rule.allowed(every, every)[0, 0]
        assert not allowed[torch.ones(12, 12, dtype=torch.bool).triu(1)].any()
    if family == "gpt_neo":
        assert heard_of(tiny(family))[1].call.rule.allowed(every, every)[0, 0].sum(-1).max() == 6


def test_one_layers_map_is_in_memory_at_a_time() -> None:
    alive: list[weakref.ref[torch.Tensor]] = []

    def receive(heard: Heard) -> None:
        assert all(one() is None for one in alive)
        assert heard.call.bias is not None
        alive.append(weakref.ref(heard.call.bias))

    run_own_code(tiny("bloom"), IDS, receive)
    assert len(alive) == 3


def test_the_model_is_left_as_it_was_found() -> None:
    model = tiny_family("falcon").train()
    hooks = sum(len(part._forward_hooks) for part in model.modules())
    with pytest.raises(ZeroDivisionError):
        run_own_code(model, IDS, lambda _: 1 // 0)  # type: ignore[arg-type]
    assert model.config._attn_implementation == "sdpa"
    assert sum(len(part._forward_hooks) for part in model.modules()) == hooks
    assert all(part.training for part in model.modules())


@pytest.mark.parametrize("family", ["bloom", "deberta-v2"])
def test_rows_maps_and_statistics_work(family: str, tmp_path: Path) -> None:
    reading = model_of(family).read(SOURCE)
    whole = np.stack([np.asarray(reading.map(1, head)) for head in range(4)])
    row = reading.row("cat", layer=1, head=2)
    np.testing.assert_allclose(row.weights, whole[2, 1], atol=ROUNDING)
    assert row.sum == pytest.approx(1, abs=ROUNDING)
    assert list(row.allowed) == ([True] * 2 + [False] * 5 if family == "bloom" else [True] * 7)
    stats = model_of(family).stats(SOURCE, layers=1, received=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(whole * np.log(whole), axis=-1)[:, 1:].mean(-1)
    np.testing.assert_allclose(stats["first"], whole[:, 1:, 0].mean(-1), atol=ROUNDING)
    np.testing.assert_allclose(stats["entropy"], entropy, atol=1e-5)
    np.testing.assert_allclose(reading.received(1, 2).sums, whole[2].sum(0), atol=1e-5)
    reading.save(tmp_path / "reading.safetensors")
    opened = Reading.open(tmp_path / "reading.safetensors")
    np.testing.assert_allclose(np.asarray(opened.map(1, 2)), whole[2], atol=ROUNDING)
    assert opened.model["weights_from"] == "eager attention"


def test_what_is_not_heard_is_refused() -> None:
    model = model_of("bloom")
    with pytest.raises(UnsupportedModel, match=r"BloomForCausalLM has attention code of its own: .* not its values"):
        model.read(SOURCE, values=True)
    reading = model.read(SOURCE)
    with pytest.raises(UnsupportedModel, match="not its values"):
        reading.explain("cat", layer=1)
    with pytest.raises(ReadingError, match=r"bloom has attention code of its own: .* not its scores"):
        reading.map(1, 0, scores=True)
    with pytest.raises(UnsupportedModel, match="attention code of its own"), heedmap.watch(model.module):
        pass


def test_maps_that_do_not_fit_are_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from heedmap.reading import memory

    monkeypatch.setattr(memory, "free_memory", lambda device="cpu": 100)
    with pytest.raises(TooLarge):
        own_code.require_layer_maps(1, 4, 7, torch.device("cpu"))


def test_a_model_that_says_something_else_under_eager_attention_is_refused() -> None:
    # Falcon's own two functions differ where it biases by distance.
    settings = {**OWN_CODE["falcon"].settings, "alibi": True}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("falcon", **settings)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.15)
    with pytest.raises(UnsupportedModel, match="FalconForCausalLM says something else when its attention is read"):
        attention_layers(model)


SMALL: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "longformer": ({**SMALL, "attention_window": 4}, r"LongformerModel \(longformer\) has no weight from every token"),
    "big_bird": (SMALL, "it looks at blocks"),
    "nystromformer": (SMALL, "landmarks"),
    "yoso": (SMALL, "hashing"),
    "fnet": (SMALL, "Fourier"),
    "rwkv": ({"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2}, r"\(rwkv\) .* it has no attention"),
    "convbert": (SMALL, r"ConvBertModel \(convbert\) has attention code of its own, which is not known"),
}


@pytest.mark.parametrize("family", REFUSED)
def test_families_without_a_plain_map_are_refused_by_name(family: str) -> None:
    settings, message = REFUSED[family]
    model = AutoModel.from_config(AutoConfig.for_model(family, **settings)).eval()
    with pytest.raises(UnsupportedModel, match=message):
        attention_layers(model)


def test_what_looks_like_weights_and_is_none_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match=r"layer 0 \(Linear\): its weights are not shares of 1 \(off by 3\)"):
        own_code._refuse_other_sums(torch.nn.Linear(1, 1), "layer 0", torch.ones(1, 1, 4, 4))


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("causal", [True, False])
def test_small_weights_of_half_precision_are_no_mask(causal: bool, window: int | None) -> None:
    scores = 30 * torch.randn(1, 2, 12, 12, generator=torch.Generator().manual_seed(2))
    places = torch.arange(12)
    back = places[:, None] - places
    allowed = (back >= 0 if causal else back >= -11) & (back < (window or 12))
    half = scores.masked_fill(~allowed, -torch.inf).softmax(-1).half()
    assert bool((half == 0)[0].all(0)[allowed].any())  # it does underflow
    rule = own_code._heard("layer", half).call.rule
    found = rule.allowed(places, places)[0, 0]
    assert not bool((found & ~allowed).any())
    assert int((found != allowed).sum()) < int((allowed & (half == 0)[0].all(0)).sum())
    if causal and window:
        assert torch.equal(found, allowed)


@pytest.mark.parametrize("family", ["bloom", "gpt_neo", "megatron-bert"])
def test_sharp_heads_see_all_keys_in_every_precision(family: str) -> None:
    counts = []
    for dtype in (torch.float32, torch.float16):
        model = tiny_family(family)
        for name, table in model.named_parameters():
            if any(part in name for part in ("query", "q_proj", "k_proj", "key")) and table.ndim == 2:
                table.data *= 3
        reading = heedmap.wrap(model.to(dtype), word_tokenizer()).read(SOURCE)
        counts.append([np.asarray(reading.map(layer, 0).allowed()).sum(1).tolist() for layer in (0, 1)])
    assert counts[0] == counts[1]
    assert counts[0][0] == ([7] * 7 if family == "megatron-bert" else [1, 2, 3, 4, 5, 6, 7])
