"""Rows that are no numbers, whatever a fused kernel makes of them: counted, named by layer, and nowhere 0."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import Carried, Shown, fill
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.pictures import WORDS, word_tokenizer
from tests.tiny import tiny_model

FAMILIES = ["llama", "mistral", "gemma3_text", "bert"]
TEXT = "the cat sat on a mat"
PLACE = TEXT.split().index("sat")


@functools.cache
def broken_model(family: str) -> Model:
    """A model for which one word is no number."""
    module: Any = tiny_model(family)
    with torch.no_grad():
        module.get_input_embeddings().weight[WORDS.index("sat")] = torch.nan
    return heedmap.wrap(module, word_tokenizer(), name=family)


@functools.cache
def reading_of(family: str) -> Reading:
    return broken_model(family).read(TEXT)


def broken_rows(family: str) -> int:
    """How many rows of the first layer look with or at the broken word, a head: in a decoder it and those after it."""
    words = len(TEXT.split())
    return words if family == "bert" else words - PLACE


@pytest.mark.parametrize("family", FAMILIES)
def test_they_are_counted_by_layer(family: str) -> None:
    assert reading_of(family).not_a_number()[0] == 4 * broken_rows(family)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_and_maps_show_them_as_such(family: str) -> None:
    reading = reading_of(family)
    row = reading.row("sat", 0, 1)
    assert np.isnan(row.weights[row.allowed]).all()
    assert row.to_json()["not_a_number"] == row.allowed.sum()
    assert set(row.to_json()["weights"]) == {None}
    whole = np.asarray(reading.map(0, 1))
    assert np.isnan(whole[PLACE]).any()
    assert "!: not a number (nan), " in str(reading.map(0, 1))
    if family != "bert":  # in an encoder every row looks at the broken word
        assert not np.isnan(whole[:PLACE]).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_statistics_leave_them_out_and_say_how_many(family: str) -> None:
    table = reading_of(family).stats(layers=[0], received=True, largest=True)
    assert table["not_a_number"].tolist() == [broken_rows(family)] * 4
    received = reading_of(family).received(0, 1).sums
    good = PLACE if family != "bert" else 0
    assert np.nansum(received) == pytest.approx(good, abs=1e-5)  # each row that is a number gives 1 in all
    last = reading_of(family).stats(layers=[2])
    if (last["not_a_number"] == len(TEXT.split())).all():
        assert "no row is a number: 24 are nan, in layers 2" in str(last)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "bert"])
def test_rows_of_new_tokens_are_counted(family: str) -> None:
    generation = broken_model(family).generate("the cat sat", 2, layers=0)
    assert generation.not_a_number() == {0: 8}  # 2 tokens in 4 heads
    assert [row["not_a_number"] > 0 for row in generation.to_json(0, 1)["rows"]] == [True, True]
    assert np.isnan(generation.rows(0, 1)).any(1).all()


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "bert"])
def test_next_tokens_have_no_probability_and_are_shown_saved_and_on_a_page(family: str, tmp_path: Path) -> None:
    reading = reading_of(family)
    assert not reading.logits.isfinite().any()  # type: ignore[union-attr]
    odds = reading.next(3)
    assert [one["probability"] for one in odds.to_json()["next"]] == [None] * 3
    assert "together" not in str(odds)
    assert "not a number (nan): the model's last logits are not finite" in str(odds)
    reading.save(tmp_path / "reading.safetensors")
    opened = Reading.open(tmp_path / "reading.safetensors")
    assert str(opened.next(3)) == str(odds)
    assert np.isnan([one.probability for one in opened.candidates]).all()
    contents = Contents()
    fill(contents, [Shown("self", "self-attention", reading, reading.middle)], Carried())
    assert {one["probability"] for one in contents.readings[0]["nextToken"]} == {None}
    assert "not a number; marked as such, never drawn as 0" in contents.header_text()
