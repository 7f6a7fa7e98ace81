"""Live numbers of a real model's rows: one row as a table, read rightly or wrongly, and two texts side by side."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_lab import bar
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

READ = ("row", "column", "without-first", "shifted")
"""A row as it is; or read wrongly: the column, the rest without the first word scaled up, the labels one off."""

_PLACE = "[layer=16] [head=3] [model=smollm2]"


@functools.lru_cache(maxsize=8)
def _reading(model: str, text: str) -> Reading:
    """A text read in all layers, once."""
    return model_named(model).read(text)


def _place(arguments: Arguments) -> tuple[str, int, int]:
    """The model, layer and head that a call asks for."""
    layer, head = arguments.whole_option("layer", 16), arguments.whole_option("head", 3)
    return arguments.option("model", DEFAULT_MODEL) or "", layer, head


def _map(reading: Reading, layer: int, head: int) -> Array:
    """A head's weights, [query, key]; 0 where a token may not look."""
    found: Array = np.nan_to_num(np.asarray(reading.map(layer, head), dtype=np.float64))
    return found


def _token(reading: Reading, word: str) -> int:
    """The last token of a word."""
    return list(reading.tokens.find(word).tokens)[-1]


def numbers_of(reading: Reading, word: str, layer: int, head: int, read: str) -> tuple[list[str], Array]:
    """The labels and numbers that somebody gets who reads a word's row in one of the ways of `READ`."""
    weights, token = _map(reading, layer, head), _token(reading, word)
    labels = list(reading.tokens.labels)
    if read == "column":
        return labels, weights[:, token]
    row = weights[token, : token + 1] if not weights[token, token + 1 :].any() else weights[token]
    labels = labels[: len(row)]
    if read == "shifted":
        return [*labels[1:], labels[0]], row
    if read == "without-first":
        return labels[1:], row[1:] / row[1:].sum()
    return labels, row


@REGISTRY.add(
    "head-row",
    f"TEXT WORD {_PLACE} [read={'|'.join(READ)}]",
    "a word's row in a real head, read rightly or wrongly",
    block=True,
    model=True,
)
def _head_row(arguments: Arguments) -> Figure:
    labels, found = _read_row(arguments)
    rows = [[label, number(value, 3), bar(value)] for label, value in zip(labels, found, strict=True)]
    rows.append(["sum", number(found.sum(), 3), ""])
    widest = max(len(label) for label, _, _ in rows)
    return Figure("\n".join(f"{label:{widest}}  {value}  {bars}".rstrip() for label, value, bars in rows))


@REGISTRY.add(
    "head-largest",
    f"TEXT WORD [PLACE] {_PLACE} [read={'|'.join(READ)}]",
    "the token with most of it, or that of a place from 1",
    model=True,
)
def _head_largest(arguments: Arguments) -> Figure:
    labels, found = _read_row(arguments)
    place = arguments.whole("a place") if arguments.words_left() else 1
    return Figure(labels[int(np.argsort(-found, kind="stable")[place - 1])])


@REGISTRY.add("head-sum", f"TEXT WORD {_PLACE} [read={'|'.join(READ)}] [digits=3]", "what it adds up to", model=True)
def _head_sum(arguments: Arguments) -> Figure:
    digits = arguments.digits(3)
    return rounded(float(_read_row(arguments)[1].sum()), digits)


@REGISTRY.add("ordinary", f"TEXT WORD {_PLACE} [digits=3]", "what the first token leaves, over the others", model=True)
def _ordinary(arguments: Arguments) -> Figure:
    digits = arguments.digits(3)
    found = _read_row(arguments)[1]
    return rounded(float(found[1:].sum() / (len(found) - 1)), digits)


@REGISTRY.add(
    "head-mean", "TEXT WORD ON [layer=16] [model=smollm2] [digits=3]", "a weight, as the mean over heads", model=True
)
def _head_mean(arguments: Arguments) -> Figure:
    text, word, on = arguments.word("a text"), arguments.word("a word"), arguments.word("a word looked at")
    digits, (model, layer, _) = arguments.digits(3), _place(arguments)
    return rounded(_reading(model, text).row(word, layer).share(on), digits)


def _read_row(arguments: Arguments) -> tuple[list[str], Array]:
    """The labels and numbers that a call asks for."""
    text, word = arguments.word("a text"), arguments.word("a word")
    read = arguments.option("read", "row") or ""
    if read not in READ:
        raise LessonError(f"option read: expected one of {', '.join(READ)}, found {read!r}")
    model, layer, head = _place(arguments)
    return numbers_of(_reading(model, text), word, layer, head, read)


@functools.cache
def largest_differences(model: str, text: str, other: str) -> Array:
    """For each token, the largest difference of any weight in its row, over all layers and heads, [query].

    Raises:
        LessonError: the texts are not equally many tokens.
    """
    one, two = _reading(model, text), _reading(model, other)
    if len(one.tokens) != len(two.tokens):
        raise LessonError(f"expected texts of equally many tokens, found {len(one.tokens)} and {len(two.tokens)}")
    found = np.zeros(len(one.tokens))
    for layer in model_named(model).layers:
        for head in range(layer.heads):
            apart = np.abs(_map(one, layer.number, head) - _map(two, layer.number, head))
            found = np.maximum(found, apart.max(axis=1))
    return found


def differs_most(model: str, text: str, other: str, word: str) -> float:
    """By how much a word's rows differ at most between two texts, over all heads."""
    return float(largest_differences(model, text, other)[_token(_reading(model, text), word)])


@REGISTRY.add(
    "rows-differ",
    "TEXT OTHER WORD [model=smollm2] [digits=3]",
    "by how much a word's rows differ at most between two texts, over all heads",
    model=True,
)
def _rows_differ(arguments: Arguments) -> Figure:
    text, other, word = arguments.word("a text"), arguments.word("another text"), arguments.word("a word")
    model, digits = arguments.option("model", DEFAULT_MODEL) or "", arguments.digits(3)
    value = differs_most(model, text, other, word)
    return Figure("0", 0.0) if value == 0 else rounded(value, digits)


@REGISTRY.add(
    "rows-differ-table",
    "TEXT OTHER [model=smollm2]",
    "for each token, the largest difference of any weight in its row",
    block=True,
    model=True,
)
def _rows_differ_table(arguments: Arguments) -> Figure:
    text, other = arguments.word("a text"), arguments.word("another text")
    model = arguments.option("model", DEFAULT_MODEL) or ""
    found = largest_differences(model, text, other)
    names = zip(*(_reading(model, one).tokens.labels for one in (text, other)), strict=True)
    labels = [one if one == two else f"{one} / {two}" for one, two in names]
    values = ["0" if value == 0 else number(value, 3) for value in found]
    return Figure("\n".join(columns([["token", "largest difference"], *map(list, zip(labels, values, strict=True))])))


@REGISTRY.add(
    "rows-beside", f"TEXT OTHER WORD {_PLACE}", "a word's row in two texts, beside each other", block=True, model=True
)
def _rows_beside(arguments: Arguments) -> Figure:
    text, other, word = arguments.word("a text"), arguments.word("another text"), arguments.word("a word")
    model, layer, head = _place(arguments)
    (labels, left), (others, right) = (
        numbers_of(_reading(model, one), word, layer, head, "row") for one in (text, other)
    )
    if len(labels) != len(others):
        raise LessonError(f"expected rows of equally many tokens, found {len(labels)} and {len(others)}")
    names = [here if here == there else f"{here} / {there}" for here, there in zip(labels, others, strict=True)]
    rows = [["token", "first text", "second text"]]
    rows += [[name, number(a, 6), number(b, 6)] for name, a, b in zip(names, left, right, strict=True)]
    return Figure("\n".join(columns(rows)))
