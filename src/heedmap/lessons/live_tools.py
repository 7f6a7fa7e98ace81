"""Live numbers of the small tools: dot product, softmax, weighted average, matrices, and how they behave."""

from __future__ import annotations

import math

import numpy as np

from heedmap.arithmetic import dot_product, matrix_product, softmax, transpose, weighted_average
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, given, number, vector
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

PAIRS = 10_000
"""Pairs of random vectors whose products are looked at."""


@REGISTRY.add("dot", "A,B C,D [digits=2]", "the dot product of two vectors")
def _dot(arguments: Arguments) -> Figure:
    result = dot_product(arguments.numbers("left"), arguments.numbers("right")).result
    return _even_or_rounded(result, arguments.digits(2))


@REGISTRY.add("work-dot", "A,B C,D", "the dot product written out")
def _work_dot(arguments: Arguments) -> Figure:
    return Figure(str(dot_product(arguments.numbers("left"), arguments.numbers("right"))))


@REGISTRY.add("power", "X [digits=2]", "e to the power of X")
def _power(arguments: Arguments) -> Figure:
    return rounded(math.exp(arguments.numbers("a number")[0]), arguments.digits(2))


@REGISTRY.add("softmax", "SCORES INDEX [digits=3]", "one weight of a softmax (from 0)")
def _softmax(arguments: Arguments) -> Figure:
    weights = softmax(arguments.numbers("scores")).weights
    index = arguments.whole("an index")
    if index >= len(weights):
        raise LessonError(f"expected an index from 0 to {len(weights) - 1}, found {index}")
    return rounded(weights[index], arguments.digits(3))


@REGISTRY.add("softmax-weights", "SCORES [digits=3]", "all weights of a softmax")
def _softmax_weights(arguments: Arguments) -> Figure:
    weights = softmax(arguments.numbers("scores")).weights
    return Figure(vector(weights, arguments.digits(3), computed=True))


@REGISTRY.add("softmax-table", "SCORES", "a softmax with its steps", block=True)
def _softmax_table(arguments: Arguments) -> Figure:
    return Figure(str(softmax(arguments.numbers("scores"))))


@REGISTRY.add("average", "VALUES WEIGHTS [digits=2]", "values blended by weights")
def _average(arguments: Arguments) -> Figure:
    result = float(weighted_average(arguments.numbers("values"), arguments.numbers("weights")).result)
    return _even_or_rounded(result, arguments.digits(2))


@REGISTRY.add("work-average", "VALUES WEIGHTS", "the blend written out")
def _work_average(arguments: Arguments) -> Figure:
    return Figure(str(weighted_average(arguments.numbers("values"), arguments.numbers("weights"))))


@REGISTRY.add("matrix", "ROWS ROWS", "two arrays multiplied (@), cell by cell: matrix 1,2;3,4 5,6;7,8", block=True)
def _matrix(arguments: Arguments) -> Figure:
    return Figure(str(matrix_product(arguments.rows("left"), arguments.rows("right"))))


@REGISTRY.add("cell", "ROWS ROWS ROW COLUMN", "one cell of a product of arrays")
def _cell(arguments: Arguments) -> Figure:
    result = matrix_product(arguments.rows("left"), arguments.rows("right")).result
    row, column = arguments.whole("a row"), arguments.whole("a column")
    if row >= result.shape[0] or column >= result.shape[1]:
        raise LessonError(f"the product is {result.shape[0]} by {result.shape[1]}, counted from 0")
    return _even_or_rounded(float(result[row, column]), 2)


@REGISTRY.add("transpose", "ROWS", "rows turned into columns (.T)", block=True)
def _transpose(arguments: Arguments) -> Figure:
    return Figure(str(transpose(arguments.rows("rows"))))


@REGISTRY.add("spread", "D [scaled=yes] [digits=2]", "how widely products of random vectors of D numbers spread")
def _spread(arguments: Arguments) -> Figure:
    dim, scaled = arguments.whole("a width"), arguments.switch("scaled", False)
    return rounded(float(_products(dim, scaled).std()), arguments.digits(2))


@REGISTRY.add("spread-table", "D,D,D", "the same for several widths, before and after dividing by √D", block=True)
def _spread_table(arguments: Arguments) -> Figure:
    rows = [["numbers in a vector", "spread of q·k", "√d", "spread of q·k ÷ √d"]]
    for one in arguments.numbers("widths"):
        plain, scaled = _products(int(one), False).std(), _products(int(one), True).std()
        rows.append([f"{one:.0f}", number(plain, 2), number(math.sqrt(one), 2), number(scaled, 2)])
    return Figure("\n".join(columns(rows, left=0)))


@REGISTRY.add("slope", "SCORES I J [multiply=1] [digits=3]", "how weight I moves with score J: w_i (δ_ij − w_j)")
def _slope(arguments: Arguments) -> Figure:
    scores = np.array(arguments.numbers("scores"))
    i, j = arguments.whole("an index"), arguments.whole("an index")
    if max(i, j) >= len(scores):
        raise LessonError(f"expected indices from 0 to {len(scores) - 1}, found {i} and {j}")
    factor = Arguments([arguments.option("multiply", "1") or ""], {}).numbers("multiply")[0]
    weights = softmax(scores * factor).weights
    return rounded(weights[i] * (float(i == j) - weights[j]), arguments.digits(3))


@REGISTRY.add("slope-table", "SCORES FACTORS", "weights and the largest one's slope as scores grow", block=True)
def _slope_table(arguments: Arguments) -> Figure:
    scores, factors = np.array(arguments.numbers("scores")), arguments.numbers("factors")
    rows = [["scores ×", "weights", "slope of the largest"]]
    for factor in factors:
        weights = softmax(scores * factor).weights
        top = weights.max()
        rows.append([given(factor, 2), vector(weights, 3, computed=True), number(top * (1 - top), 4)])
    return Figure("\n".join(columns(rows, left=0)))


def _even_or_rounded(value: float, digits: int) -> Figure:
    """A whole number as one, any other rounded."""
    return Figure(f"{value:.0f}" if value == round(value) else number(value, digits), value)


def _products(dim: int, scaled: bool) -> Array:
    """Products of random vectors with independent numbers of mean 0 and spread 1; the same ones every time."""
    if not 1 <= dim <= 4096:
        raise LessonError(f"expected a width from 1 to 4096, found {dim}")
    random = np.random.default_rng(dim)
    sums = np.zeros(PAIRS)
    for _ in range(dim):
        sums += random.standard_normal(PAIRS) * random.standard_normal(PAIRS)
    return sums / math.sqrt(dim) if scaled else sums
