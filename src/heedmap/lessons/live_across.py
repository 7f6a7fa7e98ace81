"""Live numbers of two sequences: every word of one looks across at the words of another, by hand.

The vectors were chosen by a person, as those of the other worked examples: the French words ask, the English answer.
"""

from __future__ import annotations

import numpy as np

from heedmap.arithmetic import attend
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number, vector
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_look import differs_most
from heedmap.lessons.live_model import DEFAULT_MODEL

ASKS = {"chat": [3.0, 0.3], "noir": [0.2, 3.2]}
"""What the words that are written ask with: the one looks for a thing, the other for a colour."""

KEYS = {"a": [0.1, 0.1], "black": [0.2, 1.3], "cat": [1.2, 0.1]}
VALUES = {"a": [0.1, 0.0], "black": [0.0, 1.0], "cat": [1.0, 0.1]}
"""What the words that were read are found by, and what they carry."""

BREAKS = ("none", "turned", "columns")
"""As it is; with the roles exchanged, so that the words read ask; with the softmax down the columns."""

_BROKEN = f"[broken={'|'.join(BREAKS)}]"


def across(broken: str = "none") -> tuple[list[str], list[str], Array]:
    """Who asks, who answers, and the weights, [asks, answers].

    Raises:
        LessonError: `broken` is none of `BREAKS`.

    Example:
        >>> asks, answers, weights = across()
        >>> [answers[place] for place in weights.argmax(axis=1)], weights.shape
        (['cat', 'black'], (2, 3))
    """
    if broken not in BREAKS:
        raise LessonError(f"option broken: expected one of {', '.join(BREAKS)}, found {broken!r}")
    ask, key, value = (np.array(list(one.values())) for one in (ASKS, KEYS, VALUES))
    if broken == "turned":
        return list(KEYS), list(ASKS), attend(key, ask, ask).weights
    weights: Array = attend(ask, key, value).weights
    if broken == "columns":
        weights = attend(key, ask, ask).weights.T
    return list(ASKS), list(KEYS), weights


@REGISTRY.add("across-table", _BROKEN, "who looks across at whom, with each row's sum", block=True)
def _table(arguments: Arguments) -> Figure:
    asks, answers, weights = across(arguments.option("broken", "none") or "")
    rows = [["asks ↓  looked at →", *answers, "sum"]]
    rows += [
        [word, *(number(float(one), 2) for one in row), number(float(row.sum()), 2)]
        for word, row in zip(asks, weights, strict=True)
    ]
    return Figure("\n".join(columns(rows)))


@REGISTRY.add("across-weight", f"WORD ON {_BROKEN} [digits=2]", "one of those weights")
def _weight(arguments: Arguments) -> Figure:
    word, on = arguments.word("a word that asks"), arguments.word("a word looked at")
    asks, answers, weights = across(arguments.option("broken", "none") or "")
    if word not in asks or on not in answers:
        raise LessonError(f"expected one of {', '.join(asks)} and one of {', '.join(answers)}, found {word} {on}")
    return rounded(float(weights[asks.index(word), answers.index(on)]), arguments.digits(2))


@REGISTRY.add("across-product", "WORD ON [digits=2]", "the query of a word that asks times the key of one that answers")
def _product(arguments: Arguments) -> Figure:
    word, on = arguments.word("a word that asks"), arguments.word("a word looked at")
    if word not in ASKS or on not in KEYS:
        raise LessonError(f"expected one of {', '.join(ASKS)} and one of {', '.join(KEYS)}, found {word} {on}")
    return rounded(float(np.dot(ASKS[word], KEYS[on])), arguments.digits(2))


@REGISTRY.add("across-vector", "query|key|value WORD", "what a word asks with, is found by or carries, as it was given")
def _vector(arguments: Arguments) -> Figure:
    what, word = arguments.word("query, key or value"), arguments.word("a word")
    table = {"query": ASKS, "key": KEYS, "value": VALUES}.get(what)
    if table is None or word not in table:
        raise LessonError(f"expected query, key or value and a word that has one, found {what} {word}")
    return Figure(vector(np.array(table[word]), 1))


@REGISTRY.add(
    "differs-band",
    "TEXT OTHER WORD [model=smollm2]",
    "by how much a word's rows differ at most between two texts, in words",
    model=True,
)
def _differs_band(arguments: Arguments) -> Figure:
    text, other, word = arguments.word("a text"), arguments.word("another text"), arguments.word("a word")
    most = differs_most(arguments.option("model", DEFAULT_MODEL) or "", text, other, word)
    return Figure("not at all" if most == 0 else "by less than a tenth" if most < 0.1 else "by more than a tenth")
