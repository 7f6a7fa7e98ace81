"""The pages that the tests look at, each written once; real ones by smollm2 and minilm, the others by tiny models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import pytest

import heedmap
from heedmap.drawing.page.bundle import FOLDER
from heedmap.reading.generation import Generation
from heedmap.reading.model import Model
from heedmap.reading.picture_reading import PictureReading
from heedmap.reading.reading import Reading
from heedmap.reading.two_stacks import EncoderDecoderReading
from tests.conftest import TROPHY
from tests.drawing.page.making import STEPS, reading
from tests.families import tiny_family
from tests.pictures import llava_model, noise, vision_model, word_tokenizer

ANIMAL = "The cat sat on the mat because it was warm."
LONGER = "The trophy did not fit in the old brown suitcase because it was too small."
SMALL = TROPHY.replace("big", "small")


Subject = TypeVar("Subject")


@dataclass(frozen=True, eq=False)
class Written(Generic[Subject]):
    """A page, and what Python knows of what it shows."""

    path: Path
    subject: Subject


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pages are written."""
    if not (FOLDER / "page.js").is_file():
        pytest.skip("the page's program is not built here: `make viewer`")
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def trophy(folder: Path, smollm2: Model) -> Written[Reading]:
    """All layers of a sentence of 15 tokens, the steps of one layer among them."""
    read = smollm2.read(TROPHY)
    read.page(folder / "trophy.html", word="it", layer=16, head=3)
    return Written(folder / "trophy.html", read)


@pytest.fixture(scope="session")
def compared(folder: Path, smollm2: Model) -> Written[tuple[Reading, Reading]]:
    """Two sentences that differ in one word."""
    one, other = smollm2.read(TROPHY, layers=[15, 16]), smollm2.read(SMALL, layers=[15, 16])
    one.page(folder / "compared.html", word="big", layer=16, head=3, compare=other)
    return Written(folder / "compared.html", (one, other))


@pytest.fixture(scope="session")
def uneven(folder: Path, smollm2: Model) -> Written[tuple[Reading, Reading]]:
    """Two sentences of which one has two words more."""
    one, other = (smollm2.read(text, layers=[16]) for text in (TROPHY, LONGER))
    one.page(folder / "uneven.html", word="big", layer=16, head=3, compare=other)
    return Written(folder / "uneven.html", (one, other))


@pytest.fixture(scope="session")
def written(folder: Path, smollm2: Model) -> Written[Generation]:
    """What a model went on to write."""
    generation = smollm2.generate("The capital of France is", 6)
    generation.page(folder / "written.html", layer=16, head=3)
    return Written(folder / "written.html", generation)


@pytest.fixture(scope="session")
def both_ways(folder: Path, minilm: Model) -> Written[Reading]:
    """An encoder, in which every token sees the whole text."""
    read = minilm.read(ANIMAL)
    read.page(folder / "both-ways.html", word="it", layer=3, head=5)
    return Written(folder / "both-ways.html", read)


@pytest.fixture(scope="session")
def kinds(folder: Path) -> Written[Reading]:
    """Layers of every kind: windows, sinks, caps, holes, and one with weights that are not numbers."""
    read = reading()
    read.page(folder / "kinds.html", layer=6, head=1, layers=range(8), steps=[*STEPS, 6])
    return Written(folder / "kinds.html", read)


@pytest.fixture(scope="session")
def two_stacks(folder: Path) -> Written[EncoderDecoderReading]:
    """An encoder-decoder: the target at the source and at itself, the source at itself."""
    model = heedmap.wrap(tiny_family("t5"), word_tokenizer(), name="t5")
    read = model.read("the cat sat on a mat and looked", target="it was red", values=True)
    read.page(folder / "two-stacks.html", layer=1, head=0)
    return Written(folder / "two-stacks.html", read)


@pytest.fixture(scope="session")
def patches(folder: Path) -> Written[PictureReading]:
    """A picture alone, in patches."""
    read = vision_model().read_picture(noise(50, 40))
    read.page(folder / "patches.html", word="r1c2", layer=0, head=1)
    return Written(folder / "patches.html", read)


@pytest.fixture(scope="session")
def picture_in_text(folder: Path) -> Written[PictureReading]:
    """A text with a picture in it."""
    read = llava_model().read_picture(noise(50, 40), "the cat <image> looked at a dog")
    read.page(folder / "picture-in-text.html", word="dog", layer=0, head=1)
    return Written(folder / "picture-in-text.html", read)
