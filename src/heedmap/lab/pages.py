"""The page's views that a report links to: the layer and head that an experiment found, on its first text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap.errors import HeedmapError
from heedmap.lab.data import Pair, Question, Sentence
from heedmap.lab.experiment import Finding
from heedmap.lab.measure import Note
from heedmap.lab.plan import Part

if TYPE_CHECKING:
    from heedmap.reading.model import Model

PAGES = "pages"

Links = dict[str, list[dict[str, str]]]
"""By experiment: the address of each page, and what it shows."""


def write_pages(
    model: Model, parts: Sequence[Part], findings: Mapping[str, Finding], folder: Path, note: Note
) -> Links:
    """Write a page for each experiment that names a layer (its figures `NAME.best.layer` and `NAME.best.head`).

    A page is an extra: what cannot be drawn is told, and the report is written without it.

    Args:
        model: what was measured.
        parts: what ran.
        findings: what was found, by experiment.
        folder: of the report.
        note: told why a page is missing.
    """
    links: Links = {}
    for part in parts:
        figures = findings[part.name].figures
        layer, head = (figures.get(f"{part.name}.best.{what}") for what in ("layer", "head"))
        if layer is None or not isinstance(layer.value, int):
            continue
        number = head.value if head is not None and isinstance(head.value, int) else None
        try:
            links[part.name] = [_write(model, part, layer.value, number, folder)]
        except HeedmapError as error:
            note(f"no page for {part.name}: {error}")
    return links


def _write(model: Model, part: Part, layer: int, head: int | None, folder: Path) -> dict[str, str]:
    """Write one page; its address in the report's folder, and what it shows."""
    text, word = _text_and_word(part.items[0].content)
    tokens = model.tokenize(text, special_tokens=part.settings.special_tokens)
    reading = model.read_tokens(tokens, layers=layer)
    (folder / PAGES).mkdir(exist_ok=True)
    name = f"{part.name}.html"
    reading.page(folder / PAGES / name, word=word, layer=layer, head=head, layers=layer)
    view = {"layer": layer, "head": head, "query": None if word is None else tokens.find(word).tokens[0]}
    known = "&".join(f"{key}={value}" for key, value in view.items() if value is not None)
    place = f"layer {layer}" if head is None else f"layer {layer} head {head}"
    return {"address": f"{PAGES}/{name}#{known}", "says": f"Look at {place} in “{text}”"}


def _text_and_word(content: Any) -> tuple[str, str | None]:
    """The text of an item, and the word in it that looks, where it has one."""
    if isinstance(content, Pair):
        return content.texts[0], content.words[0]
    if isinstance(content, Question):
        return content.text, content.word
    if isinstance(content, Sentence):
        return content.text, None
    raise HeedmapError("its items are no texts")
