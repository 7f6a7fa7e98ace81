"""Which readings a page shows: of one text, of two, of an encoder-decoder's stacks, of a picture, of a generation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heedmap.drawing.page.comparison import comparison_json
from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import Shown
from heedmap.drawing.page.generation import generation_json, read_again_note, reading_of
from heedmap.drawing.page.html import page_title
from heedmap.drawing.page.picture import data_url
from heedmap.drawing.page.texts import Patches
from heedmap.drawing.page.view import View, numbers_of
from heedmap.errors import ReadingError
from heedmap.reading.again import run_again, with_values
from heedmap.reading.generation import Generation
from heedmap.reading.listening import TEXT, VISION
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.picture_reading import PictureReading
from heedmap.reading.progress import Progress
from heedmap.reading.reading import Reading
from heedmap.reading.statistics import StatisticsMeter
from heedmap.reading.statistics_table import Table
from heedmap.reading.two_stacks import CrossReading, EncoderDecoderReading

STACK_TITLES = {
    "decoder": "The target at itself",
    "cross": "The target at the source",
    "encoder": "The source at itself",
}


def readings_shown(subject: OnAPage, view: View, contents: Contents, progress: Progress | None) -> list[Shown]:
    """The readings of a page, the one shown first at the front."""
    if isinstance(subject, Generation):
        return _of_generation(subject, view, contents)
    if view.generation is not None:
        contents.extras |= generation_json(view.generation, read_again_note(subject, view.generation))
    if isinstance(subject, EncoderDecoderReading):
        names = {"cross": "cross", "decoder": "self", "encoder": "encoder"}
        stacks = {name: stack for name in names if (stack := subject.stack(name)).calls}
        return [
            _one(names[name], STACK_TITLES[name], stack, _view_of(stack, view, list(stacks.values())), progress)
            for name, stack in stacks.items()
        ]
    if isinstance(subject, PictureReading):
        return _of_picture(subject, view, progress)
    assert isinstance(subject, Reading)
    if view.compare is not None:
        contents.extras |= comparison_json(subject, view.compare)
        titles = _told_apart(subject, view.compare)
        pairs = zip(("a", "b"), titles, (subject, view.compare), strict=True)
        return [_one(*one, view, progress) for one in pairs]
    title = STACK_TITLES.get(str(subject.model.get("stack")), "Self-attention")
    return [_one("cross" if subject.keys is not None else "self", title, subject, view, progress)]


def _of_generation(generation: Generation, view: View, contents: Contents) -> list[Shown]:
    """The rows that chose the written tokens: on the text itself, and on the source where there is one."""
    contents.extras |= generation_json(generation, "These are the rows of the steps at which the tokens were written.")
    parts = [("self", "Who chose each written token", generation)]
    if generation.cross is not None:
        parts.insert(0, ("cross", "Where the source was looked at for each written token", generation.cross))
    readings = [(name, title, reading_of(part)) for name, title, part in parts]
    return [Shown(name, title, reading, reading.layer_number(view.layer)) for name, title, reading in readings]


def _of_picture(subject: PictureReading, view: View, progress: Progress | None) -> list[Shown]:
    """The text, where it sees the picture, then the patches' look at each other, then a text apart from it."""
    picture = data_url(subject.picture)
    titles = {VISION: "The patches of the picture", TEXT: "The text"}
    names = [name for name in (TEXT, VISION) if name in subject.places]
    shown = [replace(_one(name, titles[name], subject.stack(name), view, progress), picture=picture) for name in names]
    shown = [replace(one, patches=_patches(subject, one.name)) for one in shown]
    if subject.text is not None and TEXT not in names:
        shown.append(_one(TEXT, titles[TEXT], subject.text, view, progress))
    return shown


def _patches(subject: PictureReading, stack: str) -> Patches:
    """Where each token of a stack lies in the picture."""
    patches: Patches = [None] * len(subject.stack(stack).tokens)
    for (row, column), token in np.ndenumerate(subject.places[stack]):
        patches[token] = (row, column)
    return patches


def _one(name: str, title: str, reading: Reading, view: View, progress: Progress | None) -> Shown:
    """One reading, with its statistics and the values that the steps need."""
    layer = reading.layer_number(view.layer)
    steps = [layer] if view.steps is None else sorted(numbers_of(view.steps) or ())
    for number in steps:
        reading.layer_number(number)
    picture = None if view.picture is None else data_url(view.picture)
    missing = [number for number in steps if number in reading.calls and reading.calls[number].value is None]
    notes = []
    statistics, left_out = _statistics(reading, progress)
    if left_out:
        notes.append(f"The statistics are those of the layers that were kept: {left_out}.")
    if missing and reading.reader is not None and "weights_from" not in reading.model:
        try:
            calls = with_values(reading, missing, progress)
            reading = replace(reading, calls=OrderedDict({**reading.calls, **calls}))
        except ReadingError as error:
            if view.steps is not None:
                raise
            notes.append(f"The four steps do not unfold: {error}.")
    return Shown(name, title, reading, layer, statistics, picture, notes=tuple(notes))


def _view_of(stack: Reading, view: View, stacks: Sequence[Reading]) -> View:
    """The view of one stack of several: without the layers that others have, and this one has not."""
    own, others = ({layer.number for one in some for layer in one.layers} for some in ([stack], stacks))
    steps = numbers_of(view.steps)
    return replace(
        view,
        layer=None if view.layer in others - own else view.layer,
        steps=None if steps is None else [number for number in steps if number not in others - own],
    )


def _statistics(reading: Reading, progress: Progress | None) -> tuple[Table | None, str]:
    """Statistics of all heads, and why those of layers that were not kept are left out.

    They take a second pass: where there is no live model, they are left out without a word.
    """
    if isinstance(reading, CrossReading) or reading.keys is not None:
        return None, ""
    left_out = ""
    if reading.reader is not None and len(reading.calls) < len(reading.layers):
        meter = StatisticsMeter(reading.tokens)
        try:
            run_again(reading, lambda layer, heard: meter.add(layer, heard.call), progress=progress)
            return meter.table(reading.model), ""
        except ReadingError as error:
            left_out = str(error)
    return reading.stats(progress=progress), left_out


def _told_apart(a: Reading, b: Reading) -> list[str]:
    """Titles that tell two readings apart: their models where the text is one, else their texts."""
    if a.tokens.text == b.tokens.text:
        return [str(one.model["name"]) for one in (a, b)]
    return [page_title(one.tokens.text).removesuffix(" · Heedmap") for one in (a, b)]
