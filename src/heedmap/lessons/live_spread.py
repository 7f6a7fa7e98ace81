"""Live numbers of what unscaled products do to softmax: how much the best of some random keys takes, and its slope."""

from __future__ import annotations

import functools
import math

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.steps import softmax_rows
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

ROWS = 1_000
"""Random queries over which is averaged."""

_OPTIONS = "[words=8] [scaled=yes] [digits=2]"


@functools.cache
def random_products(dim: int, words: int) -> Array:
    """Products of random queries, each with keys of its own; the same ones every time.

    Args:
        dim: numbers in a vector; each is independent, of mean 0 and spread 1.
        words: keys for each query.

    Returns:
        Shape (query, key): `ROWS` by `words`.

    Example:
        >>> random_products(16, 4).shape
        (1000, 4)
    """
    random = np.random.default_rng([dim, words])
    query = random.standard_normal((ROWS, dim))
    return np.stack([(query * random.standard_normal((ROWS, dim))).sum(axis=1) for _ in range(words)], axis=1)


def largest_weights(dim: int, words: int, scaled: bool) -> Array:
    """The largest weight of each random query.

    Example:
        >>> bool(largest_weights(64, 8, True).mean() < largest_weights(64, 8, False).mean())
        True
    """
    scores = random_products(dim, words) / (math.sqrt(dim) if scaled else 1.0)
    weights: Array = softmax_rows(scores, np.ones(scores.shape, dtype=np.bool_)).weights.max(axis=1)
    return weights


def slopes(weights: Array) -> Array:
    """How each weight moves with its own score: w (1 − w)."""
    return weights * (1 - weights)


def _asked(arguments: Arguments) -> tuple[Array, int]:
    """The largest weights that are asked for, and the digits."""
    dim = arguments.whole("a width")
    if not 1 <= dim <= 1024:
        raise LessonError(f"expected a width from 1 to 1024, found {dim}")
    words = arguments.whole_option("words", 8, least=2, most=64)
    return largest_weights(dim, words, arguments.switch("scaled", False)), arguments.digits(2)


@REGISTRY.add("peak", f"D {_OPTIONS}", "how much the best of some random keys of D numbers takes, on average")
def _peak(arguments: Arguments) -> Figure:
    weights, digits = _asked(arguments)
    return rounded(float(weights.mean()), digits)


@REGISTRY.add("peak-slope", f"D {_OPTIONS}", "the slope that weight has left, on average: w (1 − w)")
def _peak_slope(arguments: Arguments) -> Figure:
    weights, digits = _asked(arguments)
    return rounded(float(slopes(weights).mean()), digits)


@REGISTRY.add("peak-table", "D,D,D [words=8]", "both, for several widths, without and with the division", block=True)
def _peak_table(arguments: Arguments) -> Figure:
    widths, words = arguments.numbers("widths"), arguments.option("words", "8") or ""
    rows = [
        ["", "not divided:", "", "divided by √d:", ""],
        ["numbers in a vector", "largest weight", "its slope", "largest weight", "its slope"],
    ]
    for width in widths:
        cells = [f"{width:.0f}"]
        for scaled in ("no", "yes"):
            weights, _ = _asked(Arguments([f"{width:.0f}"], {"words": words, "scaled": scaled}))
            cells += [number(float(weights.mean()), 2), number(float(slopes(weights).mean()), 3)]
        rows.append(cells)
    return Figure("\n".join(columns(rows, left=0)))
