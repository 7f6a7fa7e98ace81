"""Edits against removals made by other means: plain hooks, tables multiplied by hand, masks given to the model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import OutOfRange, ReadingError, UnsupportedModel
from heedmap.reading.edits import NONE, HeadMeans, forbid, head_means, remove
from heedmap.reading.forward import run
from heedmap.reading.model import Model
from heedmap.reading.output_table import straight_tables
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING, TROPHY
from tests.families import FAMILIES, tiny_family
from tests.reading.editing import NOT_STRAIGHT, SPARSE, answer, layer_of, tiny_models, tokens_of

BY_HAND = {
    "llama": "model.layers.1.self_attn.o_proj",
    "gpt2": "transformer.h.1.attn.c_proj",
    "bert": "encoder.layer.1.attention.output.dense",
    "deepseek_v3": "model.layers.1.self_attn.o_proj",
    "gpt_oss": "model.layers.1.self_attn.o_proj",
}


@pytest.fixture(scope="module")
def tiny(smollm2_tokenizer: Any) -> Callable[[str], Model]:
    """A tiny model of a family."""
    return tiny_models(smollm2_tokenizer)


def one_stack(names: Any) -> list[str]:
    """The families of one stack."""
    return [name for name in names if FAMILIES[name].auto != "encoder-decoder"]


@pytest.mark.parametrize("family", [name for name in one_stack(FAMILIES) if name not in (*NOT_STRAIGHT, "albert")])
def test_removing_a_head_is_what_a_plain_hook_before_the_output_table_does(
    family: str, tiny: Callable[[str], Model]
) -> None:
    model, number = tiny(family), layer_of(family)
    layer = next(one for one in model.layers if one.number == number)
    table = straight_tables(model.module)[layer.module]
    means = head_means(model, [tokens_of(7)])
    head = layer.heads - 1
    width = len(means.of(number, head))
    part = slice(head * width, (head + 1) * width)

    def fill(value: torch.Tensor | float) -> Any:
        def change(_: Any, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            joined = arguments[0].clone()
            joined[..., part] = value
            return (joined, *arguments[1:])

        return change

    plain = answer(model)
    for edit, value in (
        (remove(number, head, zero=True), 0.0),
        (remove(number, head, means), means.of(number, head).float()),
    ):
        expected = answer(model, hook=(table, fill(value)))
        torch.testing.assert_close(answer(model, edit), expected, rtol=1e-5, atol=1e-5)
        assert float((expected - plain).abs().max()) > 1e-3, "the removal must change something"
    torch.testing.assert_close(answer(model), plain, rtol=0, atol=0)


@pytest.mark.parametrize("family", BY_HAND)
def test_zero_is_the_table_without_the_heads_own_part(family: str, tiny: Callable[[str], Model]) -> None:
    """Zero ablation as TransformerLens does it, worked in the layer's output: less z of the head times its W_O."""
    model, name = tiny(family), BY_HAND[family]
    assert straight_tables(model.module)[next(one for one in model.layers if one.number == 1).module] == name
    call = model.read_tokens(tokens_of(), layers=1, values=True).call(1)
    assert call.value is not None
    table = model.module.get_submodule(name)
    matrix = table.weight.detach() if type(table).__name__ == "Conv1D" else table.weight.detach().T
    head = 2
    weights = call.weights(slice(None), slice(None))[0, head]
    z = weights @ call.value[0, head // (call.heads // call.key_value_heads)]
    width = z.shape[-1]
    lost = z @ matrix[head * width : (head + 1) * width]

    def less(_: Any, __: Any, output: torch.Tensor) -> Any:
        return output - lost

    handle = table.register_forward_hook(less)
    try:
        expected = run(model.module, torch.tensor([tokens_of().ids]))
    finally:
        handle.remove()
    torch.testing.assert_close(answer(model, remove(1, head, zero=True)), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", NOT_STRAIGHT)
def test_heads_that_do_not_go_straight_into_the_table_are_refused_by_name(
    family: str, tiny: Callable[[str], Model]
) -> None:
    with pytest.raises(UnsupportedModel, match=rf"heads of {NOT_STRAIGHT[family]} .* do not go straight into"):
        answer(tiny(family), remove(layer_of(family), 0, zero=True))


@pytest.mark.parametrize("family", [name for name in one_stack(FAMILIES) if name not in SPARSE])
def test_a_forbidden_look_is_the_mask_before_the_softmax(family: str, tiny: Callable[[str], Model]) -> None:
    model, number = tiny(family), layer_of(family)
    heads = next(one.heads for one in model.layers if one.number == number)
    plain = model.read_tokens(tokens_of(), layers=number).call(number)
    looked_at = int(plain.weights(slice(8, 9), slice(None))[0, 1, 0].argmax())
    edit = forbid(["@8", "@7"], looked_at, layers=number, heads=[1])
    edited = model.edited(edit).read_tokens(tokens_of(), layers=number)
    call = edited.call(number)
    scores = plain.scores(slice(None), slice(None)).double()
    scores[:, 1, [7, 8], looked_at] = -torch.inf
    if plain.sinks is not None:
        sink = plain.sinks.double().expand(1, heads, 9).unsqueeze(-1)
        expected = torch.softmax(torch.cat([scores, sink], -1), -1)[..., :-1]
    else:
        expected = torch.softmax(scores, -1)
    found = call.weights(slice(None), slice(None)).double()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=2e-6)
    assert not edited.map(number, 1).allowed()[8, looked_at]
    assert edited.map(number, 0).allowed()[8, looked_at]
    assert edited.map(number).allowed()[8, looked_at]
    assert edited.model["edits"] == edit.to_json()


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt2"])
def test_a_look_forbidden_everywhere_is_a_mask_given_to_the_model(family: str, tiny: Callable[[str], Model]) -> None:
    model = tiny(family)
    ids = torch.tensor([tokens_of().ids])
    allowed = torch.ones(9, 9, dtype=torch.bool).tril()
    if family == "mistral":
        allowed &= torch.ones(9, 9, dtype=torch.bool).triu(-5)  # the window of the tiny models is 6
    allowed[8, 5] = allowed[6, 4] = False
    mask = torch.zeros(1, 1, 9, 9).masked_fill(~allowed, torch.finfo(torch.float32).min)
    eager = tiny_family(family, implementation="eager")
    with torch.no_grad():
        expected = eager(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, -1:]
    edit = forbid("@8", "@5") + forbid("@6", "@4")
    torch.testing.assert_close(answer(model, edit), expected, rtol=1e-4, atol=1e-4)


def test_what_follows_a_forbidden_look_is_the_heads_own_row_worked_by_hand(tiny: Callable[[str], Model]) -> None:
    model = tiny("llama")
    call = model.read_tokens(tokens_of(), layers=1, values=True).call(1)
    assert call.value is not None
    scores = call.scores(slice(None), slice(None))[0, 3].clone()
    scores[8, 2] = -torch.inf
    z = torch.softmax(scores, -1) @ call.value[0, 1]
    width = z.shape[-1]

    def change(_: Any, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        joined = arguments[0].clone()
        joined[0, :, 3 * width :] = z
        return (joined,)

    expected = answer(model, hook=("model.layers.1.self_attn.o_proj", change))
    edit = forbid("@8", "@2", layers=1, heads=3)
    torch.testing.assert_close(answer(model, edit), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt_oss", "gemma2", "modernbert"])
def test_statistics_under_an_edit_are_those_of_the_maps(family: str, tiny: Callable[[str], Model]) -> None:
    model = tiny(family).edited(forbid(["@8", "@5"], ["@0", "@4"], layers=1, heads=[0, 2]))
    reading = model.read_tokens(tokens_of(), layers=1)
    stats = reading.stats(received=True, positions=True)
    for head in range(4):
        weights = np.asarray(reading.map(1, head))
        assert stats.by_position is not None
        np.testing.assert_allclose(stats.by_position["first"][head], weights[:, 0], atol=ROUNDING)
        shares = np.where(weights > 0, weights, 1.0)
        np.testing.assert_allclose(stats.by_position["entropy"][head], -(shares * np.log(shares)).sum(1), atol=1e-4)
        np.testing.assert_allclose(stats.received(1, head).sums, weights.sum(0), atol=1e-5)
        assert weights[8, 0] > 0 or head in (0, 2) or family in ("mistral", "gemma2", "gpt_oss", "modernbert")


def test_texts_of_a_batch_are_edited_as_they_are_alone(smollm2: Model) -> None:
    texts = [TROPHY, "Because it was late, the trophy stayed at home for a day."]
    edit = forbid("it", "@0", layers=[3], heads=[1]) + remove(5, 2, zero=True) + remove(7, 1, zero=True, at="trophy")
    model = smollm2.edited(edit)
    sides: tuple[Any, ...] = ("right", "left")
    for side in sides:
        together = model.read_batch(texts, layers=[3, 8], padding=side)
        for text, reading in zip(texts, together, strict=True):
            alone = model.read(text, layers=[3, 8])
            assert reading.model["edits"] == alone.model["edits"]
            for head in (0, 1):
                np.testing.assert_allclose(np.asarray(reading.map(3, head)), np.asarray(alone.map(3, head)), atol=2e-5)
            np.testing.assert_allclose(np.asarray(reading.map(8, 4)), np.asarray(alone.map(8, 4)), atol=1e-4)
            assert reading.row("it", 3, 1).weights[0] == 0


def test_another_text_stands_in_for_a_head(tiny: Callable[[str], Model]) -> None:
    model = tiny("llama")
    other = Tokens("x", tuple(Token(i, 5 + 3 * i, "x", None, None) for i in range(9)))
    like = model.read_tokens(other, layers=1, values=True)
    output = like.call(1).output
    assert output is not None
    width = output.shape[-1]

    def change(_: Any, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        joined = arguments[0].clone()
        joined[0, 4:6, :width] = output[0, 0, 4:6]
        return (joined,)

    expected = answer(model, hook=("model.layers.1.self_attn.o_proj", change))
    found = answer(model, remove(1, 0, like=like, at=[4, 5]))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ReadingError, match=r"the other text has 7 tokens and this one 9"):
        answer(model, remove(1, 0, like=model.read_tokens(tokens_of(7), values=True)))
    with pytest.raises(ReadingError, match=r"was read without values"):
        answer(model, remove(1, 0, like=model.read_tokens(other)))


def test_edits_add_up_and_name_themselves(smollm2: Model) -> None:
    means = head_means(smollm2, ["The cat sat.", "It rained all day."])
    edit = (
        remove(16, 3, means) + forbid(["it", 3], "trophy", layers=range(2), heads=4) + remove(2, 0, zero=True, at="it")
    )
    reading = smollm2.read(TROPHY, layers=16, edit=edit)
    assert reading.model["edits"] == [
        {"edit": "remove head", "layer": 16, "head": 3, "by": "mean", "texts": 2, "tokens": 10},
        {"edit": "forbid look", "of": ["it", "@3"], "at": ["trophy"], "layers": [0, 1], "heads": [4]},
        {
            "edit": "remove head",
            "layer": 2,
            "head": 0,
            "by": "zero",
            "note": "zero is off the distribution: no text makes the head give it",
            "at": ["it"],
        },
    ]
    assert str(edit) == (
        "layer 16 head 3 replaced by its mean over 2 texts; "
        "“it”, “@3” may not look at “trophy” (layers 0, 1, heads 4); "
        "layer 2 head 0 replaced by zero (off the distribution) at “it”"
    )
    assert str(NONE) == "no edit"
    assert "edits" not in smollm2.read(TROPHY, layers=16).model
    assert smollm2.edited(edit).edited(remove(1, 1, zero=True)).edit.parts[-1].layer == 1  # type: ignore[union-attr]
    assert reading.reader is not None
    assert reading.reader.edit == edit, "what is run again for this reading is edited too"


def test_an_edited_reading_is_saved_with_its_mask_and_its_edits(smollm2: Model, tmp_path: Path) -> None:
    reading = smollm2.read(TROPHY, layers=12, edit=forbid("it", "trophy", heads=[4]))
    reading.save(tmp_path / "edited.safetensors")
    again = heedmap.Reading.open(tmp_path / "edited.safetensors")
    np.testing.assert_allclose(again.row("it", 12, 4).weights, reading.row("it", 12, 4).weights, atol=ROUNDING)
    assert again.row("it", 12, 4).weights[1] == 0
    assert not again.row("it", 12, 4).allowed[1]
    assert again.row("it", 12, 3).weights[1] > 0
    assert again.row("it", 12).allowed[1]
    assert again.model["edits"] == reading.model["edits"]


def test_means_are_those_of_the_outputs_and_are_kept(smollm2: Model, tmp_path: Path) -> None:
    texts = ["The cat sat.", "It rained all day."]
    told: list[tuple[int, int, str]] = []
    means = head_means(smollm2, texts, progress=lambda *state: told.append(state))
    assert told[-1][:2] == (2, 2)
    outputs = [smollm2.read(text, layers=12, values=True).call(12).output for text in texts]
    joined = torch.cat([output[0] for output in outputs if output is not None], 1).double()
    torch.testing.assert_close(means.values[12], joined.mean(1), rtol=1e-6, atol=1e-7)
    means.save(tmp_path / "means.safetensors")
    again = HeadMeans.open(tmp_path / "means.safetensors")
    torch.testing.assert_close(again.of(12, 4), means.of(12, 4), rtol=0, atol=0)
    assert (again.texts, again.tokens, again.model) == (2, 10, means.model)
    assert str(again) == "means of 30 layers of smollm2 over 2 texts, 10 tokens"


def test_an_encoder_decoder_is_edited_stack_by_stack(tiny: Callable[[str], Model]) -> None:
    source, target = "The cat sat", "on the"
    two = heedmap.wrap(_with_vocabulary("t5"), tiny("llama").tokenizer)
    plain = two.read(source, target=target)
    edited = two.read(source, target=target, edit=forbid("@1", "@2", layers=0, heads=[1], stack="cross"))
    assert plain.cross.map(0, 1)[1, 2] > 0
    assert edited.cross.map(0, 1)[1, 2] == 0
    assert edited.cross.map(0, 2)[1, 2] == pytest.approx(plain.cross.map(0, 2)[1, 2], abs=ROUNDING)
    assert edited.cross.model["edits"][0]["stack"] == "cross"
    assert np.abs(np.asarray(edited.decoder.map(1, 0)) - np.asarray(plain.decoder.map(1, 0))).max() > 1e-5
    removed = two.read(source, target=target, edit=remove(1, 0, zero=True, stack="encoder"))
    assert np.abs(np.asarray(removed.encoder.map(2, 0)) - np.asarray(plain.encoder.map(2, 0))).max() > 1e-5
    np.testing.assert_allclose(
        np.asarray(removed.encoder.map(1, 0)), np.asarray(plain.encoder.map(1, 0)), atol=ROUNDING
    )
    with pytest.raises(OutOfRange, match=r"there is no stack '': give stack=, one of encoder, decoder, cross"):
        two.read(source, target=target, edit=forbid("@1", "@0"))


def _with_vocabulary(family: str) -> Any:
    """A tiny encoder-decoder with as many word vectors as the real tokenizer has words."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    torch.manual_seed(0)
    settings = {**FAMILIES[family].settings, "vocab_size": 49152}
    model: Any = AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(family, **settings)).eval()
    for parameter in model.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
    return model


def test_layers_that_share_a_module_are_edited_one_by_one(tiny: Callable[[str], Model]) -> None:
    model = tiny("albert")
    plain = model.read_tokens(tokens_of())
    edited = model.edited(remove(1, 0, zero=True)).read_tokens(tokens_of())
    for layer, same in ((0, True), (1, True), (2, False)):
        difference = np.abs(np.asarray(edited.map(layer, 1)) - np.asarray(plain.map(layer, 1))).max()
        assert bool(difference < 1e-6) is same, f"layer {layer}"  # two passes: rounding alone may differ


def test_half_precision_is_edited_too(tiny: Callable[[str], Model]) -> None:
    half = heedmap.wrap(tiny_family("llama").to(torch.bfloat16), tiny("llama").tokenizer)
    edit = forbid("@8", "@3", layers=1) + remove(0, 1, zero=True)
    found = half.edited(edit).read_tokens(tokens_of()).map(1, 2)
    expected = tiny("llama").edited(edit).read_tokens(tokens_of()).map(1, 2)
    assert found[8, 3] == 0
    assert found[8].sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=0.05)


def test_the_module_is_left_as_it_was(smollm2: Model) -> None:
    before = OrderedDict(smollm2.module.named_parameters())
    plain = smollm2.read(TROPHY, layers=1).logits
    smollm2.read(TROPHY, layers=1, edit=remove(3, 3, zero=True))
    assert all(one is before[name] for name, one in smollm2.module.named_parameters())
    again = smollm2.read(TROPHY, layers=1).logits
    assert plain is not None
    assert again is not None
    torch.testing.assert_close(plain, again)
