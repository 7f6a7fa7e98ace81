"""Encoder-decoders: three stacks kept apart, whose layers and heads need not be equal in number."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

import heedmap
from heedmap.drawing.page.page import make_contents
from heedmap.drawing.page.subjects import STACK_TITLES
from heedmap.drawing.page.view import View
from heedmap.errors import OutOfRange, ReadingError, WordNotFound
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.two_stacks import STACKS, EncoderDecoderReading
from tests.conftest import ROUNDING
from tests.families import tiny_family
from tests.tiny import tiny_model

SOURCE, TARGET = "the cat sat on the mat", "le chat assis"


def word_tokenizer() -> PreTrainedTokenizerFast:
    """Whole words as tokens, and an end mark that is added."""
    words = ["<pad>", "<s>", "</s>", "<unk>", *SOURCE.split()[:4], "mat", *TARGET.split(), "it", "rains"]
    backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    marks: dict[str, Any] = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **marks)


@functools.cache
def model_of(family: str) -> Model:
    return heedmap.wrap(tiny_family(family), word_tokenizer(), name=family)


@functools.cache
def reading_of(family: str) -> EncoderDecoderReading:
    return model_of(family).read(SOURCE, target=TARGET)


def official(family: str) -> Any:
    module = tiny_family(family, implementation="eager")
    reading = reading_of(family)
    ids, target = torch.tensor([reading.source.ids]), torch.tensor([reading.target.ids])
    with torch.no_grad():
        return module(input_ids=ids, decoder_input_ids=target, output_attentions=True)


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_each_stack_has_its_own_maps(family: str) -> None:
    reading, expected = reading_of(family), official(family)
    for stack, maps in (
        ("encoder", expected.encoder_attentions),
        ("decoder", expected.decoder_attentions),
        ("cross", expected.cross_attentions),
    ):
        layers = reading.stack(stack).layers
        assert len(layers) == len(maps)
        for layer, weights in zip(layers, maps, strict=True):
            assert layer.heads == weights.shape[1]
            for head in (0, layer.heads - 1):
                found = np.asarray(reading.map(layer.number, head, stack=stack))
                np.testing.assert_allclose(found, weights[0, head].numpy(), atol=1e-5)
    torch.testing.assert_close(reading.decoder.logits, expected.logits[0, -1], atol=1e-4, rtol=1e-4)


def test_counts_of_layers_and_heads_are_each_stacks_own() -> None:
    reading = reading_of("bart")
    sizes = {
        name: (len(one.layers), one.layers[0].heads)
        for name in ("encoder", "decoder", "cross")
        if (one := reading.stack(name))
    }
    assert sizes == {"encoder": (3, 2), "decoder": (2, 4), "cross": (2, 4)}
    assert model_of("bart").describe()["layers"] == 5


def test_the_decoder_runs_the_target_behind_its_start_token() -> None:
    reading = reading_of("bart")
    assert [token.text for token in reading.target] == ["</s>", "le", "chat", "assis"]
    assert [token.index for token in reading.target] == [0, 1, 2, 3]
    assert reading_of("t5").target[0].text == "<pad>"
    # Row i chooses token i + 1: what the library makes of these labels is the same.
    module = model_of("bart").module
    labels = torch.tensor([word_tokenizer()(TARGET)["input_ids"]])
    assert module.prepare_decoder_input_ids_from_labels(labels)[0].tolist() == reading.target.ids


def test_a_cross_row_goes_from_a_target_word_to_source_words() -> None:
    reading = reading_of("t5")
    row = reading.row("chat", layer=1, head=2, stack="cross")
    assert (row.query, row.word) == ((2,), "chat")
    assert row.key_tokens.text == SOURCE
    assert len(row.weights) == len(reading.source) == 7
    assert row.sum == pytest.approx(1, abs=ROUNDING)
    assert row.share("cat") == pytest.approx(reading.map(1, 2, stack="cross")[2, 1])
    with pytest.raises(WordNotFound):
        reading.row("mat", layer=1, stack="cross")
    json = row.to_json()
    assert (json["source"], json["model"]["stack"], len(json["keys"])) == (SOURCE, "cross", 7)
    assert "cross layer 1, head 2 of t5" in str(row)
    assert "mat" in str(row)
    assert "cross layer 1" in str(reading.map(1, 2, stack="cross"))


def test_encoder_and_decoder_are_full_readings() -> None:
    reading = reading_of("bart")
    assert len(reading.encoder.stats(only=["first"])) == 6
    assert len(reading.decoder.stats(layers=1, only=["first"])) == 4
    assert reading.next(3).candidates == reading.decoder.candidates[:3]
    assert str(reading) == "bart: encoder 3 layers, decoder 2 layers, cross 2 layers; 7 source and 4 target tokens"


@pytest.mark.parametrize("name", ["rollout", "stats", "received", "spans", "top", "explain", "value_norms"])
def test_what_cross_attention_has_not_is_refused(name: str) -> None:
    with pytest.raises(ReadingError, match=r"not defined for cross-attention"):
        getattr(reading_of("t5").cross, name)("chat")


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_all_stacks_are_saved_in_one_file_and_answer_without_the_model(name: str, tmp_path: Path) -> None:
    reading, path = reading_of(name), tmp_path / "stacks.safetensors"
    reading.save(path)
    opened = EncoderDecoderReading.open(path)
    assert str(opened) == str(reading)
    assert (opened.source, opened.target) == (reading.source, reading.target)
    assert opened.next(3) == reading.next(3)
    for stack in ("encoder", "decoder", "cross"):
        for layer in reading.stack(stack).calls:
            found, expected = (np.asarray(one.map(layer, stack=stack)) for one in (opened, reading))
            np.testing.assert_array_equal(found, expected)
    assert opened.row("chat", 1, 0, stack="cross").to_json() == reading.row("chat", 1, 0, stack="cross").to_json()
    assert opened.cross.keys == reading.source
    with pytest.raises(ReadingError, match=r"holds the stacks of an encoder-decoder: open it with EncoderDecoderReadi"):
        Reading.open(path)
    reading.encoder.save(path)
    with pytest.raises(ReadingError, match=r"holds one stack of layers: open it with Reading\.open"):
        EncoderDecoderReading.open(path)
    with pytest.raises(ReadingError, match=r"cross-attention is saved with both its texts: save the whole reading"):
        reading.cross.save(path)


def test_asking_wrongly() -> None:
    model, reading = model_of("bart"), reading_of("bart")
    with pytest.raises(ReadingError, match=r"bart has an encoder and a decoder: .*target=\.\.\.\), .*--target"):
        model.read(SOURCE)
    with pytest.raises(ReadingError, match="no stack 'middle': take one of encoder, decoder, cross"):
        reading.row("chat", stack="middle")
    with pytest.raises(OutOfRange, match="layer 2 is out of range: the model has 2 layers, 0 to 1"):
        reading.row("chat", 2, stack="cross")
    with pytest.raises(OutOfRange, match="the model has 3 layers, 0 to 2"):
        model.read(SOURCE, target=TARGET, layers=3)
    llama = heedmap.wrap(tiny_model("llama"), word_tokenizer(), name="llama")
    with pytest.raises(ReadingError, match="llama is no encoder-decoder"):
        llama.read(SOURCE, target=TARGET)


def test_layers_and_values_are_kept_as_asked() -> None:
    reading = model_of("bart").read(SOURCE, target=TARGET, layers=1, values=True)
    for stack in ("encoder", "decoder", "cross"):
        assert list(reading.stack(stack).calls) == [1]
        assert reading.stack(stack).call(1).value is not None


UNEVEN = {"bart": ("encoder_layers", "decoder_layers"), "t5": ("num_layers", "num_decoder_layers")}


@functools.cache
def uneven(family: str, encoder: int, decoder: int) -> Model:
    sizes: dict[str, Any] = dict(zip(UNEVEN[family], (encoder, decoder), strict=True))
    return heedmap.wrap(tiny_model(family, **sizes), word_tokenizer(), name=family)


@pytest.mark.parametrize("family", UNEVEN)
@pytest.mark.parametrize(("encoder", "decoder"), [(4, 2), (2, 4)])
def test_layers_that_one_stack_alone_has(family: str, encoder: int, decoder: int, tmp_path: Path) -> None:
    reading = uneven(family, encoder, decoder).read(SOURCE, target=TARGET, layers=[3], values=True)
    empty = [name for name in STACKS if not reading.stack(name).calls]
    assert empty == (["decoder", "cross"] if encoder > decoder else ["encoder"])
    for name in empty:
        word = "cat" if name == "encoder" else "chat"
        with pytest.raises(ReadingError, match=rf"none of the {name} layers \(0, 1\) was kept: read the text again"):
            reading.row(word, stack=name)
        with pytest.raises(ReadingError, match=r"layer 1 was not kept in this reading \(kept: none\)"):
            reading.row(word, 1, stack=name)
        with pytest.raises(ReadingError, match=r"was kept|not defined for cross-attention"):
            reading.stack(name).stats()
        with pytest.raises(ReadingError, match=r"was kept|saved with both its texts"):
            reading.stack(name).save(tmp_path / "one")
    reading.save(tmp_path / "all")
    opened = EncoderDecoderReading.open(tmp_path / "all")
    full = next(name for name in STACKS if name not in empty)
    np.testing.assert_allclose(opened.map(3, stack=full), reading.map(3, stack=full), atol=ROUNDING)
    assert [name for name in STACKS if not opened.stack(name).calls] == empty
    shown = make_contents(reading, View(layer=3, steps=[3])).readings
    assert {one["title"] for one in shown} == {STACK_TITLES[name] for name in STACKS if name not in empty}


@pytest.mark.parametrize("family", UNEVEN)
@pytest.mark.parametrize("layer", range(4))
def test_a_page_shows_a_layer_first_where_there_is_one(family: str, layer: int) -> None:
    reading = uneven(family, 4, 2).read(SOURCE, target=TARGET)
    contents = make_contents(reading, View(layer=layer, steps=[layer]))
    assert [len(one["layers"]) for one in contents.readings] == [2, 2, 4]
    assert contents.start["layer"] == (layer if layer < 2 else 1)
    with pytest.raises(OutOfRange, match="layer 4 is out of range"):
        make_contents(reading, View(layer=4))
