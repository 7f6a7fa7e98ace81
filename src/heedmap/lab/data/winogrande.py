"""WinoGrande: a sentence with a blank, two options and the number of the right one."""

from __future__ import annotations

from collections.abc import Iterator

from heedmap.json_form import shown
from heedmap.lab.data.lines import Line
from heedmap.lab.data.reader import BLANK, Read, Unusable, json_object, question, read_each, text_in
from heedmap.lab.data.types import Question


def read(lines: Iterator[Line]) -> Iterator[Read]:
    """JSON lines with qID, sentence, option1, option2 and answer; ids that end in -1 and -2 are twins."""
    return read_each(lines, _row)


def _row(line: Line) -> Question:
    row = json_object(line)
    text, options = text_in(row, "sentence"), (text_in(row, "option1"), text_in(row, "option2"))
    name = str(row.get("qID", line.number))
    answer = str(row.get("answer", ""))
    if answer not in ("1", "2"):
        hint = " (the test set has none)" if not answer else ""
        raise Unusable(f'expected "1" or "2" as "answer", found {answer!r}{hint}')
    if text.count(BLANK) != 1:
        raise Unusable(f"expected one blank ({BLANK}), found {text.count(BLANK)} in {shown(text)}")
    start = text.index(BLANK)
    twin, _, version = name.rpartition("-")
    return question(
        id=name,
        text=text,
        word=(start, start + 1),
        candidates=options,
        answer=int(answer) - 1,
        unit=twin if version in ("1", "2") and twin else name,
        blank=True,
    )
