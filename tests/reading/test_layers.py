"""Finding a model's attention layers, and refusing by name what would be read wrongly."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from packaging.version import Version
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, BartConfig, BartForCausalLM

from heedmap.errors import OutOfRange, UnsupportedModel
from heedmap.models.load import ModelSource
from heedmap.reading import layers as layers_module
from heedmap.reading import tap as tap_module
from heedmap.reading.forward import predicts_next_token
from heedmap.reading.kept_calls import check_layer
from heedmap.reading.layer_kinds import layers_without_attention
from heedmap.reading.layers import attention_layers, other_layers, position_limit
from heedmap.reading.listening_model import describe
from tests import families
from tests.families import tiny_family
from tests.tiny import FAMILIES, tiny_model


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_carry_the_models_own_numbers_and_heads(family: str) -> None:
    found = attention_layers(tiny_model(family))
    grouped = "num_key_value_heads" in FAMILIES[family]
    assert [layer.number for layer in found] == [0, 1, 2]
    assert {(layer.heads, layer.key_value_heads) for layer in found} == {(4, 2 if grouped else 4)}


def test_the_model_is_checked_once() -> None:
    model = tiny_model("llama")
    assert attention_layers(model) is attention_layers(model)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_pass_the_check(dtype: torch.dtype) -> None:
    assert len(attention_layers(tiny_model("llama").to(dtype))) == 3


def test_a_training_model_is_left_training() -> None:
    model = tiny_model("llama").train()
    model.model.layers[1].eval()
    attention_layers(model)
    assert model.training
    assert not model.model.layers[1].training


@pytest.mark.parametrize(("family", "limit"), [("llama", 128), ("gpt2", 128), ("bert", 128), ("roberta", 127)])
def test_position_limits(family: str, limit: int) -> None:
    model = tiny_model(family)
    assert position_limit(model) == limit
    ids = torch.full((1, limit), 5)
    with torch.no_grad():
        model(input_ids=ids)  # the last position exists
    if family in ("bert", "roberta", "gpt2"):
        with pytest.raises((IndexError, RuntimeError)), torch.no_grad():
            model(input_ids=torch.full((1, limit + 1), 5))


HYBRIDS = {
    "qwen3_next": {0: "linear_attention", 2: "linear_attention"},
    "lfm2": {0: "conv", 2: "conv"},
    "jamba": {0: "mamba", 2: "mamba"},
}


@pytest.mark.parametrize("name", HYBRIDS)
def test_layers_without_attention_are_listed_as_such(name: str) -> None:
    model = tiny_family(name)
    assert other_layers(model) == HYBRIDS[name]
    about = describe(model, ModelSource(name, "wrapped", name, None, None), attention_layers(model))
    assert about["layers_without_attention"] == {str(number): kind for number, kind in HYBRIDS[name].items()}


def test_asking_for_a_layer_without_attention_says_what_it_is() -> None:
    model = tiny_family("jamba")
    layers = attention_layers(model)
    about = describe(model, ModelSource("jamba", "wrapped", "jamba", None, None), layers)
    assert check_layer(3, layers, about) == 3
    with pytest.raises(
        OutOfRange, match=r"layer 2 has no attention \(it is a mamba layer\); layers with attention: 1, 3"
    ):
        check_layer(2, layers, about)
    with pytest.raises(OutOfRange, match=r"layer 4 is out of range; layers with attention: 1, 3"):
        check_layer(4, layers, about)


def test_silent_layers_that_should_have_attention_are_refused() -> None:
    model = tiny_family("jamba")
    layers = attention_layers(model)
    model.config.attn_layer_offset = 0  # now the configuration says that the silent layers are those with attention
    with pytest.raises(UnsupportedModel, match=r"attention was heard in 2 of them, not in layer 0"):
        layers_without_attention(model, layers)


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    **{name: (AutoModelForCausalLM, settings, message) for name, (settings, _, message) in families.REFUSED.items()},
    "audio-spectrogram-transformer": (
        AutoModel,
        {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
        r"ASTModel \(audio-.*\) takes input_values, .* inside `with heedmap.watch\(module\)",
    ),
    "swin": (
        AutoModel,
        {"image_size": 32, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
        r"SwinModel \(swin\) has no weight from every token to every token: it looks within windows",
    ),
    "vit_mae": (
        AutoModel,
        {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2},
        r"ViTMAEModel \(vit_mae\) has no weight from every token to every token: it drops three patches of four",
    ),
}


@pytest.mark.parametrize("family", REFUSED)
def test_what_cannot_be_read_rightly_is_refused_by_name(family: str) -> None:
    if family == "inkling2_text" and Version(transformers.__version__) < Version("5.24"):
        pytest.skip("before transformers 5.24 its look at earlier layers called no attention function: it was read")
    auto, settings, message = REFUSED[family]
    model = auto.from_config(AutoConfig.for_model(family, **settings))
    with pytest.raises(UnsupportedModel, match=message):
        attention_layers(model)


def wrong_scale(module: Any, query: Any, key: Any, value: Any, mask: Any = None, **options: Any) -> Any:
    """An attention function that reads a scale other than the one it was given."""
    return tap_module._attention(module, query, key, value, mask, **{**options, "scaling": 1.0})


def test_a_model_that_would_say_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AttentionInterface

    AttentionInterface.register(tap_module._NAME_FOR_BOOL_MASKS, wrong_scale)
    try:
        with pytest.raises(UnsupportedModel, match="LlamaForCausalLM says something else when its attention is read"):
            attention_layers(tiny_model("llama"))
    finally:
        AttentionInterface.register(tap_module._NAME_FOR_BOOL_MASKS, tap_module._attention)


def test_weights_that_do_not_give_the_output_are_refused_by_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    right = tap_module.tap

    def misreport(module: Any, receive: Any) -> Any:
        def twisted(heard: Any) -> None:
            if ".2." in heard.module:
                object.__setattr__(heard.call, "scale", heard.call.scale * 2)
            receive(heard)

        return right(module, twisted)

    monkeypatch.setattr(layers_module, "tap", misreport)
    with pytest.raises(
        UnsupportedModel, match=r"layer 2 of LlamaForCausalLM \(model.layers.2.self_attn, LlamaAttention\)"
    ):
        attention_layers(tiny_model("llama"))


def test_the_decoder_of_an_encoder_decoder_alone_has_its_own_number_of_layers() -> None:
    sizes: dict[str, Any] = {
        "d_model": 32,
        "decoder_attention_heads": 4,
        "decoder_ffn_dim": 32,
        "encoder_layers": 3,
        "vocab_size": 99,
    }
    model = BartForCausalLM(BartConfig(**sizes, decoder_layers=2)).eval()
    assert [layer.number for layer in attention_layers(model)] == [0, 1]


@pytest.mark.parametrize(
    ("name", "says"),
    [("LlamaForCausalLM", True), ("GPT2LMHeadModel", True), ("XLNetLMHeadModel", False), ("XLMWithLMHeadModel", False)],
)
def test_which_models_predict_the_next_token(name: str, says: bool) -> None:
    assert predicts_next_token(type(name, (torch.nn.Module,), {})()) is says
