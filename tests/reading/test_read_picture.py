"""Pictures read as a user gives them: through the processor, patches by row and column, the picture kept to draw on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import CLIPProcessor

import heedmap
from heedmap.errors import FileError, OutOfRange, ReadingError, WordNotFound
from heedmap.models.quiet import quiet_transformers
from heedmap.reading.model import Model
from heedmap.reading.picture_input import as_pixels
from heedmap.reading.picture_reading import PictureReading
from tests.conftest import ROUNDING
from tests.pictures import (
    clip_processor,
    gemma3_model,
    llava_model,
    noise,
    paligemma_model,
    processor_of,
    vision_model,
    word_tokenizer,
)
from tests.tiny import tiny_model
from tests.watched_families import tiny_watched

vit = functools.cache(vision_model)

LANGUAGE: dict[str, tuple[Callable[[], Model], str]] = {
    "llava": (llava_model, "the cat <image> looked at a dog"),
    "gemma3": (gemma3_model, "the cat <start_of_image> looked at a dog"),
    "paligemma": (paligemma_model, "the cat"),
}


def clip_model() -> Model:
    """A tiny model of two towers."""
    return heedmap.wrap(tiny_watched("clip"), CLIPProcessor(clip_processor(), word_tokenizer()), name="clip")


def test_a_picture_is_read_as_the_processor_gives_it() -> None:
    model, picture = vit(), noise(50, 40)
    reading = model.read_picture(picture)
    pixels = processor_of(model)(picture, return_tensors="pt")["pixel_values"]
    eager = tiny_watched("vit", implementation="eager")
    with torch.no_grad():
        expected = eager(pixel_values=pixels, output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        # Float32 leaves about 1e-6 on weights of scores of a few units.
        np.testing.assert_allclose(np.asarray(reading.vision.map(layer, 1)), weights[0, 1], atol=1e-5)
        looked = reading.patches("class", layer, 1)
        np.testing.assert_allclose(looked.weights, weights[0, 1, 0, 1:].reshape(4, 4), atol=1e-5)
        assert looked.share == pytest.approx(float(weights[0, 1, 0, 1:].sum()), abs=1e-5)
    assert str(reading) == "vit: 4 x 4 patches of a picture of 32 x 32"


def test_what_the_model_saw_is_kept_to_the_last_pixel() -> None:
    picture = noise()
    assert (vit().read_picture(picture).picture == picture).all()
    assert vit().read_picture(noise(64, 48)).picture.shape == (32, 32, 3)


def test_files_pictures_and_arrays_are_the_same_picture(tmp_path: Path) -> None:
    picture = noise()
    Image.fromarray(picture).save(tmp_path / "noise.png")
    whole = vit().read_picture(picture).patches("class", 1).weights
    for given in (tmp_path / "noise.png", str(tmp_path / "noise.png"), Image.fromarray(picture), picture / 255.0):
        np.testing.assert_allclose(vit().read_picture(given).patches("class", 1).weights, whole, atol=ROUNDING)


@pytest.mark.parametrize("name", LANGUAGE)
def test_the_patches_of_a_text_stand_where_their_labels_say(name: str) -> None:
    # Where the vision tower's attention adds nothing, a patch's pixels reach its own token and no other.
    make, text = LANGUAGE[name]
    model = make()
    for part, parameter in model.module.named_parameters():
        if "vision" in part and "out_proj" in part:
            torch.nn.init.zeros_(parameter)
    for row, column in ((0, 0), (1, 2), (3, 1)):
        changed = noise()
        changed[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = 0
        before, after = (model.read_picture(one, text).text for one in (noise(), changed))
        assert before is not None
        assert after is not None
        difference = (before.call(0).query - after.call(0).query).abs().amax((0, 1, 3))
        places = (row // 2, column // 2) if name == "gemma3" else (row, column)
        assert [before.tokens.labels[one] for one in difference.nonzero().flatten()] == [f"r{places[0]}c{places[1]}"]


@pytest.mark.parametrize("name", LANGUAGE)
def test_a_word_looks_at_the_patches_before_it_as_eager_says(name: str) -> None:
    make, text = LANGUAGE[name]
    model = make()
    reading = model.read_picture(noise(), text)
    assert reading.text is not None
    word = reading.text.tokens.labels[-1]
    found = reading.patches(word, 1, 2)
    model.module.set_attn_implementation("eager")
    with quiet_transformers():
        inputs = processor_of(model)(images=noise(), text=text, return_tensors="pt")
    with torch.no_grad():
        expected = model.module(**inputs, output_attentions=True).attentions[1][0, 2, -1]
    # Rounding of float32 with scores of a few units.
    np.testing.assert_allclose(found.row.weights, expected, atol=1e-5)
    np.testing.assert_allclose(found.weights, expected.numpy()[reading.places["text"]], atol=1e-5)
    assert 0 < found.share < 1
    assert found.row.model["name"] == name


def test_the_class_token_that_llava_may_keep_has_its_name() -> None:
    model = llava_model(vision_feature_select_strategy="full")
    reading = model.read_picture(noise(), "the cat <image> looked")
    assert reading.text is not None
    assert reading.text.tokens.labels[2:4] == ["class", "r0c0"]
    assert reading.text.tokens.labels[18:] == ["r3c3", "looked"]


def test_the_towers_of_clip_are_kept_apart() -> None:
    reading = clip_model().read_picture(noise(), "the cat sat")
    assert reading.text is not None
    assert reading.text.row("sat", 1, 0).weights.shape == (3,)
    assert reading.patches("class", 1, 0).weights.shape == (4, 4)
    with pytest.raises(ReadingError, match="the text tower does not see the picture: take stack='vision'"):
        reading.patches("sat", stack="text")
    assert str(reading) == "clip: 4 x 4 patches of a picture of 32 x 32; 3 tokens of text"


def test_layers_kept_are_those_asked_for() -> None:
    reading = vit().read_picture(noise(), layers=1)
    assert list(reading.vision.calls) == [1]
    with pytest.raises(ReadingError, match="layer 0 was not kept"):
        reading.patches("class", 0)
    with pytest.raises(OutOfRange):
        vit().read_picture(noise(), layers=7)


def test_a_look_as_json_is_a_list_for_each_row_of_patches() -> None:
    found = vit().read_picture(noise()).patches("r1c2", 1, 0).to_json()
    assert found["schema"] == "heedmap/patches/1"
    assert np.shape(found["patches"]) == (4, 4)
    assert found["sum"] == pytest.approx(1, abs=ROUNDING)
    assert (found["height"], found["width"], found["word"]) == (32, 32, "r1c2")


def test_what_a_patch_cannot_see_is_absent() -> None:
    reading = llava_model().read_picture(noise(), "the cat <image> looked")
    found = reading.patches("r0c1", 1, 0)
    assert np.isnan(found.weights.flatten()[2:]).all()
    assert found.to_json()["patches"][3] == [None] * 4
    assert {*found.largest()} == {(0, 0), (0, 1)}


REFUSED: dict[str, tuple[Callable[[], PictureReading], type[Exception], str]] = {
    "no pictures": (
        lambda: heedmap.wrap(tiny_model("llama"), word_tokenizer(), name="llama").read_picture(noise()),
        ReadingError,
        "llama takes no pictures: it is a LlamaForCausalLM, so read a text",
    ),
    "no processor": (
        lambda: heedmap.wrap(tiny_watched("vit"), None, name="vit").read_picture(noise()),
        ReadingError,
        r"vit came without what prepares its pictures: give it, heedmap\.wrap\(module, processor\)",
    ),
    "a text too many": (lambda: vit().read_picture(noise(), "a cat"), ReadingError, "takes pictures alone: leave the"),
    "no text": (
        lambda: clip_model().read_picture(noise()),
        ReadingError,
        r"a picture beside a text: give both",
    ),
    "no mark": (lambda: llava_model().read_picture(noise(), "a cat"), ReadingError, "refuses this picture: The total"),
    "no file": (lambda: vit().read_picture("nowhere.png"), FileError, r"there is no file nowhere\.png"),
    "no picture": (lambda: vit().read_picture(__file__), FileError, r"is no picture: give a \.png"),
    "a flat array": (
        lambda: vit().read_picture(np.ones((3, 4))),
        ReadingError,
        r"of shape \(3, 4\) was given",
    ),
    "numbers too large": (lambda: vit().read_picture(np.full((2, 2, 3), 7.0)), ReadingError, "outside 0 to 1"),
    "whole numbers too large": (lambda: vit().read_picture(np.full((2, 2, 3), 999)), ReadingError, "int64 from 999 to"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_says_what_to_give(kind: str) -> None:
    run, error, message = REFUSED[kind]
    with pytest.raises(error, match=message):
        run()


TEXT_ALONE: dict[str, Callable[[Model], Any]] = {
    "read": lambda model: model.read("the cat"),
    "batch": lambda model: model.read_batch(["the cat"]),
    "stats": lambda model: model.stats("the cat"),
    "spans": lambda model: model.spans("the cat", split="sentences"),
    "target": lambda model: model.read("the cat", target="sat"),
    "generate": lambda model: model.generate("the cat", 2),
}


@pytest.mark.parametrize("way", [way for way in TEXT_ALONE if way != "target"])
@pytest.mark.parametrize("make", [vit, clip_model, paligemma_model], ids=["vit", "clip", "paligemma"])
def test_a_text_alone_is_refused_with_the_way_to_read_a_picture(make: Callable[[], Model], way: str) -> None:
    with pytest.raises(ReadingError, match=r"model\.read_picture\(picture"):
        TEXT_ALONE[way](make())


def test_words_are_found_by_the_rules_of_texts() -> None:
    with pytest.raises(WordNotFound):
        vit().read_picture(noise()).patches("r9c9", 1)
    with pytest.raises(ReadingError, match="there is no stack 'text': take one of vision"):
        vit().read_picture(noise()).stack("text")


def test_a_grey_picture_has_three_channels() -> None:
    grey = Image.fromarray(noise()[..., 0])
    assert (as_pixels(grey) == noise()[..., :1]).all()


def test_a_format_that_starts_a_program_is_no_picture(tmp_path: Path) -> None:
    """PostScript is drawn by ghostscript."""
    path = tmp_path / "picture.png"
    Image.fromarray(noise()).save(path, "EPS")
    with pytest.raises(FileError, match="is no picture"):
        as_pixels(path)


def test_a_picture_that_says_it_is_huge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: Any, **__: Any) -> None:
        raise MemoryError

    path = tmp_path / "picture.png"
    Image.fromarray(noise()).save(path)
    monkeypatch.setattr(Image.Image, "convert", ends)
    with pytest.raises(FileError, match="larger than the memory there is"):
        as_pixels(path)
