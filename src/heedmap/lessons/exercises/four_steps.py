"""Exercises on the four steps: products, scaling, softmax, the blend, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heedmap.arithmetic import dot_product, softmax, weighted_average
from heedmap.arithmetic.checks import Array
from heedmap.lessons.exercises.mistakes import wrong
from heedmap.lessons.exercises.problem import Draw, Generator, Mistake, Step, Work, listed, plain, table

SENTENCES = (
    ("The", "dog", "ran", "home"),
    ("A", "bird", "sang", "loud"),
    ("My", "key", "is", "gone"),
    ("Rain", "fell", "all", "night"),
    ("She", "read", "the", "letter"),
    ("Old", "ships", "sail", "slowly"),
    ("We", "ate", "warm", "bread"),
    ("Bees", "find", "their", "way"),
)


def dot_of(left: Sequence[float], right: Sequence[float]) -> float:
    """The dot product, by the arithmetic that everything else uses."""
    return dot_product(left, right).result


def dot_mistakes(query: Sequence[float], keys: Sequence[Sequence[float]]) -> tuple[Mistake, ...]:
    """What goes wrong in products of one query with several keys."""
    return (
        wrong("crossed-over", lambda done: [dot_of(query, list(key)[::-1]) for key in keys]),
        wrong("added-instead", lambda done: [sum(query) + sum(key) for key in keys]),
        wrong("first-only", lambda done: [query[0] * key[0] for key in keys]),
        wrong("sign-lost", lambda done: [sum(abs(a * b) for a, b in zip(query, key, strict=True)) for key in keys]),
    )


def _dot(draw: Draw, level: int) -> tuple[str, list[Step]]:
    if level == 1:
        left, right = draw.wholes(2, 1, 9), draw.wholes(2, 1, 9)
    elif level == 2:
        left, right = draw.wholes(3, -5, 9), draw.wholes(3, -5, 9)
    else:
        left, right = draw.vector(4, -2, 2), draw.vector(4, -2, 2)
    step = Step(
        "the product",
        "What is the dot product of the two?",
        lambda done: [dot_of(left, right)],
        "Multiply the first numbers, then the second ones, and so on; add up what you have.",
        mistakes=dot_mistakes(left, [right]),
    )
    return f"Two vectors: {listed(left)} and {listed(right)}.", [step]


def _scale(draw: Draw, level: int) -> tuple[str, list[Step]]:
    dim = draw.choice((4, 9, 16, 25, 64)) if level == 1 else draw.choice((2, 3, 5, 8, 32, 128))
    names = draw.choice(SENTENCES)[: level if level > 1 else 1]
    products = [draw.tenths(-1, 3) * max(1, math.sqrt(dim)) for _ in names]
    products = [round(one, 1) or 0.5 for one in products]
    steps = [_scores_step(lambda done: products, dim, names)]
    if level == 3:
        steps.append(
            Step(
                "the ratio",
                f"How many times as much weight does “{names[0]}” get as “{names[1]}”?",
                lambda done: [math.exp(done[0][0] - done[0][1])],
                "e to the power of the difference of their scores.",
                mistakes=(
                    wrong("forgot-scale", lambda done: [math.exp(min(700.0, products[0] - products[1]))]),
                    wrong("upside-down", lambda done: [math.exp(done[0][1] - done[0][0])]),
                ),
            )
        )
    given = ", ".join(f"{name} {plain(one)}" for name, one in zip(names, products, strict=True))
    return f"Queries and keys have {dim} numbers. The products are: {given}.", steps


def _softmax(draw: Draw, level: int) -> tuple[str, list[Step]]:
    names = draw.choice(SENTENCES)[: level + 1]
    if level == 1:
        scores = draw.different(lambda: draw.wholes(1, -1, 3), 2)
    else:
        scores = draw.different(lambda: [draw.tenths(-1, 2.5)], len(names))
    row = [one[0] for one in scores]
    allowed = [True] * len(names)
    text = "Scores: " + ", ".join(f"{name} {plain(one)}" for name, one in zip(names, row, strict=True)) + "."
    if level == 3:
        allowed[-1] = False
        text += f" “{names[-1]}” comes later and may not be looked at: write 0 for it."
    return text, softmax_steps(lambda done: row, names, allowed)


def _average(draw: Draw, level: int) -> tuple[str, list[Step]]:
    names = draw.choice(SENTENCES)[: level + 1]
    width = 1 if level == 1 else 2
    values = draw.different(lambda: draw.vector(width, -1, 5), len(names))
    if level < 3:
        weights = _tenths_of_one(draw, len(names))
        text = "Values and weights:\n\n" + table(
            ("word", "value", "weight"),
            [
                (n, listed(v) if width > 1 else plain(v[0]), plain(w))
                for n, v, w in zip(names, values, weights, strict=True)
            ],
        )
        return text, [blend_step(lambda done: weights, values)]
    raw = [draw.whole(1, 5) / 10 for _ in names]
    text = "Values, and shares that do not add up to 1 yet:\n\n" + table(
        ("word", "value", "share"), [(n, listed(v), plain(w)) for n, v, w in zip(names, values, raw, strict=True)]
    )
    first = Step(
        "the weights",
        "Make them weights: what are they when they add up to 1?",
        lambda done: [one / sum(raw) for one in raw],
        "Divide each by the sum of all.",
        labels=names,
        mistakes=(wrong("not-normalised", lambda done: raw), wrong("even-average", lambda done: _even(len(raw)))),
    )
    blend = blend_step(lambda done: done[0], values)
    return text, [first, replace(blend, follows={"how": "blend", "from": 0, "values": values})]


def _tenths_of_one(draw: Draw, count: int) -> list[float]:
    """Weights of whole tenths that add up to 1, none of them 0."""
    tenths = [1] * count
    for _ in range(10 - count):
        tenths[draw.whole(0, count - 1)] += 1
    return [one / 10 for one in tenths]


def _attend(draw: Draw, level: int) -> tuple[str, list[Step]]:
    names = draw.choice(SENTENCES)[: level + 1]
    asking = names[-1] if level < 3 else names[-2]
    allowed = [True] * len(names) if level < 3 else [True] * (len(names) - 1) + [False]
    query = draw.vector(2, 0, 2) if level == 1 else draw.vector(2, -1, 2)
    keys = draw.different(lambda: draw.vector(2, -1 if level > 1 else 0, 2), len(names))
    values = draw.different(lambda: draw.vector(2, -1 if level > 1 else 0, 2), len(names))
    rows = [(name, listed(key), listed(value)) for name, key, value in zip(names, keys, values, strict=True)]
    text = f"“{asking}” asks with the query {listed(query)}.\n\n" + table(("word", "key", "value"), rows)
    if level == 3:
        text += f"\n\nIt may look only backwards and at itself: “{names[-1]}” comes later."
    products = Step(
        "the products",
        "Compare: the product of the query with each key." + (" (With all four, for now.)" if level == 3 else ""),
        lambda done: [dot_of(query, key) for key in keys],
        "Number times number, then add.",
        labels=names,
        mistakes=(
            wrong("value-for-key", lambda done: [dot_of(query, value) for value in values]),
            *dot_mistakes(query, keys),
        ),
    )
    scores = _scores_step(lambda done: done[0], 2, names)
    exponentials, weights = softmax_steps(lambda done: done[1], names, allowed)
    blend = blend_step(lambda done: done[-1], values, keys, allowed)
    return text, [
        products,
        replace(scores, follows={"how": "scale", "from": 0, "by": 1 / math.sqrt(2)}),
        replace(exponentials, follows={"how": "exponentials", "from": 1, "allowed": allowed}),
        replace(weights, follows={"how": "weights", "from": 2}),
        replace(blend, follows={"how": "blend", "from": 3, "values": values}),
    ]


def _scores_step(products: Work, dim: int, names: Sequence[str]) -> Step:
    """Divide by √d."""
    root = math.sqrt(dim)
    return Step(
        "the scores",
        f"Scale: divide by √{dim}.",
        lambda done: [one / root for one in products(done)],
        f"√{dim} is {root:.2f}." if root != round(root) else f"√{dim} is {root:.0f}.",
        labels=tuple(names),
        mistakes=(
            wrong("forgot-scale", lambda done: list(products(done))),
            wrong("divided-by-d", lambda done: [one / dim for one in products(done)]),
            wrong("multiplied-by-root", lambda done: [one * root for one in products(done)]),
        ),
    )


def softmax_steps(scores: Work, names: Sequence[str], allowed: Sequence[bool]) -> list[Step]:
    """Exponentials, and weights.

    Args:
        scores: the scores, from the steps before.
        names: the words.
        allowed: which of them may be looked at.
    """
    ahead = () if all(allowed) else (wrong("looked-ahead", lambda done: np.exp(scores(done)).tolist()),)
    masked = () if all(allowed) else (wrong("masked-as-zero", lambda done: _as_zero(scores(done), allowed)),)
    exponentials = Step(
        "the exponentials",
        "Exponentiate: e to the power of each score." + ("" if all(allowed) else " (0 for what may not be seen.)"),
        lambda done: [math.exp(min(one, 700.0)) * ok for one, ok in zip(scores(done), allowed, strict=True)],
        "On a calculator: the key e^x, or exp.",
        labels=tuple(names),
        mistakes=(
            *ahead,
            *masked,
            wrong(
                "power-of-two",
                lambda done: [2.0 ** min(one, 900.0) * ok for one, ok in zip(scores(done), allowed, strict=True)],
            ),
        ),
    )
    return [exponentials, _weights_step(scores, names, allowed)]


def _weights_step(scores: Work, names: Sequence[str], allowed: Sequence[bool]) -> Step:
    """Divide by the total. The step before holds the exponentials."""
    hidden = (
        ()
        if all(allowed)
        else (
            wrong("looked-ahead", lambda done: softmax(list(scores(done))).weights.tolist()),
            wrong("masked-as-zero", lambda done: _shares(_as_zero(scores(done), allowed))),
        )
    )
    return Step(
        "the weights",
        "Weigh: each exponential divided by their total.",
        lambda done: _shares(done[-1]),
        "Add up the exponentials first. The weights must add up to 1.",
        labels=tuple(names),
        mistakes=(
            *hidden,
            wrong("forgot-total", lambda done: list(done[-1])),
            wrong(
                "no-softmax", lambda done: _shares([one * ok for one, ok in zip(scores(done), allowed, strict=True)])
            ),
            wrong("even-average", lambda done: _even(len(names))),
            *(() if all(allowed) else (wrong("even-average", lambda done: _shares(allowed)),)),
        ),
    )


def blend_step(
    weights: Work,
    values: Sequence[Sequence[float]],
    keys: Sequence[Sequence[float]] = (),
    allowed: Sequence[bool] = (),
) -> Step:
    """Blend the values.

    Args:
        weights: the weights, from the steps before.
        values: one for each word.
        keys: one for each word, where somebody could blend them by mistake.
        allowed: which of the words may be looked at, where not all may: people sum all, or those.
    """
    grid = np.array(values)
    width = grid.shape[1]
    mistakes = [] if all(allowed) else _without_weights(grid[np.array(allowed)])
    mistakes += _without_weights(grid)
    mistakes.append(wrong("largest-only", lambda done: grid[int(np.argmax(weights(done)))].tolist()))
    if len(keys):
        mistakes.append(wrong("key-for-value", lambda done: (np.array(weights(done)) @ np.array(keys)).tolist()))
    return Step(
        "the blend",
        "Blend: the sum of weight times value.",
        lambda done: np.atleast_1d(weighted_average(grid, list(weights(done))).result).tolist(),
        "For the first number: each word's first value times its weight, all added up.",
        labels=tuple(f"number {index + 1}" for index in range(width)) if width > 1 else (),
        mistakes=tuple(mistakes),
    )


def _without_weights(values: Array) -> list[Mistake]:
    """Blends of people who leave the weights out; values [word, number]."""
    return [
        wrong("summed-values", lambda done: values.sum(axis=0).tolist()),
        wrong("even-average", lambda done: values.mean(axis=0).tolist()),
    ]


def _shares(numbers: Sequence[float]) -> list[float]:
    """Each divided by the sum of all; as they are where the sum is 0, as wrong numbers may have it."""
    total = sum(numbers)
    return [one / total for one in numbers] if total else list(numbers)


def _as_zero(scores: Sequence[float], allowed: Sequence[bool]) -> list[float]:
    """Exponentials with a forbidden score taken as 0."""
    return [math.exp(min(one, 700.0) if ok else 0.0) for one, ok in zip(scores, allowed, strict=True)]


def _even(count: int) -> list[float]:
    return [1 / count] * count


GENERATORS = (
    Generator("dot", "the dot product", ("two whole numbers each", "three, some negative", "four, with a point"), _dot),
    Generator("scale", "dividing by √d", ("d is a square", "other d, two words", "three words, and a ratio"), _scale),
    Generator("softmax", "scores into weights", ("two words", "three words", "four words, one hidden"), _softmax),
    Generator("average", "values by weights", ("single numbers", "vectors", "shares to be normalised first"), _average),
    Generator("attend", "all four steps", ("two words", "three words", "four words, one of them later"), _attend),
)
