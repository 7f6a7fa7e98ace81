"""Direct contributions: with all other parts they add up to the logits, in every family that is not refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import UnsupportedModel
from heedmap.reading.direct import as_array, direct_contributions, first_difference
from heedmap.reading.frozen_norm import freeze
from heedmap.reading.model import Model
from heedmap.text.tokens import Token, Tokens
from tests.families import FAMILIES, tiny_family

REFUSED = {
    "gemma2": "not its output table times the last state",
    "nanochat": "not its output table times the last state",
    "cohere2": "not its output table times the last state",
    "llama4_text": "does not give its input plus what two of its parts",
    "minicpm3": "comes from no normalisation",
    "diffllama": "do not go straight into",
    "inkling_text": "comes from no normalisation",
    "opt": "does not give its input plus what two of its parts",
    "qwen3_next": "do not go straight into",
}
CAUSAL = [name for name, family in FAMILIES.items() if family.auto == "decoder"]
PARTS = {
    "llama": ("model.embed_tokens", "model.layers.{}.self_attn", "model.layers.{}.mlp", "model.norm"),
    "gpt_neox": (
        "gpt_neox.embed_in",
        "gpt_neox.layers.{}.attention",
        "gpt_neox.layers.{}.mlp",
        "gpt_neox.final_layer_norm",
    ),
    "gemma3_text": (
        "model.embed_tokens",
        "model.layers.{}.post_attention_layernorm",
        "model.layers.{}.post_feedforward_layernorm",
        "model.norm",
    ),
}
TOKENS = Tokens("abcdef", tuple(Token(i, number, "a", i, i + 1) for i, number in enumerate([5, 9, 33, 7, 45, 21])))


def wrapped(family: str, tokenizer: Any) -> Model:
    """A tiny model of a family, with biases that are not 0."""
    module = tiny_family(family)
    random = torch.Generator().manual_seed(3)
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1 and "sinks" not in name:
            parameter.data += 0.1 * torch.randn(parameter.shape, generator=random)
    return heedmap.wrap(module, tokenizer)


@pytest.mark.parametrize("family", [name for name in CAUSAL if name not in REFUSED])
def test_the_difference_is_that_of_the_logits(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_family(family), smollm2_tokenizer)
    direct = direct_contributions(model, TOKENS, 4, 50)
    logits = model.read_tokens(TOKENS).logits
    assert logits is not None
    assert direct.difference == pytest.approx(float(logits[4] - logits[50]), abs=1e-5)
    assert as_array(direct).shape == (sum(layer.heads for layer in model.layers),)


@pytest.mark.parametrize("family", PARTS)
def test_heads_and_all_other_parts_add_up_to_the_logits(family: str, smollm2_tokenizer: Any) -> None:
    """Every part of the residual stream by plain hooks, through the last normalisation worked by hand."""
    model = wrapped(family, smollm2_tokenizer)
    module, (embedding, attention, feed_forward, norm) = model.module, PARTS[family]
    left: dict[str, torch.Tensor] = {}
    entered: dict[str, torch.Tensor] = {}

    def watch(name: str) -> Any:
        def hook(_: Any, arguments: tuple[Any, ...], output: Any) -> None:
            left[name] = (output[0] if isinstance(output, tuple) else output)[0, -1].detach().double()
            if arguments:
                entered[name] = arguments[0][0, -1].detach().double()

        return module.get_submodule(name).register_forward_hook(hook)

    layers = range(len(model.layers))
    names = [embedding, norm, *(part.format(layer) for layer in layers for part in (attention, feed_forward))]
    handles = [watch(name) for name in names]
    try:
        model.listen(TOKENS, lambda *_: None)
    finally:
        for handle in handles:
            handle.remove()
    direct = direct_contributions(model, TOKENS, 4, 50)
    last = module.get_submodule(norm)
    stream = entered[norm]
    weight = last.weight.detach().double() + (1 if family == "gemma3_text" else 0)
    table = module.get_output_embeddings().weight.detach().double()
    towards = table[4] - table[50]
    centred = isinstance(last, torch.nn.LayerNorm)
    inner = stream - stream.mean() if centred else stream
    scale = (inner.square().mean() + getattr(last, "eps", getattr(last, "variance_epsilon", 0))).sqrt()

    def through(vector: torch.Tensor) -> float:
        return float((vector - vector.mean() if centred else vector) / scale * weight @ towards)

    by_layer = [through(left[attention.format(layer)]) for layer in layers]
    heads = [direct.heads[layer].sum() for layer in layers]
    if family == "gpt_neox":  # whose output tables have a bias, which is no head's
        heads += [through(module.gpt_neox.layers[n].attention.dense.bias.detach().double()) for n in layers]
        heads = [heads[n] + heads[n + len(layers)] for n in layers]
    np.testing.assert_allclose(heads, by_layer, atol=1e-4)
    others = through(left[embedding]) + sum(through(left[feed_forward.format(layer)]) for layer in layers)
    constant = float(last.bias.detach().double() @ towards) if centred else 0.0
    assert others + sum(by_layer) + constant == pytest.approx(direct.difference, abs=1e-4)


@pytest.mark.parametrize("family", REFUSED)
def test_families_whose_parts_do_not_simply_add_up_are_refused(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_family(family), smollm2_tokenizer)
    with pytest.raises(UnsupportedModel, match=REFUSED[family]):
        direct_contributions(model, TOKENS, 4, 50)


def test_encoders_and_own_code_add_to_no_logit(minilm: Model, smollm2_tokenizer: Any) -> None:
    with pytest.raises(UnsupportedModel, match=r"BertModel has no output table"):
        direct_contributions(minilm, minilm.tokenize("The cat sat."), 5, 6)
    with pytest.raises(UnsupportedModel, match=r"attention code of its own"):
        direct_contributions(heedmap.wrap(tiny_family("bloom"), smollm2_tokenizer), TOKENS, 4, 50)


def test_what_is_no_normalisation_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match=r"act \(Tanh\) is neither a LayerNorm nor an RMSNorm"):
        freeze("act", torch.nn.Tanh(), torch.linspace(-2, 3, 16))
    frozen = freeze("norm", torch.nn.RMSNorm(16), torch.linspace(-2, 3, 16))
    assert not frozen.centred


def test_options_differ_at_their_first_difference() -> None:
    assert first_difference([(5,), (6, 7)]) == (5, 6)


@pytest.mark.parametrize("options", [[(5,), (5, 9)], [(5, 9), (5,)], [(5, 9), (5, 9)]])
def test_options_of_which_one_begins_with_the_other_have_none(options: list[tuple[int, ...]]) -> None:
    with pytest.raises(UnsupportedModel, match="one answer begins with the other, so that no token decides"):
        first_difference(options)
