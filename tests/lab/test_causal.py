"""The experiment `causal`: real models, planted leaks of every kind, and tests that could not have seen anything."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from heedmap.lab.causal import Causal, CausalSettings
from heedmap.lab.data import Contrast
from heedmap.lab.experiment import Finding, Item
from heedmap.lab.rows import Rows
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from tests.tiny import tiny_model

TROPHY = (
    "The trophy did not fit in the suitcase because it was too big.",
    "The trophy did not fit in the suitcase because it was too small.",
)
SHORT = ("The cat sat on the mat.", "The cat sat on the old mat and purred.")


def find(model: Model, *pairs: tuple[str, str], **settings: Any) -> Finding:
    """The finding on some pairs."""
    items = [Item(str(number), len(texts[0]), Contrast(str(number), "f", texts)) for number, texts in enumerate(pairs)]
    own = CausalSettings(**settings)
    rows = Causal().measure(model, items, own)
    return Causal().conclude(Rows({"item": item.id, **row} for item, row in zip(items, rows, strict=True)), own)


def tiny(family: str, tokenizer: Any, **overrides: Any) -> Model:
    """A small random model that takes the words of another one."""
    return wrap(tiny_model(family, vocab_size=len(tokenizer), **overrides), tokenizer)


@pytest.fixture(scope="module")
def llama(smollm2_tokenizer: Any) -> Model:
    return tiny("llama", smollm2_tokenizer)


def values(finding: Finding) -> dict[str, Any]:
    return {name.removeprefix("causal."): figure.value for name, figure in finding.figures.items()}


def test_smollm2_is_causal(smollm2: Model) -> None:
    finding = find(smollm2, TROPHY)
    figures = values(finding)
    assert finding.verdict == "causal"
    assert figures["largest_before"] == figures["weights.largest_before"] == figures["logits.largest_before"] == 0
    assert figures["logits.largest_after"] > 1
    assert all(figures[f"layer{layer}.states_after"] > 0 for layer in range(30))
    assert figures["layer5.head4.weights_before"] == 0


def test_an_encoder_is_not_causal_as_built(minilm: Model) -> None:
    finding = find(minilm, TROPHY)
    assert finding.verdict == "not causal, as built"
    assert "as the layers' own masks allow" in finding.sentence
    figures = values(finding)
    assert figures["states.largest_before"] > 0.01
    assert figures["logits.largest_before"] is None or np.isnan(figures["logits.largest_before"])
    assert any("no" in line or "logits" in line for line in finding.does_not_show)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3_text", "gpt2", "gpt_neox", "bert", "distilbert"])
def test_families_are_what_they_are(family: str, smollm2_tokenizer: Any) -> None:
    verdict = "not causal, as built" if family in ("bert", "distilbert") else "causal"
    assert find(tiny(family, smollm2_tokenizer), TROPHY, SHORT).verdict == verdict


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe", "qwen3_next", "jamba"])
def test_experts_and_recurrences_are_causal(family: str, smollm2_tokenizer: Any) -> None:
    """An expert multiplies as many rows as tokens chose it, later ones among them: rounding before the texts part."""
    assert find(tiny(family, smollm2_tokenizer), TROPHY, SHORT).verdict == "causal"


def test_differences_are_those_of_two_plain_runs(llama: Model) -> None:
    figures = values(find(llama, TROPHY))
    ids = [llama.tokenize(text).ids for text in TROPHY]
    split = next(place for place, (one, other) in enumerate(zip(*ids, strict=True)) if one != other)
    with torch.no_grad():
        runs = [llama.module(torch.tensor([one]), output_hidden_states=True) for one in ids]
    apart = (runs[0].logits - runs[1].logits).abs()[0]
    # Two runs of one shape: what the tap asks for may round otherwise, by some 1e-6 of numbers up to 1.
    assert figures["logits.largest_after"] == pytest.approx(apart[split:].max().item(), abs=1e-5)
    assert apart[:split].max() < 1e-5
    for layer in range(3):
        apart = (runs[0].hidden_states[layer + 1] - runs[1].hidden_states[layer + 1]).abs()[0]
        assert figures[f"layer{layer}.states_after"] == pytest.approx(apart[split:].max().item(), abs=1e-5)


@contextmanager
def leaking(model: Model, layer: int, share: float) -> Iterator[None]:
    """The feed-forward part of a layer adds a share of what comes after each token: a leak that no weight shows."""

    def hook(part: Any, given: Any, output: torch.Tensor) -> torch.Tensor:
        later = output.flip(1).cumsum(1).flip(1) - output
        return output + share * later

    handle = model.module.model.layers[layer].mlp.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("share", [1.0, 1e-2, 1e-4])
def test_a_planted_leak_outside_attention_is_found(llama: Model, share: float) -> None:
    assert find(llama, TROPHY).verdict == "causal"
    with leaking(llama, 1, share):
        finding = find(llama, TROPHY, SHORT)
    assert finding.verdict == "not causal"
    assert "although the masks forbid it" in finding.sentence
    figures = values(finding)
    assert figures["layer0.states_before"] == 0
    assert figures["layer1.states_before"] > 0
    assert figures["leaking"] == 2


@pytest.mark.parametrize(("dtype", "found", "lost"), [("float32", 2e-5, 1e-7), ("bfloat16", 0.5, 1e-3)])
def test_the_smallest_leak_that_is_found(llama: Model, dtype: str, found: float, lost: float) -> None:
    """It is said: a leak is found from some roundings of the dtype on, and below them no leak is claimed either."""
    model = wrap(copy.deepcopy(llama.module).to(getattr(torch, dtype)), llama.tokenizer)
    with leaking(model, 1, found):
        assert find(model, TROPHY).verdict == "not causal"
    with leaking(model, 1, lost):
        finding = find(model, TROPHY)
    assert finding.verdict == "causal"
    assert any("a smaller leak would not be seen" in line for line in finding.shows)


def test_a_leak_in_the_last_layer_reaches_no_weight(llama: Model) -> None:
    """Weights prove nothing: here all of them are equal before, and states and logits are not."""
    with leaking(llama, 2, 1.0):
        figures = values(find(llama, TROPHY))
    assert figures["weights.largest_before"] == 0
    assert figures["logits.largest_before"] > 0


def test_a_model_that_hears_nothing_cannot_tell(llama: Model) -> None:
    def deaf(part: Any, given: Any, output: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(output)

    handle = llama.module.model.embed_tokens.register_forward_hook(deaf)
    try:
        finding = find(llama, TROPHY)
    finally:
        handle.remove()
    assert finding.verdict == "cannot tell"
    assert "could not have seen anything" in finding.sentence


def test_texts_that_part_at_once_cannot_tell(llama: Model) -> None:
    finding = find(llama, ("Cats sat.", "Dogs sat."))
    assert finding.verdict == "cannot tell"
    assert values(finding)["usable"] == 0


def test_a_text_and_its_beginning_cannot_tell(llama: Model) -> None:
    """Where one text is the beginning of the other there is nothing after the point where they part."""
    assert find(llama, ("The cat sat", "The cat sat down")).verdict == "cannot tell"


def test_states_that_are_no_numbers_cannot_tell(llama: Model) -> None:
    def broken(part: Any, given: Any, output: torch.Tensor) -> torch.Tensor:
        return output * float("nan")

    handle = llama.module.model.layers[1].mlp.register_forward_hook(broken)
    try:
        assert find(llama, TROPHY).verdict == "cannot tell"
    finally:
        handle.remove()


def test_texts_of_other_lengths_differ_by_rounding_alone(llama: Model) -> None:
    finding = find(llama, SHORT)
    assert finding.verdict == "causal"
    figures = values(finding)
    assert (figures["same_length"], figures["largest_before"], figures["weights.largest_before"]) == (0, 0, 0)
    assert any("8 times" in line for line in finding.shows)


def test_what_counts_as_rounding_is_far_above_what_lengths_make(llama: Model) -> None:
    """The bound is a measured one: in texts of two lengths rounding stays below half of it."""
    row = next(iter(Causal().measure(llama, [Item("0", 1, Contrast("0", "f", SHORT))], CausalSettings())))
    assert (row["states_apart_before"] <= 4 * row["states_rounding"]).all()
    assert (row["states_rounding"] < 2e-5).all()


def test_unused_pairs_are_counted(llama: Model) -> None:
    figures = values(find(llama, TROPHY, ("Cats sat.", "Dogs sat.")))
    assert (figures["pairs"], figures["usable"], figures["leaking"], figures["seeing"]) == (2, 1, 0, 1)


def test_layers_without_attention_are_covered(smollm2_tokenizer: Any) -> None:
    """A hybrid: its convolution layers have states and no weights, and a leak in one of them is found."""
    hybrid = tiny_hybrid(smollm2_tokenizer)
    assert len(hybrid.other_layers) > 0
    finding = find(hybrid, TROPHY)
    assert finding.verdict == "causal"
    table = {row[0]: row for row in finding.tables["layers"].rows}
    for layer in hybrid.other_layers:
        assert table[layer][1] is None
        assert table[layer][4] > 0  # type: ignore[operator]

    def hook(part: Any, given: Any, output: torch.Tensor) -> torch.Tensor:
        return output + output.mean(1, keepdim=True)

    silent = next(iter(hybrid.other_layers))
    handle = hybrid.module.model.layers[silent].feed_forward.register_forward_hook(hook)
    try:
        leaky = find(hybrid, TROPHY)
    finally:
        handle.remove()
    assert leaky.verdict == "not causal"
    assert values(leaky)[f"layer{silent}.states_before"] > 0


def tiny_hybrid(tokenizer: Any) -> Model:
    """Lfm2: short convolutions, and attention in one layer of three."""
    from transformers import AutoConfig, AutoModelForCausalLM

    configuration = AutoConfig.for_model(
        "lfm2", vocab_size=len(tokenizer), hidden_size=64, intermediate_size=64, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, layer_types=["conv", "full_attention", "conv"],
        block_auto_adjust_ff_dim=False, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    return wrap(AutoModelForCausalLM.from_config(configuration).eval(), tokenizer)
