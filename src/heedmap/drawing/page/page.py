"""The page of a reading: what `page` methods, `heedmap view` and the notebook make of it."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from heedmap.drawing.page.bundle import load_bundle
from heedmap.drawing.page.comparison import comparison_json
from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import MEGABYTE, Carried, Shown, fill
from heedmap.drawing.page.generation import generation_json, read_again_note, reading_of
from heedmap.drawing.page.html import fixed_size, page_title, render
from heedmap.drawing.page.layers import PRECISIONS
from heedmap.drawing.page.picture import Picture, data_url
from heedmap.errors import ReadingError
from heedmap.files import write_beside
from heedmap.reading.generation import Generation
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.progress import Progress
from heedmap.reading.reading import Reading
from heedmap.reading.statistics import StatisticsMeter, stats_of_tokens
from heedmap.reading.statistics_table import Table
from heedmap.reading.two_stacks import CrossReading, EncoderDecoderReading

DEFAULT_MEGABYTES = 20.0
"""How large a file may grow where neither layers nor a size were asked for."""

STACK_TITLES = {
    "decoder": "The target at itself",
    "cross": "The target at the source",
    "encoder": "The source at itself",
}

Layers: TypeAlias = int | Collection[int] | None


@dataclass(frozen=True, slots=True)
class View:
    """What a page shows first and what it carries.

    Attributes:
        word: the word that looks, see `Tokens.find`; None chooses none.
        layer: from 0; None is the middle one.
        head: from 0; None is the mean over heads.
        layers: the layers to carry, from 0; None carries all that were read, as far as the size allows.
        steps: the layers whose four steps unfold; None is the one shown first.
        precision: "float16", or "float32" for all numbers.
        max_mb: megabytes that the file may have; None allows 20, and any size where `layers` are given.
        compare: another reading, to show where it differs.
        picture: of a reading of patches, the picture.
        generation: what the model wrote, where the reading is of a prompt and what was written after it.
    """

    word: str | None = None
    layer: int | None = None
    head: int | None = None
    layers: Layers = None
    steps: Layers = None
    precision: str = "float16"
    max_mb: float | None = None
    compare: Reading | None = None
    picture: Picture | None = None
    generation: Generation | None = None

    def carried(self) -> Carried:
        """Which layers the page carries, and how.

        Raises:
            ReadingError: another precision.
        """
        if self.precision not in PRECISIONS:
            raise ReadingError(f"precision {self.precision!r} is not known: take {' or '.join(PRECISIONS)}")
        megabytes = DEFAULT_MEGABYTES if self.max_mb is None and self.layers is None else self.max_mb
        budget = None if megabytes is None else int(megabytes * MEGABYTE)
        return Carried(_set(self.layers), _set(self.steps), self.precision, budget, strict=self.max_mb is not None)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was made.

    Attributes:
        html: the file, as text.
        notes: what is carried, and what was left out, reading by reading.
    """

    html: str
    notes: list[str]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file.

        Raises:
            FileError: it cannot be written; one that was there stays as it was.
        """
        with write_beside(Path(path)) as beside:
            beside.write_text(self.html, encoding="utf-8")


def make_page(subject: OnAPage, view: View, *, progress: Progress | None = None) -> Page:
    """The page as HTML.

    Raises:
        WordNotFound, AmbiguousWord: the word is not there, or several times.
        OutOfRange: no such layer or head.
        ReadingError: another precision; a layer whose steps were asked for has no values here.
        TooLarge: `max_mb` does not hold the layer shown first.
        FileError: the page's program is not built here.
    """
    bundle = load_bundle()
    contents = make_contents(subject, view, fixed=fixed_size(bundle), progress=progress)
    notes = [note for reading in contents.readings for note in reading["notes"]]
    return Page(render(contents, bundle, page_title(contents.texts[0]["text"])), list(dict.fromkeys(notes)))


def make_contents(subject: OnAPage, view: View, *, fixed: int = 0, progress: Progress | None = None) -> Contents:
    """Header and blocks of a page; see `make_page`."""
    contents = Contents()
    shown = _shown(subject, view, contents, progress)
    first = shown[0]
    query = None if view.word is None else first.reading.find(view.word).tokens[-1]
    head = first.reading.head_number(view.head, first.layer)
    contents.start = {"reading": first.name, "layer": first.layer, "head": head, "query": query}
    fill(contents, shown, view.carried(), fixed=fixed, progress=progress)
    return contents


def _shown(subject: OnAPage, view: View, contents: Contents, progress: Progress | None) -> list[Shown]:
    """The readings of a page, the one shown first at the front."""
    if isinstance(subject, Generation):
        return _of_generation(subject, view, contents)
    if view.generation is not None:
        contents.extras |= generation_json(view.generation, read_again_note(subject, view.generation))
    if isinstance(subject, EncoderDecoderReading):
        stacks = [subject.stack(name) for name in ("cross", "decoder", "encoder")]
        names = ["cross", "self", "encoder"]
        titles = [STACK_TITLES[str(stack.model["stack"])] for stack in stacks]
        return [_one(*one, view, progress) for one in zip(names, titles, stacks, strict=True)]
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


def _one(name: str, title: str, reading: Reading, view: View, progress: Progress | None) -> Shown:
    """One reading, with its statistics and the values that the steps need."""
    _check_lengths(reading)
    layer = reading.layer_number(view.layer)
    steps = [layer] if view.steps is None else sorted(_set(view.steps) or ())
    for number in steps:
        reading.layer_number(number)
    picture = None if view.picture is None else data_url(view.picture)
    statistics = _statistics(reading, progress)
    return Shown(name, title, with_values(reading, steps, progress), layer, statistics, picture)


def _check_lengths(reading: Reading) -> None:
    """Refuse maps of another length than their tokens: every label would name another token's numbers.

    Raises:
        ReadingError: a layer's map has more or fewer rows or columns than there are tokens.
    """
    rows, columns = len(reading.tokens), len(reading.tokens if reading.keys is None else reading.keys)
    for number, call in reading.calls.items():
        if (call.rule.queries, call.rule.keys) != (rows, columns):
            raise ReadingError(
                f"layer {number} has {call.rule.queries} x {call.rule.keys} weights, and there are {rows} tokens that "
                f"look and {columns} to be looked at: give the tokens that ran"
            )


def with_values(reading: Reading, layers: Sequence[int], progress: Progress | None) -> Reading:
    """The reading with the values of some layers, read again where they were not kept and the model is there."""
    missing = [number for number in layers if number in reading.calls and reading.calls[number].value is None]
    if not missing or reading.reader is None or "weights_from" in reading.model:
        return reading
    again = reading.reader.read_tokens(reading.tokens, layers=missing, values=True, progress=progress)
    calls = {number: again.calls.get(number, call) for number, call in reading.calls.items()}
    return replace(reading, calls=OrderedDict(calls))


def _statistics(reading: Reading, progress: Progress | None) -> Table | None:
    """Statistics of all heads: of the layers that were not kept too, where the model is there."""
    if isinstance(reading, CrossReading) or reading.keys is not None:
        return None
    if reading.reader is not None and len(reading.calls) < len(reading.layers):
        return stats_of_tokens(reading.reader, StatisticsMeter(reading.tokens), progress=progress)
    return reading.stats(progress=progress)


def _told_apart(a: Reading, b: Reading) -> list[str]:
    """Titles that tell two readings apart: their models where the text is one, else their texts."""
    if a.tokens.text == b.tokens.text:
        return [str(one.model["name"]) for one in (a, b)]
    return [page_title(one.tokens.text).removesuffix(" · Heedmap") for one in (a, b)]


def _set(layers: Any) -> Collection[int] | None:
    """Layers as a collection; None stays None."""
    return None if layers is None else {layers} if isinstance(layers, int) else set(layers)
