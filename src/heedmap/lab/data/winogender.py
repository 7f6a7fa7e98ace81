"""Winogender: 720 sentences about an occupation and somebody else, each with he, she and they."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from heedmap.json_form import shown
from heedmap.lab.data.lines import Line
from heedmap.lab.data.reader import Read, Unusable, question, read_each
from heedmap.lab.data.types import Question

HEADER = "sentid\tsentence"
"""The first line of `all_sentences.tsv`."""

TEMPLATES = "occupation(0)\tother-participant(1)"
"""How `templates.tsv` begins, which holds no sentences."""

_PRONOUN = re.compile(r"\b(he|she|they|him|her|them|his|their)\b")


def read(lines: Iterator[Line]) -> Iterator[Read]:
    """`all_sentences.tsv`: the two templates of an occupation with the same other and pronoun are a pair."""
    return read_each(islice(lines, 1, None), _row)


def _row(line: Line) -> Question:
    name, tab, text = line.text.partition("\t")
    parts = name.split(".")
    if not tab or len(parts) != 5 or parts[2] not in ("0", "1"):
        raise Unusable(
            f"expected an id such as technician.customer.1.male.txt, a tab and the sentence, found {shown(line.text)}"
        )
    occupation, other, answer, gender, _ = parts
    pronouns = list(_PRONOUN.finditer(text))
    if len(pronouns) != 1:
        raise Unusable(f"expected one pronoun, found {len(pronouns)} in {shown(text)}")
    return question(
        id=name.removesuffix(".txt"),
        text=text,
        word=pronouns[0].span(),
        candidates=(f"the {occupation}", other if other == "someone" else f"the {other}"),
        answer=int(answer),
        # The four sentences of an occupation have its noun in common: they never stand in different halves.
        family=occupation,
        unit=f"{occupation}.{other}.{gender}",
    )
