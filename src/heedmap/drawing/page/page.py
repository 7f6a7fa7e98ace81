"""The page of a reading: what `page` methods, `heedmap view` and the notebook make of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from heedmap.drawing.page.bundle import load_bundle
from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import fill
from heedmap.drawing.page.html import fixed_size, page_title, render
from heedmap.drawing.page.subjects import readings_shown
from heedmap.drawing.page.view import View
from heedmap.files import write_beside
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.progress import Progress


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
    shown = readings_shown(subject, view, contents, progress)
    first = shown[0]
    query = None if view.word is None else first.reading.find(view.word).tokens[-1]
    head = first.reading.head_number(view.head, first.layer)
    contents.start = {"reading": first.name, "layer": first.layer, "head": head, "query": query}
    fill(contents, shown, view.carried(), fixed=fixed, progress=progress)
    return contents
