"""Live numbers of one small layer of two heads that share their keys: learned tables, heads, joining, the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from heedmap.arithmetic import LayerInputs, Projection, Trace, attend
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.layer_table import projection
from heedmap.arithmetic.names import find_token, listed
from heedmap.arithmetic.writing import columns, given, number, products_sum, vector
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

TRAITS = ("thing", "doing", "pointing")
"""What each number of a word's vector says."""

LAYER = LayerInputs(
    tokens=("The", "cat", "sat", "it"),
    x=np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 1.0]]),
    tables={
        "query_table": [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]],
        "key_table": [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
        "value_table": [[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]],
        "output_table": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        "heads": 2,
        "key_value_heads": 1,
    },
)
"""Head 0 asks for things, head 1 for doings; both look at the same keys, and backwards only."""

STEPS = ("query", "key", "value", "output")
"""The learned tables."""

CHANGES = ("queries=keys", "heads=one", "join=swapped")
"""What may be broken: queries from the table of keys; one head that asks both questions; heads joined the wrong way."""

_BROKEN = " ".join(f"[{change}]" for change in CHANGES)


def worked_layer(arguments: Arguments) -> Trace:
    """The layer, worked with the changes that the options name.

    Example:
        >>> worked_layer(Arguments([], {})).weights[:, 3].round(2)
        array([[0.12, 0.51, 0.12, 0.25],
               [0.05, 0.05, 0.85, 0.05]])
    """
    asked = {name: arguments.option(name) for name in ("queries", "heads", "join")}
    for name, text in asked.items():
        if text is not None and f"{name}={text}" not in CHANGES:
            raise LessonError(f"option {name}: expected one of {listed(CHANGES)}, found {name}={text}")
    tables: dict[str, Any] = dict(LAYER.tables)
    if asked["queries"]:
        tables["query_table"] = np.tile(np.array(tables["key_table"]), 2)
    if asked["heads"]:
        query_table = np.array(tables["query_table"])
        tables |= {"query_table": query_table[:, :2] + query_table[:, 2:], "heads": 1, "output_table": None}
    trace = replace(LAYER, tables=tables).attend(causal=True)
    return _joined_the_wrong_way(trace) if asked["join"] else trace


def _joined_the_wrong_way(trace: Trace) -> Trace:
    """The last head first, by the same output table."""
    assert trace.layer is not None
    if trace.layer.output is None:
        raise LessonError("one head cannot be joined the wrong way: leave out heads=one or join=swapped")
    table = trace.layer.output.table
    swapped = replace(trace, output=trace.output[::-1])
    return replace(swapped, layer=replace(trace.layer, output=Projection(table, None, swapped.joined @ table)))


def _step(trace: Trace, name: str) -> tuple[Array, Projection]:
    """What goes into a learned table, and what comes out of it."""
    layer = trace.layer
    assert layer is not None
    steps = {"query": layer.query, "key": layer.key, "value": layer.value, "output": layer.output}
    step = steps.get(name)
    if step is None:
        raise LessonError(f"expected one of {listed(one for one, step in steps.items() if step)}, found {name!r}")
    return trace.joined if name == "output" else layer.x, step


def _asking(arguments: Arguments, trace: Trace) -> int:
    """The word that asks."""
    return find_token(trace.query_tokens, arguments.option("asks", "it") or "", "word that asks")


def _head(arguments: Arguments, trace: Trace) -> Trace:
    """The head named next."""
    return trace.head(arguments.whole("a head"))


@REGISTRY.add("layer-x", "TOKEN", "a word's vector in the small layer, before anything is made of it")
def _x(arguments: Arguments) -> Figure:
    return Figure(vector(LAYER.x[find_token(LAYER.tokens, arguments.word("a token"))], 2))


@REGISTRY.add("layer-table", "query|key|value|output", "a learned table of the small layer", block=True)
def _table(arguments: Arguments) -> Figure:
    name = arguments.word("a table")
    _, step = _step(worked_layer(Arguments([], {})), name)
    joined = [f"head {index // 2}, number {index % 2}" for index in range(len(step.table))]
    names = joined if name == "output" else TRAITS
    head = {"query": ("head 0", "head 0", "head 1", "head 1"), "output": TRAITS}.get(name, ("number 0", "number 1"))
    rows = [[one, *(given(cell, 2) for cell in row)] for one, row in zip(names, step.table, strict=True)]
    return Figure("\n".join(columns([["", *head], *rows])))


@REGISTRY.add("layer-steps", f"query|key|value|output {_BROKEN}", "every word by one learned table", block=True)
def _steps(arguments: Arguments) -> Figure:
    name = arguments.word("a table")
    trace = worked_layer(arguments)
    source, step = _step(trace, name)
    formulas = {"query": ("x · W_q", "q"), "key": ("x · W_k", "k"), "value": ("x · W_v", "v")}
    formula, letter = formulas.get(name, ("joined · W_o", "o"))
    return Figure(projection(name, formula, letter, source, step, trace.query_tokens, 2))


@REGISTRY.add("layer-work", f"query|key|value|output TOKEN COLUMN {_BROKEN}", "one number of that, written out")
def _work(arguments: Arguments) -> Figure:
    name = arguments.word("a table")
    trace = worked_layer(arguments)
    source, step = _step(trace, name)
    row, column = find_token(trace.query_tokens, arguments.word("a token")), arguments.whole("a column")
    write = number if name == "output" else given  # what was computed keeps its digits
    left = [write(one, 2) for one in source[row]]
    right = [given(one, 2) for one in step.table[:, _within(column, step.table.shape[1])]]
    return Figure(f"{products_sum(left, right)} = {write(step.result[row, column], 2)}")


@REGISTRY.add(
    "layer-vector",
    f"query|key|value|output TOKEN [INDEX] [digits=2] {_BROKEN}",
    "what a word has from one learned table, or one number of it",
)
def _vector(arguments: Arguments) -> Figure:
    name = arguments.word("a table")
    trace = worked_layer(arguments)
    _, step = _step(trace, name)
    result = step.result[find_token(trace.query_tokens, arguments.word("a token"))]
    return _whole_or_part(result, arguments, computed=name == "output")


@REGISTRY.add("layer-head", f"HEAD [asks=it] {_BROKEN}", "the four steps in one head, for one word", block=True)
def _head_table(arguments: Arguments) -> Figure:
    trace = worked_layer(arguments)
    row, head = _asking(arguments, trace), _head(arguments, trace)
    one = attend(
        head.query[row : row + 1],
        head.key,
        head.value,
        mask=head.allowed[row : row + 1],
        query_tokens=head.query_tokens[row : row + 1],
        key_tokens=head.key_tokens,
    )
    return Figure(one.table(2))


@REGISTRY.add("layer-weight", f"HEAD TOKEN [asks=it] [digits=2] {_BROKEN}", "one weight in one head")
def _weight(arguments: Arguments) -> Figure:
    trace = worked_layer(arguments)
    row, head = _asking(arguments, trace), _head(arguments, trace)
    key = find_token(head.key_tokens, arguments.word("a token"))
    return rounded(float(head.weights[row, key]), arguments.digits(2))


@REGISTRY.add("layer-largest", f"HEAD [asks=it] {_BROKEN}", "the word with the largest weight in one head")
def _largest(arguments: Arguments) -> Figure:
    trace = worked_layer(arguments)
    row, head = _asking(arguments, trace), _head(arguments, trace)
    return Figure(head.key_tokens[int(head.weights[row].argmax())])


@REGISTRY.add("layer-blend", f"HEAD [INDEX] [asks=it] [digits=2] {_BROKEN}", "what one head takes home, or one number")
def _blend(arguments: Arguments) -> Figure:
    trace = worked_layer(arguments)
    row, head = _asking(arguments, trace), _head(arguments, trace)
    return _whole_or_part(head.output[row], arguments, computed=True)


@REGISTRY.add("layer-joined", f"[asks=it] [digits=2] {_BROKEN}", "the heads' blends side by side")
def _joined(arguments: Arguments) -> Figure:
    trace = worked_layer(arguments)
    return _whole_or_part(trace.joined[_asking(arguments, trace)], arguments, computed=True)


def _whole_or_part(numbers: Array, arguments: Arguments, *, computed: bool) -> Figure:
    """A vector, or the one number of it that is asked for."""
    index = arguments.whole("an index") if arguments.words_left() else None
    digits = arguments.digits(2)
    if index is None:
        return Figure(vector(numbers, digits, computed=computed))
    one = float(numbers[_within(index, len(numbers))])
    return Figure(number(one, digits) if computed else given(one, digits), one)


def _within(index: int, count: int) -> int:
    """An index, checked."""
    if index >= count:
        raise LessonError(f"expected an index from 0 to {count - 1}, found {index}")
    return index


@REGISTRY.add("key-head", "HEAD HEADS KEY-HEADS", "the key-value head that a query head uses, all counted from 0")
def _key_head(arguments: Arguments) -> Figure:
    head, heads, groups = (arguments.whole(what) for what in ("a head", "how many heads", "how many key-value heads"))
    if not groups or heads % groups:
        raise LessonError(f"expected a multiple of {groups} heads, found {heads}")
    if head >= heads:
        raise LessonError(f"expected a head from 0 to {heads - 1}, found {head}")
    shared = head // (heads // groups)
    return Figure(str(shared), float(shared))
