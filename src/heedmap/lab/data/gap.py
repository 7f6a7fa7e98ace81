"""GAP: paragraphs of Wikipedia, each with a pronoun and two names at stated characters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from heedmap.cut_text import cut_text
from heedmap.json_form import shown
from heedmap.lab.data.lines import Line
from heedmap.lab.data.reader import Read, Unusable, question, read_each
from heedmap.lab.data.types import Question
from heedmap.whole_numbers import whole_number

COLUMNS = (
    "ID",
    "Text",
    "Pronoun",
    "Pronoun-offset",
    "A",
    "A-offset",
    "A-coref",
    "B",
    "B-offset",
    "B-coref",
    "URL",
)
"""Its first line, with tabs between."""


def read(lines: Iterator[Line]) -> Iterator[Read]:
    """One question a line; there are no pairs in this set."""
    return read_each(islice(lines, 1, None), _row)


def _row(line: Line) -> Question:
    cells = line.text.split("\t")
    if len(cells) != len(COLUMNS):
        raise Unusable(f"expected {len(COLUMNS)} columns with tabs between, found {len(cells)}")
    row = dict(zip(COLUMNS, cells, strict=True))
    text = row["Text"]
    places = {name: _place(text, row[name], row[f"{name}-offset"]) for name in ("Pronoun", "A", "B")}
    means = [row[f"{name}-coref"].strip().upper() for name in ("A", "B")]
    if sorted(means) != ["FALSE", "TRUE"]:
        both = "neither name" if means == ["FALSE", "FALSE"] else f"A-coref {means[0]} and B-coref {means[1]}"
        raise Unusable(f"the pronoun means {both}: a question has two nouns of which it means one")
    return question(
        id=row["ID"],
        text=text,
        word=places["Pronoun"],
        candidates=(row["A"], row["B"]),
        answer=means.index("TRUE"),
    )


def _place(text: str, word: str, offset: str) -> tuple[int, int]:
    """Where a word stands that the row gives the place of.

    Raises:
        Unusable: it stands elsewhere.
    """
    start = whole_number(offset)
    if start is None or not word or text[start : start + len(word)] != word:
        raise Unusable(f"{word!r} does not stand at character {cut_text(offset, 20)} of {shown(text)}")
    return start, start + len(word)
