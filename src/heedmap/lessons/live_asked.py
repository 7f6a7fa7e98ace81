"""Live numbers of asking a real model which noun a pronoun means, by the lab's own measure, on the built-in pairs.

The model is asked "What does 'it' refer to? Answer: the", and what it says is the noun with better odds.
"""

from __future__ import annotations

import functools

import numpy as np

from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lab.data import Pair, pairs
from heedmap.lab.data.types import Question
from heedmap.lab.reference import ReferenceSettings
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

WORDINGS = ReferenceSettings().wordings
"""The lab's ways to ask, the main one first."""


@functools.cache
def _pairs() -> dict[str, Pair]:
    """The built-in pairs by id."""
    return {one.id: one for one in pairs(None)}


def pair_named(name: str) -> Pair:
    """A built-in pair.

    Raises:
        LessonError: there is none of that id.

    Example:
        >>> pair_named("size-trophy").texts[1]
        'The trophy did not fit in the suitcase because it was too small.'
    """
    if name not in _pairs():
        raise LessonError(f"no built-in pair {name!r}: expected an id such as size-trophy")
    return _pairs()[name]


@functools.cache
def log_odds(name: str, wording: int = 0) -> tuple[float, float]:
    """The log-odds of the pair's first noun against the second, after each of its two versions."""
    from heedmap.lab.reference_measure import measure  # loads torch: not before a model is asked

    settings = ReferenceSettings(wordings=(WORDINGS[wording],), other_order=False, baseline=False)
    (row,) = measure(model_named(DEFAULT_MODEL), [pair_named(name)], settings)
    first, second = np.asarray(row["ask"])[0, :2, 0]
    return float(first), float(second)


def _said(question: Question, odds: float) -> str:
    """The noun with better odds."""
    return question.candidates[int(odds < 0)]


@REGISTRY.add("pair-text", "PAIR VERSION", "a built-in sentence: version 1 or 2 of a pair")
def _pair_text(arguments: Arguments) -> Figure:
    pair, version = pair_named(arguments.word("a pair")), arguments.whole("a version")
    if version not in (1, 2):
        raise LessonError(f"expected version 1 or 2, found {version}")
    return Figure(pair.texts[version - 1])


@REGISTRY.add("asked", "PAIR VERSION", "what a model says the pronoun means", model=True)
def _asked(arguments: Arguments) -> Figure:
    name, version = arguments.word("a pair"), arguments.whole("a version")
    if version not in (1, 2):
        raise LessonError(f"expected version 1 or 2, found {version}")
    return Figure(_said(pair_named(name).questions[version - 1], log_odds(name)[version - 1]))


@REGISTRY.add("asked-odds", "PAIR VERSION [digits=2]", "the log-odds of its first noun against the second", model=True)
def _asked_odds(arguments: Arguments) -> Figure:
    name, version = arguments.word("a pair"), arguments.whole("a version")
    if version not in (1, 2):
        raise LessonError(f"expected version 1 or 2, found {version}")
    return rounded(log_odds(name)[version - 1], arguments.digits(2))


@REGISTRY.add(
    "asked-table",
    "PAIR,PAIR,... [versions=both|1|2] [wording=1]",
    "what a model says on some pairs, and what is right",
    block=True,
    model=True,
)
def _asked_table(arguments: Arguments) -> Figure:
    rows = [["sentence, from the word on", "right", "it says", "log-odds", ""]]
    right = 0
    for _, question, odds in _answers(arguments):
        said, meant = _said(question, odds), question.candidates[question.answer]
        right += said == meant
        clause = question.text[question.text.index(f" {question.word.partition('#')[0]} ") + 1 :]
        rows.append([clause, meant, said, number(odds, 2), "right" if said == meant else "wrong"])
    lines = columns([[*row[:3], row[4], row[3]] for row in rows], left=4)
    return Figure("\n".join([*lines, "", f"right: {right} of {len(rows) - 1}"]))


@REGISTRY.add(
    "asked-right", "PAIR,PAIR,... [versions=both|1|2] [wording=1]", "how many of them it gets right", model=True
)
def _asked_right(arguments: Arguments) -> Figure:
    found = [_said(question, odds) == question.candidates[question.answer] for _, question, odds in _answers(arguments)]
    return Figure(str(sum(found)), float(sum(found)))


@REGISTRY.add("asked-same", "PAIR,PAIR,... [wording=1]", "in how many pairs it says the same noun twice", model=True)
def _asked_same(arguments: Arguments) -> Figure:
    said: dict[str, set[str]] = {}
    for name, question, odds in _answers(arguments):
        said.setdefault(name, set()).add(_said(question, odds))
    same = sum(len(one) == 1 for one in said.values())
    return Figure(str(same), float(same))


@REGISTRY.add("asked-both", "PAIR [wording=1]", "what a model says in both versions, in words", model=True)
def _asked_both(arguments: Arguments) -> Figure:
    (_, first, odds), (_, second, others) = _answers(arguments)
    said = (_said(first, odds), _said(second, others))
    if said[0] == said[1]:
        return Figure(f"{said[0]} twice")
    right = said[0] == first.candidates[first.answer]
    return Figure("the right one each time" if right else "the wrong one each time")


def _answers(arguments: Arguments) -> list[tuple[str, Question, float]]:
    """Each question that a call asks for, with its pair and the log-odds."""
    names = arguments.word("pairs").split(",")
    versions, wording = arguments.option("versions", "both"), arguments.option("wording", "1") or ""
    if versions not in ("both", "1", "2"):
        raise LessonError(f"option versions: expected both, 1 or 2, found {versions!r}")
    number_of = Arguments([wording], {}).whole("wording") - 1
    if not 0 <= number_of < len(WORDINGS):
        raise LessonError(f"option wording: expected 1 to {len(WORDINGS)}, found {wording}")
    chosen = (0, 1) if versions == "both" else (int(versions) - 1,)
    return [
        (name, pair_named(name).questions[version], log_odds(name, number_of)[version])
        for name in names
        for version in chosen
    ]
