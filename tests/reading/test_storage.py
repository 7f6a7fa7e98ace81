"""A reading saved and opened answers the same without its model; damaged files are refused in one line."""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

import heedmap
from heedmap.drawing.page.page import make_contents
from heedmap.drawing.page.view import View
from heedmap.errors import FileError, HeedmapError, ReadingError
from heedmap.reading.call import AttentionCall
from heedmap.reading.cut import Cut
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from tests.conftest import ROUNDING, TROPHY
from tests.elsewhere import DEVICE, Device, Elsewhere
from tests.pictures import noise, vision_model, word_tokenizer
from tests.tiny import FAMILIES, tiny_model


def test_an_opened_reading_answers_as_the_one_that_was_saved(smollm2: Model, tmp_path: Path) -> None:
    reading = smollm2.read(TROPHY, layers=[5, 16], values=True)
    reading.save(tmp_path / "trophy.safetensors")
    opened = Reading.open(tmp_path / "trophy.safetensors")
    assert opened.tokens == reading.tokens
    assert opened.model == reading.model
    assert opened.next(5) == reading.next(5)
    assert opened.row("it", 16, 3).to_json() == reading.row("it", 16, 3).to_json()
    np.testing.assert_array_equal(np.asarray(opened.map(5)), np.asarray(reading.map(5)))
    assert opened.explain("it", 5, 4).to_json() == reading.explain("it", 5, 4).to_json()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_windows_and_precisions_survive(
    family: str, dtype: torch.dtype, smollm2_tokenizer: Any, tmp_path: Path
) -> None:
    module = tiny_model(family, vocab_size=len(smollm2_tokenizer)).to(dtype)
    reading = heedmap.wrap(module, smollm2_tokenizer).read("one two three four five six seven eight nine")
    reading.save(tmp_path / "file.safetensors")
    opened = Reading.open(tmp_path / "file.safetensors")
    for layer in range(3):
        np.testing.assert_array_equal(np.asarray(opened.map(layer)), np.asarray(reading.map(layer)))
        np.testing.assert_array_equal(opened.map(layer).allowed(), reading.map(layer).allowed())


def _masked(rule: MaskRule, name: str, device: torch.device) -> MaskRule:
    """The rule with one kind of mask, whose tensors lie on a device."""
    size = rule.queries
    lower = torch.ones(size, size).tril().bool()
    allowed = lower & (torch.arange(size) % 3 > 0) | torch.eye(size).bool()
    match name:
        case "padding":
            return replace(rule, present=(torch.arange(size) > 1)[None].to(device))
        case "a table":
            return replace(rule, table=allowed[None, None].to(device))
        case "a table that adds":
            added = torch.where(allowed, -0.5 * torch.rand(size, size), torch.finfo(torch.float32).min)
            return replace(rule, table=added[None, None].to(device))
        case "cuts":
            return replace(rule, cuts=(Cut((4, 5), (1,), of_heads=4, heads=(0, 2)),))
    chosen = torch.stack([torch.arange(size) // 2, torch.arange(size)], -1)[None]
    return rule.choose(chosen.to(device))


@pytest.mark.parametrize("mask", ["no more", "padding", "a table", "a table that adds", "cuts", "a pattern"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_reading_on_another_device_is_saved(mask: str, dtype: torch.dtype, tmp_path: Path) -> None:
    """As on a GPU, where tensors of two devices cannot be mixed."""
    module = tiny_model("llama").to(dtype)
    reading = heedmap.wrap(module, word_tokenizer()).read("the cat sat on a mat", values=True)

    def put(device: torch.device) -> Reading:
        torch.manual_seed(0)
        calls = OrderedDict[int, AttentionCall]()
        for number, call in reading.calls.items():
            rule = call.rule if mask == "no more" else _masked(call.rule, mask, device)
            tensors = {name: getattr(call, name).to(device) for name in ("query", "key", "value", "output")}
            moved = replace(call, rule=rule, **tensors)
            calls[number] = replace(moved, logsumexp=moved.compute(moved.value.float().to(dtype))[1])  # type: ignore[union-attr]
        return replace(reading, calls=calls, logits=reading.logits.to(device))  # type: ignore[union-attr]

    here = put(torch.device("cpu"))
    with Device():
        there = put(DEVICE)
        assert isinstance(there.calls[0].query, Elsewhere)
        there.save(tmp_path / "there")
        page = make_contents(there, View(layer=1))
    opened = Reading.open(tmp_path / "there")
    assert opened.next(3) == here.next(3)
    assert page.rules == make_contents(here, View(layer=1)).rules
    for layer in range(3):
        np.testing.assert_array_equal(opened.map(layer, 2).allowed(), here.map(layer, 2).allowed())
        np.testing.assert_allclose(opened.map(layer, 2), here.map(layer, 2), atol=ROUNDING)  # of two kernels


def test_what_an_explicit_mask_adds_survives(tmp_path: Path) -> None:
    """BEiT's bias by distance comes in its mask."""
    reading = vision_model("beit").read_picture(noise()).vision
    assert reading.call(0).rule.bias_is_added
    reading.save(tmp_path / "file.safetensors")
    opened = Reading.open(tmp_path / "file.safetensors")
    np.testing.assert_array_equal(np.asarray(opened.map(0, 1)), np.asarray(reading.map(0, 1)))


def test_what_a_saved_reading_cannot_do_it_says(smollm2: Model, tmp_path: Path) -> None:
    smollm2.read(TROPHY, layers=5).save(tmp_path / "file.safetensors")
    opened = Reading.open(tmp_path / "file.safetensors")
    with pytest.raises(ReadingError, match=r"saved without values.*values=True"):
        opened.explain("it", 5, 4)
    smollm2.read(TROPHY, layers=5, values=True).save(tmp_path / "file.safetensors")
    with pytest.raises(ReadingError, match="needs the live model"):
        Reading.open(tmp_path / "file.safetensors").explain("it", 5, 4, from_vector=True)


def test_files_that_are_no_readings(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        Reading.open(tmp_path / "none.safetensors")
    plain = tmp_path / "plain.safetensors"
    save_file({"weight": torch.zeros(2)}, plain)
    with pytest.raises(ReadingError, match="but not a reading"):
        Reading.open(plain)
    save_file({"weight": torch.zeros(2)}, plain, metadata={"heedmap": json.dumps({"schema": "heedmap/reading/9"})})
    with pytest.raises(ReadingError, match="has the schema 'heedmap/reading/9': this version reads"):
        Reading.open(plain)
    plain.write_text("not a file of tensors")
    with pytest.raises(ReadingError, match="damaged, or not a reading"):
        Reading.open(plain)


@pytest.fixture(scope="module")
def saved(smollm2_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "file.safetensors"
    module = tiny_model("mistral", vocab_size=len(smollm2_tokenizer))
    heedmap.wrap(module, smollm2_tokenizer).read("one two three", values=True).save(path)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_seen(saved: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """Cut anywhere, or one byte changed anywhere: an error of ours, or the reading that was saved."""
    path = tmp_path / "file.safetensors"
    path.write_bytes(saved)
    sound = np.asarray(Reading.open(path).map(1))
    if data.draw(st.booleans()):
        path.write_bytes(saved[: data.draw(st.integers(0, len(saved) - 1))])
        with pytest.raises(ReadingError):
            Reading.open(path)
        return
    header = 8 + int.from_bytes(saved[:8], "little")
    place, byte = (
        data.draw(st.integers(0, header - 1) | st.integers(header, len(saved) - 1)),
        data.draw(st.integers(0, 255)),
    )
    path.write_bytes(saved[:place] + bytes([byte]) + saved[place + 1 :])
    if place >= header and byte != saved[place]:
        with pytest.raises(ReadingError, match="its checksum does not fit its content"):
            Reading.open(path)
        return
    with suppress(HeedmapError):
        np.testing.assert_array_equal(np.asarray(Reading.open(path).map(1)), sound)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gpt_oss", "bert"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_saved_reading_says_the_same_to_the_last_bit(
    family: str, dtype: torch.dtype, smollm2_tokenizer: Any, tmp_path: Path
) -> None:
    """Both work from copies in one layout, see `in_one_layout`; HEEDMAP_TEST_LAYOUT=shifted hands over others."""
    implementation = "eager" if family in ("gemma2", "gpt_oss") else "sdpa"
    module = tiny_model(family, implementation=implementation, vocab_size=len(smollm2_tokenizer)).to(dtype)
    live = heedmap.wrap(module, smollm2_tokenizer).read("one two three. Four five six. Seven eight nine.")
    live.save(tmp_path / "file.safetensors")
    saved = Reading.open(tmp_path / "file.safetensors")

    def answers(reading: Reading) -> list[Any]:
        table = reading.stats(received=True, largest=True, positions=True)
        return [
            *(table[name] for name in table.columns),
            table.received(1, 0).sums,
            *(reading.row("six", layer, head).weights for layer in (0, 1) for head in (None, 2)),
            np.asarray(reading.map(1, 2, scores=True)),
            reading.map(0).pool(3, 3).weights,
            reading.map(1, 2)[4, 2],
            reading.rollout(),
            [layer.shares for layer in reading.spans(split="sentences").layers],
            [one.weights for one in reading.top("six", 3).heads],
            [weights.numpy() for weights in reading.attentions()],
        ]

    for one, other in zip(answers(live), answers(saved), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_failed_save_leaves_the_old_file(smollm2: Model, tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    reading = smollm2.read(TROPHY, layers=5)
    reading.save(path)
    before = path.read_bytes()
    with pytest.raises(FileError, match="there is no folder"):
        reading.save(tmp_path / "missing" / "file.safetensors")
    broken = Reading(reading.tokens, reading.layers, reading.calls, {"name": float("nan")})
    with pytest.raises(ValueError, match="Out of range float values"):
        broken.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.safetensors"]
