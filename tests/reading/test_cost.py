"""The cost of a run, estimated before it starts: compared with what torch counts, told, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import heedmap
from heedmap.errors import TooLarge
from heedmap.reading import cost as cost_module
from heedmap.reading import memory
from heedmap.reading.cost import Cost, estimate, operations_text, time_text
from heedmap.reading.layers import attention_layers
from heedmap.reading.model import Model
from tests.tiny import FAMILIES, tiny_ids, tiny_model


def counted_operations(model: Any, length: int) -> int:
    """What torch itself counts in an eager forward pass, where every product is a plain one."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        keep = {"logits_to_keep": 1} if family_keeps_logits(model) else {}
        model(input_ids=tiny_ids(length), **keep)
    return int(counter.get_total_flops())


def family_keeps_logits(model: Any) -> bool:
    import inspect

    return "logits_to_keep" in inspect.signature(type(model).forward).parameters


@pytest.mark.parametrize("family", FAMILIES)
def test_the_arithmetic_is_what_torch_counts(family: str) -> None:
    length = 100
    model = tiny_model(family, implementation="eager")
    layers = attention_layers(model)
    whole = counted_operations(model, length)
    found = estimate(model, layers, length)
    # Eager attention computes the forbidden half of a causal map too; ours is counted without it.
    pairs = sum(layer.heads for layer in layers) * length * length
    eager_attention = 4 * 16 * pairs
    # BERT's pooler is counted for every token, but runs for one: 5 percent here, less in any real model.
    assert found.table_operations == pytest.approx(whole - eager_attention, rel=0.06)
    if family in ("bert", "roberta", "distilbert"):
        assert found.attention_operations == pytest.approx(eager_attention)
    elif family in ("mistral", "gemma3_text"):
        assert found.attention_operations < 0.5 * eager_attention
    else:
        assert found.attention_operations == pytest.approx(eager_attention / 2)


def test_a_window_is_counted_as_a_band() -> None:
    model = tiny_model("mistral")  # windows of 6
    found = estimate(model, attention_layers(model), 100)
    cells = sum(min(row, 6) for row in range(1, 101))
    assert found.attention_operations == pytest.approx(3 * 4 * 4 * 16 * cells, rel=0.01)


def test_what_is_kept_is_counted_to_the_byte(smollm2: Model) -> None:
    tokens = smollm2.tokenize("The cat sat on the mat because it was tired.")
    for layers, values in ((None, False), ([3, 7], False), ([3], True)):
        reading = smollm2.read_tokens(tokens, layers=layers, values=values)
        parts = [
            part
            for call in reading.calls.values()
            for part in (call.query, call.key, call.logsumexp, call.value, call.output)
            if part is not None
        ]
        kept = sum(part.numel() * part.element_size() for part in parts)
        assert smollm2.cost(len(tokens), layers=layers, values=values).kept == kept


def test_attention_calls_of_statistics_are_added(smollm2: Model) -> None:
    once = estimate(smollm2.module, smollm2.layers, 512)
    thrice = estimate(smollm2.module, smollm2.layers, 512, attention_calls=3)
    assert thrice.attention_operations == 3 * once.attention_operations
    assert thrice.table_operations == once.table_operations
    assert once.kept == 0


def test_experts_that_do_not_work_are_not_counted() -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = {"vocab_size": 99, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    options = {**sizes, "num_key_value_heads": 2, "intermediate_size": 32, "num_local_experts": 8}
    module = AutoModelForCausalLM.from_config(AutoConfig.for_model("mixtral", **options, num_experts_per_tok=2))
    experts = sum(part.numel() for name, part in module.named_parameters() if ".experts." in name)
    layers = tiny_layers(module)
    all_work = estimate(module, layers, 10)
    module.config.num_experts_per_tok = 8
    assert estimate(module, layers, 10).table_operations - all_work.table_operations == 2 * 10 * experts * 6 / 8


def tiny_layers(module: Any) -> Any:
    return attention_layers(module.eval())


def test_long_runs_and_large_ones_are_worth_telling(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_module, "_rates", lambda *_: (1e10, 1e10))
    monkeypatch.setattr(memory, "free_memory", lambda _: 1 << 40)
    monkeypatch.setattr(cost_module, "free_memory", lambda _: 1 << 40)
    short, long = smollm2.cost(15), smollm2.cost(4096)
    assert long.seconds == pytest.approx(145, rel=0.02)
    assert (short.is_worth_telling, long.is_worth_telling) == (False, True)
    monkeypatch.setattr(cost_module, "free_memory", lambda _: 4 * short.memory * 0.99)
    assert short.is_worth_telling
    monkeypatch.setattr(cost_module, "free_memory", lambda _: 4 * short.memory * 1.01)
    assert not short.is_worth_telling


def test_short_runs_are_not_timed(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_module, "_rates", lambda *_: pytest.fail("timed"))
    monkeypatch.setattr(cost_module, "free_memory", lambda _: None)
    assert not smollm2.cost(15).is_worth_telling


def test_it_says_everything_in_one_line(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_module, "_rates", lambda *_: (1e10, 1e10))
    monkeypatch.setattr(cost_module, "free_memory", lambda _: 20 << 30)
    assert str(smollm2.cost(8192)) == (
        "8,192 tokens: about 4.1 tera operations, 6.8 minutes and 944.4 MiB of memory "
        "(728.4 MiB to keep 30 layers; 20.0 GiB are free)"
    )
    assert "to keep 1 layer;" in str(smollm2.cost(8192, layers=3))


def test_what_cannot_fit_is_refused_with_what_to_ask_for(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda _: 600 << 20)
    refused = r"8,192 tokens and keeping 30 layers needs about 944\.4 MiB, and 600\.0 MiB are free: keep fewer layers"
    with pytest.raises(TooLarge, match=refused):
        smollm2.cost(8192).require()
    smollm2.cost(8192, layers=[12]).require()
    monkeypatch.setattr(memory, "free_memory", lambda _: 100 << 20)
    with pytest.raises(TooLarge, match=r"keeping 1 layer needs .*: read a shorter text, or take a smaller dtype"):
        smollm2.cost(8192, layers=[12]).require()
    monkeypatch.setattr(memory, "free_memory", lambda _: 1 << 10)
    with pytest.raises(TooLarge, match="reading 6 tokens"):
        smollm2.read("The cat sat on the mat")


def test_the_measured_rates_foretell_a_pass_within_reason(smollm2: Model) -> None:
    import time

    found: Cost = smollm2.cost(512, layers=0)
    tokens = smollm2.tokenize("The cat sat on the mat because it was tired. " * 46)
    tokens = replace(tokens, tokens=tokens.tokens[:512])
    start = time.perf_counter()
    smollm2.read_tokens(tokens, layers=0)
    # Other work on the machine can slow either down; the bound only catches a wrong unit or a forgotten factor.
    assert 1 / 20 < (time.perf_counter() - start) / found.seconds < 20


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.01, "1 second"), (59.4, "59 seconds"), (60, "1.0 minutes"), (7200, "2.0 hours")]
)
def test_times_are_named(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0.0 mega"), (1e9, "1.0 giga"), (2.5e15, "2.5 peta")])
def test_operations_are_named(count: float, text: str) -> None:
    assert operations_text(count) == text


def test_a_wrapped_model_knows_its_cost(smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_model("llama", vocab_size=49152), smollm2_tokenizer)
    assert model.cost(100).operations > 0
