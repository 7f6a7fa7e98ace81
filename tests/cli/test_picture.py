"""`heedmap picture`: where in a picture a model looks, from a folder with its processor, as a user calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.cli.conftest import CommandLine
from tests.conftest import ROUNDING
from tests.pictures import llava_model, noise, processor_of, vision_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models with their processors, and a picture."""
    place = tmp_path_factory.mktemp("pictures")
    for name, model in (("vit", vision_model()), ("llava", llava_model())):
        model.module.save_pretrained(place / name)
        processor_of(model).save_pretrained(place / name)
    Image.fromarray(noise()).save(place / "noise.png")
    return place


def test_a_picture_is_a_grid_of_patches(heedmap_command: CommandLine, folder: Path) -> None:
    run = heedmap_command("picture", str(folder / "noise.png"), "--model", str(folder / "vit"), "--head", "1")
    assert run.code == 0, run.err
    lines = run.out.splitlines()
    assert lines[0].startswith("where “class” looks: layer 1, head 1 of ")
    assert [line[:3] for line in lines if line.startswith("r")][:4] == ["r0 ", "r1 ", "r2 ", "r3 "]
    assert "4 × 4 patches, row and column from 0; largest: r" in run.out.replace("\n", " ")
    assert "4 x 4 patches of a picture of 32 x 32; 2 layers x 4 heads, float32" in run.err
    assert "no layer was given: 1 is the middle one of 2" in run.err


def test_json_gives_the_numbers_that_are_drawn(heedmap_command: CommandLine, folder: Path) -> None:
    given = ("--model", str(folder / "llava"), "--text", "the cat <image> looked", "--word", "looked", "--layer", "1")
    run = heedmap_command("picture", str(folder / "noise.png"), *given, "--json")
    assert run.code == 0, run.err
    found: Any = run.json
    reading = llava_model().read_picture(noise(), "the cat <image> looked")
    expected = reading.patches("looked", 1).to_json()
    assert found["schema"] == "heedmap/patches/1"
    for row, drawn in zip(found["patches"], expected["patches"], strict=True):
        assert row == pytest.approx(drawn, abs=ROUNDING)


def test_the_picture_is_drawn_on(heedmap_command: CommandLine, folder: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.png"
    run = heedmap_command("picture", str(folder / "noise.png"), "--model", str(folder / "vit"), "-o", str(drawn))
    assert run.code == 0, run.err
    assert f"wrote {drawn}" in run.err
    assert run.out == ""
    with Image.open(drawn) as file:
        assert file.size[0] > 500


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("noise.png",), 2, "Missing option '--model'"),
        (("nowhere.png", "--model", "vit"), 1, "there is no file"),
        (("noise.png", "--model", "vit", "--text", "a cat"), 1, "takes pictures alone: leave the text out"),
        (("noise.png", "--model", "llava"), 1, "reads a picture within a text: give both"),
        (("noise.png", "--model", "vit", "--stack", "text"), 1, "there is no stack 'text': take one of vision"),
        (("noise.png", "--model", "vit", "--layer", "9"), 1, "layer 9 is out of range: the model has 2 layers, 0 to 1"),
        (("noise.png", "--model", "smollm2"), 1, "smollm2 takes no pictures: it is a LlamaForCausalLM"),
    ],
)
def test_what_is_wrong_is_one_line(
    heedmap_command: CommandLine, folder: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    places = [str(folder / one) if one in ("noise.png", "vit", "llava") else one for one in arguments]
    run = heedmap_command("picture", *places)
    assert run.code == code
    assert message in run.err
    assert "Traceback" not in run.err


def test_a_text_for_a_model_of_pictures_says_what_to_do(heedmap_command: CommandLine, folder: Path) -> None:
    run = heedmap_command("read", "the cat", "--model", str(folder / "vit"))
    assert run.code == 1
    assert "takes pictures, not text: read one with model.read_picture(picture)" in run.err
