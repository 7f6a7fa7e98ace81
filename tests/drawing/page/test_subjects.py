"""Pages of what is more than one look of a text at itself: stacks, pictures, and families of other kinds."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import heedmap
from heedmap.drawing.page import page as pages
from heedmap.drawing.page.bundle import Bundle
from heedmap.drawing.page.comparison import align_tokens
from heedmap.drawing.page.picture import data_url
from heedmap.errors import FileError
from heedmap.text.tokens import Token, Tokens
from tests.drawing.page.decoding import header_and_blocks, page_weights
from tests.families import tiny_family
from tests.pictures import llava_model, noise, vision_model
from tests.reading.test_two_stacks import SOURCE, TARGET, word_tokenizer


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "load_bundle", lambda: Bundle("export default {}", "p {}"))


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_the_three_stacks_of_an_encoder_decoder(family: str) -> None:
    """T5 adds a bias for the distance, which is sent with the layers whose steps unfold."""
    model = heedmap.wrap(tiny_family(family), word_tokenizer(), name=family)
    both = model.read(SOURCE, target=TARGET, values=True)
    html = both.page(layer=1, head=0, word="chat")
    header, _ = header_and_blocks(html)
    assert [one["id"] for one in header["readings"]] == ["cross", "self", "encoder"]
    assert header["readings"][0]["title"] == "The target at the source"
    for name, stack in (("cross", "cross"), ("self", "decoder"), ("encoder", "encoder")):
        reading = both.stack(stack)
        for layer in reading.calls:
            own = reading.call(layer).weights(slice(None), slice(None))[0].double().numpy()
            assert np.abs(page_weights(html, name, layer) - own).max() <= 5e-4
    assert all(one["layers"][1]["hasSteps"] for one in header["readings"])
    texts = header["texts"]
    assert texts[header["readings"][0]["keys"]]["labels"] == both.source.labels
    assert texts[header["readings"][0]["queries"]]["labels"] == both.target.labels


def test_the_patches_of_a_picture_know_their_place() -> None:
    reading = vision_model().read_picture(noise(50, 40))
    header, _ = header_and_blocks(reading.page(word="r1c2"))
    text = header["texts"][0]
    assert text["patches"][0] is None
    assert text["patches"][reading.vision.find("r1c2").tokens[0]] == [1, 2]
    shown = Image.open(io.BytesIO(base64.b64decode(text["picture"]["url"].removeprefix("data:image/png;base64,"))))
    assert np.array_equal(np.asarray(shown), reading.picture)
    assert (text["picture"]["rows"], text["picture"]["columns"]) == reading.places["vision"].shape


def test_a_text_that_sees_a_picture_comes_first() -> None:
    reading = llava_model().read_picture(noise(50, 40), "the cat <image> looked at a dog")
    header, _ = header_and_blocks(reading.page(word="dog"))
    assert [one["id"] for one in header["readings"]] == ["text", "vision"]
    text = header["texts"][0]
    assert text["labels"][header["start"]["query"]] == "dog"
    places = [place for place in text["patches"] if place is not None]
    assert places == [list(place) for place in np.ndindex(reading.places["text"].shape)]


def test_a_picture_may_be_given_to_a_reading_of_patches(tmp_path: Path) -> None:
    Image.fromarray(noise(8, 8)).save(tmp_path / "cat.jpg")
    reading = vision_model().read_picture(noise(50, 40)).vision
    header, _ = header_and_blocks(reading.page(picture=tmp_path / "cat.jpg"))
    assert header["texts"][0]["picture"]["url"].startswith("data:image/jpeg;base64,")
    (tmp_path / "cat.txt").write_text("cat", encoding="utf-8")
    with pytest.raises(FileError, match=r"cat\.txt is no picture that every browser shows: save it as PNG"):
        data_url(tmp_path / "cat.txt")
    with pytest.raises(FileError, match=r"cannot read .*: No such file"):
        data_url(tmp_path / "dog.png")


def test_families_whose_weights_alone_are_read_have_no_steps() -> None:
    model = heedmap.wrap(tiny_family("bloom"), word_tokenizer(), name="bloom")
    reading = model.read(SOURCE)
    html = reading.page()
    header, _ = header_and_blocks(html)
    assert all(layer["carries"] == "weights" for layer in header["readings"][0]["layers"])
    assert "No layer carries its values, so that the four steps do not unfold." in header["readings"][0]["notes"]
    own = np.asarray(reading.map(1, 0))
    assert np.abs(page_weights(html, "self", 1)[0] - own).max() <= 5e-4


def spelled(words: list[str]) -> Tokens:
    return Tokens(" ".join(words), tuple(Token(index, index, word, None, None) for index, word in enumerate(words)))


def test_every_token_of_both_texts_is_aligned_once() -> None:
    """In order on both sides, and only with its like or with what took its place."""
    left, right = spelled(["a", "b", "c", "d", "e", "f"]), spelled(["a", "x", "c", "e", "f", "f", "g"])
    pairs = align_tokens(left, right)
    assert [a for a, _ in pairs if a is not None] == list(range(6))
    assert [b for _, b in pairs if b is not None] == list(range(7))
    assert (1, 1) in pairs  # one token for one
    assert (3, None) in pairs  # left out
    assert all(left[a].text == right[b].text for a, b in pairs if a is not None and b is not None and (a, b) != (1, 1))


def test_tokens_that_both_begin_with_stand_side_by_side() -> None:
    """Whatever longer stretch is alike further on: the rows of the first tokens are those that must be the same."""
    left, right = spelled(["a", "b", "c"]), spelled(["a", "d", "a", "b", "c"])
    assert align_tokens(left, right)[0] == (0, 0)
