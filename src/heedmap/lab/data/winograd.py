"""The Winograd Schema Challenge in three published forms: the collection's XML, JSON lines, and XWinograd's table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.etree import ElementTree

from heedmap.json_form import shown
from heedmap.json_text import parse_json
from heedmap.lab.data.lines import Line
from heedmap.lab.data.reader import Read, Unusable, json_object, question, read_each, squeeze, text_in
from heedmap.lab.data.twins import beside_each_other
from heedmap.lab.data.types import Question

_CLOSES = (".", ",", ";", ":", "!", "?", "'", "’")
"""A part of a schema that begins with one of these follows the pronoun without a space."""

_QUOTES = ("``", "''")
"""How the tokens of XWinograd write a quotation mark of the sentence."""


def read_xml(lines: Iterator[Line]) -> Iterator[Read]:
    """`WSCollection.xml`: one element a schema, twins one after the other."""
    return beside_each_other(_schemas(lines))


def read_jsonl(lines: Iterator[Line]) -> Iterator[Read]:
    """JSON lines with text, pronoun, pronoun_start, candidates and label."""
    return beside_each_other(read_each(lines, _json_row))


def read_xwinograd(lines: Iterator[Line]) -> Iterator[Read]:
    """XWinograd: language, origin, a mark, sentence, its tokens, the pronoun and the candidates, with tabs between."""
    return beside_each_other(read_each(lines, _table_row))


def _schemas(lines: Iterator[Line]) -> Iterator[Read]:
    """Each schema as soon as its element ends; the line is the one it begins on."""
    parser: ElementTree.XMLPullParser[ElementTree.Element] = ElementTree.XMLPullParser(["start", "end"])
    began = line = None
    number = 0
    for line in lines:
        try:
            parser.feed(f"{line.text}\n")
            events: list[Any] = list(parser.read_events())
        except ElementTree.ParseError as error:
            yield line, f"the XML is broken here: {str(error).partition(':')[0]}"
            return
        for event, element in events:
            if event == "start" and element.tag == "schema":
                began = line
            elif event == "end" and element.tag == "schema":
                assert began is not None, "an element starts before it ends"
                yield from read_each(iter([began]), partial(_schema, element, number))
                number += 1
                element.clear()
    try:
        parser.close()
    except ElementTree.ParseError:
        if line is not None:
            yield line, "the XML ends here, before its elements are closed"


def _schema(element: ElementTree.Element, number: int, _: Line) -> Question:
    """One element of the collection."""
    parts = [squeeze(element.findtext(f"text/{name}")) for name in ("txt1", "pron", "txt2")]
    answers = [squeeze(answer.text) for answer in element.findall("answers/answer")]
    right = squeeze(element.findtext("correctAnswer"))[:1].upper()
    if len(answers) != 2 or right not in ("A", "B"):
        raise Unusable(f"expected two answers and A or B as the correct one, found {len(answers)} and {right!r}")
    before, word, after = parts
    start = len(before) + 1 if before else 0
    text = squeeze(f"{before} {word}{'' if after.startswith(_CLOSES) else ' '}{after}")
    return question(
        id=f"winograd-{number}",
        text=text,
        word=(start, start + len(word)),
        candidates=(answers[0], answers[1]),
        answer="AB".index(right),
    )


def _json_row(line: Line) -> Question:
    row = json_object(line)
    text, word, start = text_in(row, "text"), text_in(row, "pronoun"), row.get("pronoun_start")
    candidates, label = row.get("candidates"), row.get("label")
    if not isinstance(start, int) or text[start : start + len(word)] != word:
        raise Unusable(f'the pronoun {word!r} does not stand at "pronoun_start" {start!r}')
    if not isinstance(candidates, list) or len(candidates) != 2 or not all(isinstance(one, str) for one in candidates):
        raise Unusable(f'expected two texts as "candidates", found {shown(candidates)}')
    if label not in (0, 1):
        raise Unusable(f'expected 0 or 1 as "label", found {label!r}')
    return question(
        id=f"winograd-{row.get('id', line.number)}",
        text=text,
        word=(start, start + len(word)),
        candidates=(candidates[0], candidates[1]),
        answer=label,
    )


def _table_row(line: Line) -> Question:
    columns = line.text.split("\t")
    if len(columns) != 7:
        raise Unusable(f"expected 7 columns with tabs between, found {len(columns)}")
    text = columns[3]
    try:
        tokens, (word, (first, _), _), answers = (parse_json(column) for column in columns[4:])
        names, right = [answer[0] for answer in answers], [bool(answer[3]) for answer in answers]
    except (ValueError, TypeError, IndexError):
        raise Unusable("expected tokens, pronoun and candidates as JSON in columns 5, 6 and 7") from None
    if len(names) != 2 or sum(right) != 1:
        raise Unusable(f"expected two candidates, one of them right, found {len(names)} with {sum(right)} right")
    start = _start_of_token(text, tokens, first)
    return question(
        id=f"winograd-{line.number - 1}",
        text=text,
        word=(start, start + len(word)),
        candidates=(names[0], names[1]),
        answer=right.index(True),
    )


def _start_of_token(text: str, tokens: list[str], number: int) -> int:
    """The character at which one of the tokens begins that a text was cut into."""
    reached = start = 0
    for token in tokens[: number + 1]:
        token = '"' if token in _QUOTES else token
        start = text.find(token, reached)
        if start < 0:
            raise Unusable(f"the token {token!r} does not stand in {shown(text)}")
        reached = start + len(token)
    return start
