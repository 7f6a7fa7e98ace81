"""Real headers of pages and of readings that the local application serves, of every kind that a schema tells of."""

from __future__ import annotations

import json
from typing import Any

import heedmap
from heedmap.reading.edits import forbid
from heedmap.reading.model import Model
from heedmap.reading.progress import silent
from heedmap.server.header import served_header
from heedmap.server.work import Work
from tests.drawing.page.making import made_contents
from tests.families import tiny_family
from tests.pictures import noise, vision_model, word_tokenizer


def header_of(html: str) -> Any:
    """The header that stands in a page."""
    return json.loads(html.split('id="heedmap-header">')[1].split("</script>")[0])


def pages(model: Model, text: str) -> list[Any]:
    """Two texts beside each other, a generation, a picture, stacks, and layers of eight kinds."""
    reading = model.read(text)
    stacks = heedmap.wrap(tiny_family("t5"), word_tokenizer()).read("the cat sat", target="a dog", values=True)
    hybrid = heedmap.wrap(tiny_family("lfm2"), word_tokenizer()).edited(forbid("sat", "cat")).read("the cat sat")
    made = made_contents()[0].header()
    for one in made["readings"]:  # they come from no model
        one["model"] = reading.model
    made["generation"] = {"prompt": 3, "chosenBy": [2, 3], "note": "made"}
    return [
        header_of(reading.page(word="head", layer=1, compare=model.read("the hat, the other"))),
        header_of(model.generate(text, 2).page(layer=1)),
        header_of(vision_model().read_picture(noise()).page(layer=0)),
        header_of(stacks.page(layer=1)),
        header_of(hybrid.page()),
        made,
    ]


def served(place: str, text: str) -> list[Any]:
    """A reading, and what the endpoint answers that reads a text with the model of a folder."""
    asked = {"reading": "r1", "model": place, "text": text, "special_tokens": None, "truncate": False}
    answer = {"id": asked["reading"], **Work().read(asked, silent).head}
    picture = served_header(vision_model().read_picture(noise()).vision)
    return [json.loads(json.dumps(one, allow_nan=False)) for one in (answer, picture)]
