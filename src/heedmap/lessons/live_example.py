"""Live numbers of the worked examples: any step, for any word, with anything changed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from heedmap.arithmetic import Trace, example
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.names import find_token
from heedmap.arithmetic.writing import given, number, products_sum, terms_sum, vector
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

CHANGES = (
    "scale=no",
    "scale=0.5",
    "softmax=no",
    "causal=yes",
    "multiply=8",
    "query=0,1",
    "key.TOKEN=1,2",
    "value.TOKEN=1,2",
    "set.TOKEN=1,2",
)
"""What may be changed in an example before it is worked."""

_OF_ONE = "EXAMPLE TOKEN [asks=TOKEN] [digits=N] [CHANGE ...]"
_OF_ALL = "EXAMPLE [asks=TOKEN] [digits=N] [CHANGE ...]"


def worked(arguments: Arguments) -> tuple[Trace, int]:
    """The example named first, worked with the changes that follow, and its usual digits.

    Example:
        >>> worked(Arguments(["cat"], {"multiply": "8"}))[0].weights.round(2)
        array([[0.  , 0.95, 0.01, 0.04]])
    """
    chosen = example(arguments.word("an example"))
    inputs = chosen.inputs
    for token, numbers in arguments.per_token("set").items():
        inputs = inputs.with_vector(token, numbers)
    for token, numbers in arguments.per_token("key").items():
        inputs = inputs.with_key(token, numbers)
    for token, numbers in arguments.per_token("value").items():
        inputs = inputs.with_value(token, numbers)
    query = arguments.option("query")
    if query is not None:
        inputs = inputs.with_query(None, Arguments([query], {}).numbers("query"))
    scale = _scale(arguments)
    softmax, causal = arguments.switch("softmax", True), arguments.switch("causal", False)
    multiply = Arguments([arguments.option("multiply", "1") or ""], {}).numbers("multiply")[0]
    trace = inputs.attend(scale=scale, causal=causal, multiply=multiply, softmax=softmax)
    return trace, chosen.digits


def _scale(arguments: Arguments) -> float | None:
    """What products are multiplied by: `None` for 1/√d, 1 for `scale=no`, else the number given."""
    text = arguments.option("scale", "yes") or ""
    if text in ("yes", "no"):
        return None if text == "yes" else 1.0
    return Arguments([text], {}).numbers("scale")[0]


def asking_row(trace: Trace, arguments: Arguments) -> int:
    """The row of the word that asks: the only one, or that of `asks=TOKEN`.

    Raises:
        LessonError: several ask, and none was named.
    """
    name = arguments.option("asks")
    if name is not None:
        return find_token(trace.query_tokens, name, "word that asks")
    if len(trace.query_tokens) > 1:
        raise LessonError(f"several words ask: say which with asks={trace.query_tokens[0]}")
    return 0


def _cell(arguments: Arguments) -> tuple[Trace, int, int, int]:
    """The trace, the asking row, the key's row and the digits."""
    trace, usual = worked(arguments)
    key = find_token(trace.key_tokens, arguments.word("a token"))
    return trace, asking_row(trace, arguments), key, arguments.digits(usual)


def _row(arguments: Arguments) -> tuple[Trace, int, int]:
    """The trace, the asking row and the digits."""
    trace, usual = worked(arguments)
    return trace, asking_row(trace, arguments), arguments.digits(usual)


def _exponentials(trace: Trace) -> tuple[Array, Array]:
    """The exponentials and their totals, where softmax was not left out."""
    if trace.exponentials is None or trace.totals is None:
        raise LessonError("without softmax there are no exponentials")
    return trace.exponentials, trace.totals


def _add_cell(name: str, says: str, array: Callable[[Trace], Array]) -> None:
    """A computation that gives one number for one key."""

    @REGISTRY.add(name, _OF_ONE, says)
    def work(arguments: Arguments) -> Figure:
        trace, row, key, digits = _cell(arguments)
        return rounded(array(trace)[row, key], digits)


_add_cell("product", "the query times one word's key", lambda trace: trace.products)
_add_cell("score", "the product, scaled", lambda trace: trace.scores)
_add_cell("exponential", "e to the power of the score", lambda trace: _exponentials(trace)[0])
_add_cell("weight", "the weight of one word", lambda trace: trace.weights)


@REGISTRY.add("total", _OF_ALL, "the sum of the exponentials")
def _total(arguments: Arguments) -> Figure:
    trace, row, digits = _row(arguments)
    return rounded(_exponentials(trace)[1][row], digits)


@REGISTRY.add("weights-sum", _OF_ALL, "the sum of the weights")
def _weights_sum(arguments: Arguments) -> Figure:
    trace, row, digits = _row(arguments)
    return rounded(trace.weights[row].sum(), digits)


@REGISTRY.add("largest", _OF_ALL, "the word with the largest weight")
def _largest(arguments: Arguments) -> Figure:
    trace, row, _ = _row(arguments)
    return Figure(trace.key_tokens[int(trace.weights[row].argmax())])


@REGISTRY.add(
    "output", "EXAMPLE [INDEX] [asks=TOKEN] [digits=N] [CHANGE ...]", "the blend, or one number of it (from 0)"
)
def _output(arguments: Arguments) -> Figure:
    trace, usual = worked(arguments)
    index = arguments.whole("an index") if arguments.words_left() else None
    row, digits = asking_row(trace, arguments), arguments.digits(usual)
    if index is None:
        return Figure(vector(trace.output[row], digits, computed=True))
    return rounded(trace.output[row, _within(index, trace.output.shape[1])], digits)


@REGISTRY.add(
    "part", "EXAMPLE TOKEN INDEX [asks=TOKEN] [digits=N] [CHANGE ...]", "what one word adds to a number of the blend"
)
def _part(arguments: Arguments) -> Figure:
    trace, row, key, digits = _cell(arguments)
    index = _within(arguments.whole("an index"), trace.value.shape[1])
    return rounded(trace.weights[row, key] * trace.value[key, index], digits)


@REGISTRY.add("values-sum", "EXAMPLE INDEX [digits=N] [CHANGE ...]", "a number of all values added up, not blended")
def _values_sum(arguments: Arguments) -> Figure:
    trace, usual = worked(arguments)
    index, digits = _within(arguments.whole("an index"), trace.value.shape[1]), arguments.digits(usual)
    return rounded(trace.value[:, index].sum(), digits)


@REGISTRY.add("query", "EXAMPLE [asks=TOKEN] [CHANGE ...]", "what the word asks with, as it was given")
def _query(arguments: Arguments) -> Figure:
    trace, row, digits = _row(arguments)
    return Figure(vector(trace.query[row], digits))


@REGISTRY.add("key", "EXAMPLE TOKEN [CHANGE ...]", "one word's key, as it was given")
def _key(arguments: Arguments) -> Figure:
    trace, _, key, digits = _cell(arguments)
    return Figure(vector(trace.key[key], digits))


@REGISTRY.add("value", "EXAMPLE TOKEN [CHANGE ...]", "one word's value, as it was given")
def _value(arguments: Arguments) -> Figure:
    trace, _, key, digits = _cell(arguments)
    return Figure(vector(trace.value[key], digits))


@REGISTRY.add("work-product", _OF_ONE, "the product written out: 1.0·1.0 + 0.6·0.8 = 1.48")
def _work_product(arguments: Arguments) -> Figure:
    trace, row, key, digits = _cell(arguments)
    left, right = ([given(one, digits) for one in side] for side in (trace.query[row], trace.key[key]))
    return Figure(f"{products_sum(left, right)} = {number(trace.products[row, key], digits)}")


@REGISTRY.add("work-score", _OF_ONE, "the division written out: 1.48 / 1.41 = 1.05")
def _work_score(arguments: Arguments) -> Figure:
    trace, row, key, digits = _cell(arguments)
    product, score = trace.products[row, key], trace.scores[row, key]
    return Figure(f"{number(product, digits)} / {number(1 / trace.scale, digits)} = {number(score, digits)}")


@REGISTRY.add("work-exponential", _OF_ONE, "the exponential written out: e^1.05 = 2.85")
def _work_exponential(arguments: Arguments) -> Figure:
    trace, row, key, digits = _cell(arguments)
    return Figure(f"e^{number(trace.scores[row, key], digits)} = {number(_exponentials(trace)[0][row, key], digits)}")


@REGISTRY.add("work-total", _OF_ALL, "the total written out: 1.07 + 2.85 + 1.69 + 1.89 = 7.50")
def _work_total(arguments: Arguments) -> Figure:
    trace, row, digits = _row(arguments)
    terms = terms_sum([number(one, digits) for one in _exponentials(trace)[0][row][trace.allowed[row]]])
    return Figure(f"{terms} = {number(_exponentials(trace)[1][row], digits)}")


@REGISTRY.add("work-weight", _OF_ONE, "the weight written out: 2.85 / 7.50 = 0.38")
def _work_weight(arguments: Arguments) -> Figure:
    trace, row, key, digits = _cell(arguments)
    exponentials, totals = _exponentials(trace)
    over = f"{number(exponentials[row, key], digits)} / {number(totals[row], digits)}"
    return Figure(f"{over} = {number(trace.weights[row, key], digits)}")


@REGISTRY.add(
    "work-output", "EXAMPLE INDEX [asks=TOKEN] [digits=N] [CHANGE ...]", "one number of the blend written out"
)
def _work_output(arguments: Arguments) -> Figure:
    trace, usual = worked(arguments)
    index = _within(arguments.whole("an index"), trace.output.shape[1])
    row, digits = asking_row(trace, arguments), arguments.digits(usual)
    allowed = trace.allowed[row]
    weights = [number(one, digits) for one in trace.weights[row][allowed]]
    values = [given(one, digits) for one in trace.value[allowed][:, index]]
    return Figure(f"{products_sum(weights, values)} = {number(trace.output[row, index], digits)}")


@REGISTRY.add("table", "EXAMPLE [digits=N] [CHANGE ...]", "the whole worked table", block=True)
def _table(arguments: Arguments) -> Figure:
    trace, usual = worked(arguments)
    return Figure(trace.table(arguments.digits(usual)))


@REGISTRY.add("root", "D [digits=2]", "the square root of a whole number")
def _root(arguments: Arguments) -> Figure:
    return rounded(math.sqrt(arguments.whole("a number")), arguments.digits(2))


@REGISTRY.add("share", "N [digits=3]", "an even share: 1 / N")
def _share(arguments: Arguments) -> Figure:
    count = arguments.whole("a number")
    if count == 0:
        raise LessonError("expected at least 1, found 0")
    return rounded(float(np.divide(1.0, count)), arguments.digits(3))


def _within(index: int, count: int) -> int:
    """An index that must be there."""
    if index >= count:
        raise LessonError(f"expected an index from 0 to {count - 1}, found {index}")
    return index


BANDS = ("less than a quarter", "between a quarter and a half", "between a half and three quarters", "nearly all of it")
"""How much a weight is, in words."""


@REGISTRY.add("band", _OF_ONE, f"how much the weight of one word is, in words: {'; '.join(BANDS)}")
def _band(arguments: Arguments) -> Figure:
    trace, row, key, _ = _cell(arguments)
    return Figure(BANDS[min(3, int(trace.weights[row, key] * 4))])
