"""Weights that were missing, empty or another model's: what people got from fused attention, and what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedConfig, PreTrainedModel, XLNetConfig, XLNetLMHeadModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import heedmap
from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.model import Model
from heedmap.reading.tap import switchable_configurations, tap
from tests.tiny import tiny_ids, tiny_model
from tests.tiny_stacks import tiny_llava, tiny_llava_inputs, tiny_pixels, tiny_vit

CAT = "The cat sat on the mat"


def test_a1_every_layer_of_a_model_loaded_with_no_flag(smollm2: Model) -> None:
    """A1: the matrices of a decoder loaded as usual, and its logits as those of the untouched model."""
    reading = smollm2.read(CAT)
    for weights in reading.attentions():
        assert weights.shape == (1, 9, 6, 6)
        torch.testing.assert_close(weights.sum(-1), torch.ones(1, 9, 6), atol=1e-5, rtol=0)
        assert (weights[..., torch.ones(6, 6, dtype=torch.bool).triu(1)] == 0).all()
    assert len(reading.attentions()) == 30
    with torch.no_grad():
        untouched = smollm2.module(torch.tensor([reading.tokens.ids])).logits[0, -1]
    assert reading.logits is not None
    torch.testing.assert_close(reading.logits, untouched, atol=1e-3, rtol=0)


def test_a2_a_vision_model_with_its_default_attention() -> None:
    """A2: a vision model gives one whole matrix, watched or read; a text is refused with the way to read a picture."""
    model = tiny_vit()
    with heedmap.watch(model) as watched:
        model(pixel_values=tiny_pixels())
    (weights,) = watched.forwards[0].attentions()
    assert weights.shape == (1, 2, 17, 17)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 17))
    wrapped = heedmap.wrap(model, ViTImageProcessorPil(size={"height": 32, "width": 32}))
    picture = np.random.default_rng(0).integers(0, 256, (48, 48, 3))
    assert wrapped.read_picture(picture).vision.map(0, 0).shape == (17, 17)
    with pytest.raises(ReadingError, match=r"takes pictures, not text: read one with model\.read_picture"):
        wrapped.read("a cat")


def test_a4_attention_of_another_shape_is_refused() -> None:
    """A4: what is called attention but has three dimensions is a clear error, not a picture."""
    model = tiny_model("llama")
    attention = ALL_ATTENTION_FUNCTIONS["heedmap_tap"]
    flat = torch.zeros(12, 4, 16)
    with (
        pytest.raises(UnsupportedModel, match=r"LlamaAttention calls attention with a query of shape \(12, 4, 16\)"),
        tap(model, lambda _: None),
    ):
        attention(model.model.layers[0].self_attn, flat, flat, flat, None)


@pytest.mark.parametrize("loaded", ["sdpa", "eager"])
@pytest.mark.parametrize("asked", ["sdpa", "eager"])
def test_a5_the_live_setting_of_every_part_decides_and_stays(loaded: str, asked: str) -> None:
    """A5: a configuration that says another back end than the one that runs: the weights are right all the same."""
    model = tiny_model("llama", implementation=loaded)
    model.config._attn_implementation_internal = asked
    before = [part._attn_implementation for part in switchable_configurations(model)]
    with heedmap.watch(model) as watched, torch.no_grad():
        model(input_ids=tiny_ids())
    reference = tiny_model("llama", implementation="eager")
    with torch.no_grad():
        expected = reference(input_ids=tiny_ids(), output_attentions=True).attentions
    for found, weights in zip(watched.forwards[0].attentions(), expected, strict=True):
        torch.testing.assert_close(found, weights, atol=1e-5, rtol=0)
    assert [part._attn_implementation for part in switchable_configurations(model)] == before


def test_a6_a_vision_tower_with_a_setting_of_its_own() -> None:
    """A6: text and vision tower are both read, whatever the top setting says, and both keep their own."""
    model = tiny_llava()
    model.model.vision_tower.config._attn_implementation_internal = "eager"
    before = [part._attn_implementation for part in switchable_configurations(model)]
    assert set(before) == {"sdpa", "eager"}
    with heedmap.watch(model) as watched:
        model(**tiny_llava_inputs())
    (forward,) = watched.forwards
    (text,) = forward.attentions(stack="language_model")
    (vision,) = forward.attentions(stack="vision_tower")
    assert (text.shape, vision.shape) == ((1, 2, 20, 20), (1, 2, 17, 17))
    for weights in (text, vision):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:3]))
    assert [part._attn_implementation for part in switchable_configurations(model)] == before


def test_a7_a_model_that_refuses_to_be_asked_for_weights_still_gives_them(smollm2: Model) -> None:
    """A7: asking the configuration for weights after loading raises, and all 30 layers are delivered without it."""
    with pytest.raises(ValueError, match="output_attentions"):
        smollm2.module.config.output_attentions = True
    assert len(smollm2.read(CAT).attentions()) == 30


def test_a7_a_model_that_was_asked_for_weights_is_read_too() -> None:
    """A7: an eager model whose configuration asks for weights is read as any other."""
    model = tiny_model("llama", implementation="eager")
    model.config.output_attentions = True
    with heedmap.watch(model) as watched:
        model(input_ids=tiny_ids())
    assert [weights.shape for weights in watched.forwards[0].attentions()] == [(1, 4, 12, 12)] * 3


class OwnConfiguration(PreTrainedConfig):
    model_type = "own"


class OwnAttention(PreTrainedModel):
    """Somebody's own modelling code: it never hands weights on."""

    config_class = OwnConfiguration

    def __init__(self, configuration: Any) -> None:
        super().__init__(configuration)
        self.embed = torch.nn.Embedding(99, 8)
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: torch.Tensor, output_attentions: bool = False, **_: Any) -> BaseModelOutput:
        vectors = self.embed(input_ids)
        mixed, _weights = self.attention(vectors, vectors, vectors, need_weights=False)
        return BaseModelOutput(last_hidden_state=mixed)


def test_a8_own_modelling_code_is_refused_by_name() -> None:
    """A8: a model whose code drops the request for weights: an error that names the class, not an empty picture."""
    model: Any = OwnAttention(OwnConfiguration())
    with pytest.raises(UnsupportedModel, match="OwnAttention names no vocab_size"):
        heedmap.wrap(model, None)
    model.config.vocab_size = 99
    with pytest.raises(UnsupportedModel, match=r"OwnAttention \(own\) never called an attention function"):
        heedmap.wrap(model, None)
    with pytest.raises(UnsupportedModel, match="OwnAttention"), heedmap.watch(model):
        pass


def test_a9_layers_differ_and_rows_are_not_renormalised(smollm2: Model) -> None:
    """A9: a hook that never fires gives the same numbers for every layer; here layers 3 and 20 differ."""
    reading = smollm2.read(CAT)
    early, late = np.asarray(reading.map(3, 0)), np.asarray(reading.map(20, 0))
    assert np.abs(early - late).max() > 0.1
    for weights in (early, late):
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)


def test_a10_query_and_key_alone_give_the_weights_of_eager(smollm2: Model) -> None:
    """A10: the fused kernel has no weights to give; softmax over the query and key that went into it has."""
    call = smollm2.read(CAT, layers=0).call(0)
    query, key = call.query[0].double(), call.key[0].double().repeat_interleave(3, 0)
    scores = (query @ key.transpose(1, 2) * call.scale).masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf)
    with torch.no_grad():
        smollm2.module.set_attn_implementation("eager")
        try:
            ids = torch.tensor([smollm2.tokenize(CAT).ids])
            expected = smollm2.module(ids, output_attentions=True).attentions[0][0]
        finally:
            smollm2.module.set_attn_implementation("sdpa")
    torch.testing.assert_close(torch.softmax(scores, -1).float(), expected, atol=1e-5, rtol=0)


def test_a11_a_model_of_two_streams_shows_the_one_that_a_plain_text_runs() -> None:
    """A11: each layer of XLNet may give a pair of matrices. A plain text runs one stream, which is read; a forward
    call of one's own, which may ask for both, is refused by name."""
    sizes: dict[str, Any] = {"vocab_size": 99, "d_model": 32, "n_layer": 1, "n_head": 2, "d_inner": 37}
    module: Any = XLNetLMHeadModel(XLNetConfig(**sizes)).eval()
    assert [layer.heads for layer in heedmap.wrap(module, None).layers] == [2]
    with (
        pytest.raises(UnsupportedModel, match=r"XLNetLMHeadModel has attention code of its own \(xlnet\)"),
        heedmap.watch(module),
    ):
        pass
