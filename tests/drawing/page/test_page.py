"""Whole pages of real models: the numbers are the reading's own, within the sizes and budgets that were promised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import heedmap
from heedmap.drawing.page import page as pages
from heedmap.drawing.page.bundle import Bundle
from heedmap.drawing.page.plan import layers_to_read
from heedmap.drawing.page.view import View
from heedmap.errors import OutOfRange, ReadingError, TooLarge, WordNotFound
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.text.tokens import Tokens
from tests.conftest import TROPHY
from tests.drawing.page.decoding import header_and_blocks, page_weights
from tests.drawing.page.making import reading as made_reading

PROGRAM_BYTES = 400_000
"""What the page's program may weigh in a file; it is smaller."""

ReadSome = Callable[..., Reading]


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program as large as the real one may be: these tests are of the data, and need no npm."""
    monkeypatch.setattr(pages, "load_bundle", lambda: Bundle("0;" * (PROGRAM_BYTES // 2), ""))


@pytest.fixture(scope="session")
def read_some(smollm2: Model, data_folder: Path) -> ReadSome:
    """Reads so many tokens of a long real text."""
    text = (data_folder / "texts" / "alice_in_wonderland.txt").read_text(encoding="utf-8")

    def read(count: int, **keep: object) -> Reading:
        whole = smollm2.tokenize(text[: count * 8])
        tokens = Tokens(text[: whole[count - 1].end], whole[:count])
        return smollm2.read_tokens(tokens, **keep)  # type: ignore[arg-type]

    return read


def own_weights(reading: Reading, layer: int) -> np.ndarray:
    return np.asarray(reading.call(layer).weights(slice(None), slice(None))[0].double().cpu().numpy())


@pytest.mark.parametrize(("precision", "within"), [("float16", 5e-4), ("float32", 1e-5)])
def test_every_weight_of_a_short_text_is_the_models(smollm2: Model, precision: str, within: float) -> None:
    reading = smollm2.read(TROPHY)
    html = reading.page(layer=16, head=3, word="it", precision=precision)
    for layer in range(30):
        assert np.abs(page_weights(html, "self", layer) - own_weights(reading, layer)).max() <= within
    header, _ = header_and_blocks(html)
    assert header["start"] == {"reading": "self", "layer": 16, "head": 3, "query": 10}
    assert [layer["number"] for layer in header["readings"][0]["layers"] if layer["hasSteps"]] == [16]


def test_a_page_does_not_say_where_the_model_lies_here(smollm2: Model) -> None:
    assert Path(smollm2.read("It rains.").model["location"]).is_absolute()
    assert str(Path.home()) not in smollm2.read("It rains.", layers=3).page()


def test_statistics_are_those_of_the_reading(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY)
    header, _ = header_and_blocks(reading.page())
    table = reading.stats()
    for statistic in header["readings"][0]["statistics"]:
        found = np.array(statistic["values"], dtype=float).flatten()
        # Seven digits of what is measured twice.
        np.testing.assert_allclose(found, table[statistic["name"]], rtol=1e-5, atol=1e-6, err_msg=statistic["name"])
        assert statistic["title"]
        assert statistic["unit"]


def test_layers_that_were_not_kept_have_their_statistics_too(smollm2: Model) -> None:
    html = smollm2.read(TROPHY, layers=16).page()
    header, _ = header_and_blocks(html)
    (entry,) = header["readings"]
    assert all(None not in row for row in entry["statistics"][0]["values"])
    assert entry["layers"][3]["carries"] == "nothing"
    assert "read the text again" in entry["layers"][3]["omitted"]
    assert "Layers 0 to 15, 17 to 29: not read" in " ".join(entry["notes"])


@pytest.mark.parametrize(("tokens", "megabytes"), [(32, 1.5), (128, 8)])
def test_all_heads_stay_within_the_promised_size(read_some: ReadSome, tokens: int, megabytes: float) -> None:
    html = read_some(tokens, values=True).page()
    assert len(html.encode()) <= megabytes * 1e6
    header, _ = header_and_blocks(html)
    assert all(layer["carries"] != "nothing" for layer in header["readings"][0]["layers"])


@pytest.mark.slow
def test_all_heads_of_256_tokens_stay_within_20_megabytes(read_some: ReadSome) -> None:
    reading = read_some(256, values=True)
    html = reading.page(max_mb=20)
    header, _ = header_and_blocks(html)
    assert all(layer["carries"] == "queries and keys" for layer in header["readings"][0]["layers"])
    for layer in (0, 17, 29):
        assert np.abs(page_weights(html, "self", layer) - own_weights(reading, layer)).max() <= 5e-3


@pytest.mark.slow
def test_one_layer_of_2048_tokens_stays_within_6_megabytes(read_some: ReadSome) -> None:
    reading = read_some(2048, layers=16, values=True)
    html = reading.page(layer=16)
    assert len(html.encode()) <= 6e6
    header, _ = header_and_blocks(html)
    layer = header["readings"][0]["layers"][16]
    assert layer["hasSteps"]
    off = np.abs(page_weights(html, "self", 16) - own_weights(reading, 16)).max()
    assert off <= 5e-3
    assert off <= layer["worst"] * 1.5  # it was measured on one row in two


def test_a_budget_keeps_the_nearest_layers_and_names_the_others(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, values=True)
    html = reading.page(layer=16, max_mb=0.55)
    assert len(html.encode()) <= 0.55e6
    header, _ = header_and_blocks(html)
    layers = header["readings"][0]["layers"]
    kept = [layer["number"] for layer in layers if layer["carries"] != "nothing"]
    assert 1 < len(kept) < 30
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert abs(16 - kept[0] - (kept[-1] - 16)) <= 1
    assert layers[0]["omitted"].startswith("left out to stay within 0.55 MB")


def test_a_budget_that_holds_nothing_says_what_is_needed(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY)
    with pytest.raises(TooLarge, match=r"a page of 0.4 MB does not hold layer 16, which is shown first: .* MB more"):
        reading.page(layer=16, max_mb=0.4)


def test_the_steps_give_way_before_the_layer_does(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY, values=True)
    least = len(reading.page(layer=16, layers=16, steps=[]).encode()) / 1e6
    header, _ = header_and_blocks(reading.page(layer=16, layers=16, max_mb=least + 0.03))
    assert not header["readings"][0]["layers"][16]["hasSteps"]
    assert header["readings"][0]["layers"][16]["carries"] == "weights"


def test_layers_that_are_asked_for_are_carried_alone(smollm2: Model) -> None:
    header, _ = header_and_blocks(smollm2.read(TROPHY).page(layer=3, layers=[3, 5], steps=[5]))
    layers = header["readings"][0]["layers"]
    assert [layer["number"] for layer in layers if layer["carries"] != "nothing"] == [3, 5]
    assert [layer["number"] for layer in layers if layer["hasSteps"]] == [5]
    assert "--layers adds it" in layers[4]["omitted"]


def test_two_texts_are_aligned_and_alike_up_to_the_first_difference(smollm2: Model) -> None:
    big, small = smollm2.read(TROPHY), smollm2.read(TROPHY.replace("big", "small"))
    html = big.page(compare=small)
    comparison = header_and_blocks(html)[0]["comparison"]
    assert comparison["alignment"] == [[index, index] for index in range(15)]
    assert comparison["mustBeZero"] == 13
    assert "The first 13 tokens are the same" in comparison["note"]
    difference = page_weights(html, "a", 20) - page_weights(html, "b", 20)
    assert np.abs(difference[:, :13]).max() < 1e-6
    assert np.abs(difference[:, 13:]).max() > 1e-3


def test_an_encoder_may_differ_everywhere(minilm: Model) -> None:
    one, other = minilm.read("It was big."), minilm.read("It was small.")
    comparison = header_and_blocks(one.page(compare=other))[0]["comparison"]
    assert comparison["mustBeZero"] == 0
    assert "Every token sees the whole text" in comparison["note"]


def test_a_generation_has_the_rows_that_chose(smollm2: Model) -> None:
    generation = smollm2.generate("The cat sat on the", 3, layers=[12])
    html = generation.page()
    header, _ = header_and_blocks(html)
    assert header["generation"]["prompt"] == 5
    assert header["generation"]["chosenBy"] == [4, 5, 6]
    weights = page_weights(html, "self", 12)
    assert np.abs(weights[:, 4:7] - generation.rows_of[12].weights.transpose(1, 0, 2)).max() <= 5e-4
    assert not weights[:, :4].any()


def test_repeated_words_keep_their_own_rows(smollm2: Model) -> None:
    reading = smollm2.read("the cat and the cat and the cat")
    html = reading.page(word="cat#2")
    header, _ = header_and_blocks(html)
    assert header["start"]["query"] == reading.find("cat#2").tokens[-1]
    assert len([word for word in header["texts"][0]["words"] if word[0] == "cat"]) == 3
    assert np.abs(page_weights(html, "self", 15) - own_weights(reading, 15)).max() <= 5e-4


def test_a_saved_reading_needs_no_model(smollm2: Model, tmp_path: Path) -> None:
    smollm2.read(TROPHY, layers=[16]).save(tmp_path / "reading.safetensors")
    header, _ = header_and_blocks(Reading.open(tmp_path / "reading.safetensors").page(tmp_path / "page.html"))
    assert header["readings"][0]["layers"][16]["carries"] == "weights"
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_rows_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    reading = made_reading()
    notes = " ".join(header_and_blocks(reading.page(layer=6))[0]["readings"][0]["notes"])
    assert "Layer 6: 1 row is not a number; marked as such, never drawn as 0." in notes


def test_what_cannot_be_asked_for_is_refused(smollm2: Model) -> None:
    reading = smollm2.read(TROPHY)
    with pytest.raises(WordNotFound):
        reading.page(word="cat")
    with pytest.raises(OutOfRange, match="layer 30 is out of range"):
        reading.page(layer=30)
    with pytest.raises(OutOfRange, match="head 9 is out of range"):
        reading.page(head=9)
    with pytest.raises(ReadingError, match="precision 'float8' is not known: take float16 or float32"):
        reading.page(precision="float8")


def test_nothing_but_the_layers_that_fit_is_read(smollm2: Model) -> None:
    assert layers_to_read(smollm2, 100, View()) == list(range(30))
    assert layers_to_read(smollm2, 20_000, View(layer=16)) == [16]
    assert layers_to_read(smollm2, 20_000, View(layer=16, layers=[2], steps=[4])) == [2, 4, 16]


def test_the_page_is_the_same_every_time() -> None:
    reading = made_reading()
    assert reading.page() == reading.page()
    assert header_and_blocks(reading.page())[0]["version"] == heedmap.__version__
