"""The readings of real models that a lesson shows: whole pages of the viewer, beside the lesson's own."""

from __future__ import annotations

from collections.abc import Iterator

from heedmap.lessons.blocks import Lesson, View
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

MEGABYTES = 8.0
"""How large each may be: a lesson's text is short, and a class downloads it."""


def map_name(lesson: Lesson, piece: View) -> str:
    """The name of the file of one `view` block."""
    place = [one for one in lesson.pieces if isinstance(one, View)].index(piece) + 1
    return f"{lesson.number:02}-{lesson.slug}-map-{place}.html"


def maps_of(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """Each map of a lesson as a whole file: its name, and its HTML.

    Raises:
        ModelError: the model cannot be loaded.
        WordNotFound, AmbiguousWord, OutOfRange: the block asks for what is not there.
    """
    for piece in lesson.pieces:
        if isinstance(piece, View):
            model = model_named(piece.options.get("model", DEFAULT_MODEL))
            reading = model.read(piece.words, values=True)
            layer, head = (_number(piece.options.get(name)) for name in ("layer", "head"))
            page = reading.page(word=piece.options.get("word"), layer=layer, head=head, max_mb=MEGABYTES)
            yield map_name(lesson, piece), page


def _number(text: str | None) -> int | None:
    """A whole number, or `None`."""
    return None if text is None else int(text)
