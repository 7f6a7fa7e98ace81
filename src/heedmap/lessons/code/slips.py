"""What known mistakes make of a case: the numbers that a function with such a mistake gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heedmap.arithmetic.checks import Array, Mask
from heedmap.lessons.code.cases import Case
from heedmap.lessons.exercises.mistakes import SAYS


@dataclass(frozen=True, eq=False)
class Slip:
    """A mistake and what it leads to.

    Attributes:
        name: of `exercises.mistakes`.
        step: the step it is made in.
        steps: the numbers of that step and of those after it.
    """

    name: str
    step: str
    steps: dict[str, Array]

    @property
    def says(self) -> str:
        """What to tell the learner."""
        return SAYS[self.name]


def slips(case: Case) -> list[Slip]:
    """The known mistakes in a case.

    Example:
        >>> from heedmap.lessons.code.cases import cases_of
        >>> [slip.name for slip in slips(cases_of("softmax")[0])]
        ['forgot-total', 'no-softmax', 'power-of-two', 'even-average']
    """
    with np.errstate(all="ignore"):
        return [slip for slip in _MAKERS[case.function](case) if all(np.isfinite(x).all() for x in slip.steps.values())]


def _dot_product(case: Case) -> Iterator[Slip]:
    left, right = (np.array(one) for one in case.arguments)
    for name, wrong in (
        ("crossed-over", left @ right[::-1]),
        ("added-instead", (left + right).sum()),
        ("first-only", left[0] * right[0]),
        ("sign-lost", np.abs(left * right).sum()),
    ):
        yield Slip(name, "result", {"result": np.array(wrong)})


def _softmax(case: Case) -> Iterator[Slip]:
    scores = np.array(case.arguments[0])
    for name, wrong in _weight_slips(scores):
        yield Slip(name, "result", {"result": wrong})


def _weight_slips(scores: Array) -> Iterator[tuple[str, Array]]:
    """Wrong weights from right scores; the key axis is the last."""
    exponentials = np.exp(scores)
    powers = 2.0**scores
    yield "forgot-total", exponentials
    yield "no-softmax", scores / scores.sum(axis=-1, keepdims=True)
    yield "power-of-two", powers / powers.sum(axis=-1, keepdims=True)
    yield "even-average", np.full_like(scores, 1 / scores.shape[-1])


def _weighted_average(case: Case) -> Iterator[Slip]:
    weights, values = (np.array(one) for one in case.arguments)
    for name, wrong in _blend_slips(weights, values):
        yield Slip(name, "result", {"result": wrong})


def _blend_slips(weights: Array, values: Array) -> Iterator[tuple[str, Array]]:
    """Wrong blends from right weights."""
    yield "summed-values", values.sum(axis=0)
    yield "even-average", values.mean(axis=0)
    yield "largest-only", values[int(weights.argmax())]


def _attend(case: Case) -> Iterator[Slip]:
    query, keys, values = (np.array(one) for one in case.arguments)
    root = math.sqrt(len(query))
    products = keys @ query
    for name, wrong in (
        ("crossed-over", keys @ query[::-1]),
        ("value-for-key", values @ query if values.shape[1] == len(query) else None),
        ("added-instead", keys.sum(axis=1) + query.sum()),
    ):
        if wrong is not None:
            yield _from_scores(name, "products", values, wrong / root, products=wrong)
    for name, scores in (
        ("forgot-scale", products),
        ("divided-by-d", products / len(query)),
        ("multiplied-by-root", products * root),
    ):
        yield _from_scores(name, "scores", values, scores)
    for name, weights in _weight_slips(products / root):
        yield Slip(name, "weights", {"weights": weights, "output": weights @ values})
    weights = case.steps["weights"]
    for name, output in _blend_slips(weights, values):
        yield Slip(name, "output", {"output": output})
    if keys.shape == values.shape:
        yield Slip("key-for-value", "output", {"output": weights @ keys})


def _from_scores(name: str, step: str, values: Array, scores: Array, products: Array | None = None) -> Slip:
    """A mistake before softmax, carried on rightly."""
    exponentials = np.exp(scores - scores.max())
    weights = exponentials / exponentials.sum()
    steps = {"scores": scores, "weights": weights, "output": weights @ values}
    return Slip(name, step, steps if products is None else {"products": products, **steps})


def _attend_all(case: Case) -> Iterator[Slip]:
    queries, keys, values = (np.array(one) for one in case.arguments)
    products = queries @ keys.T
    backwards = np.tri(len(queries), dtype=np.bool_)
    root = math.sqrt(queries.shape[1])
    scores = products / root
    yield _masked("looked-ahead", "weights", values, scores, np.ones_like(backwards))
    yield _masked("upside-down-mask", "weights", values, scores, backwards.T)
    yield _masked("not-itself", "weights", values, scores, np.tri(len(queries), k=-1, dtype=np.bool_))
    zeroed = np.exp(np.where(backwards, scores, 0.0))
    yield _weights("masked-as-zero", values, zeroed / zeroed.sum(axis=1, keepdims=True))
    after = np.exp(scores)
    cut = np.where(backwards, after / after.sum(axis=1, keepdims=True), 0.0)
    yield _weights("masked-after", values, cut)
    down = np.where(backwards, after, 0.0)
    yield _weights("wrong-axis", values, down / down.sum(axis=0, keepdims=True))
    yield _weights("wrong-axis", values, np.where(backwards, after / after.sum(axis=0, keepdims=True), 0.0))
    yield _weights("wrong-axis", values, after / after.sum(axis=0, keepdims=True))
    yield _weights("forgot-total", values, down)
    for name, wrong in (
        ("forgot-scale", products),
        ("divided-by-d", products / queries.shape[1]),
        ("multiplied-by-root", products * root),
    ):
        yield _masked(name, "scores", values, wrong, backwards)


def _masked(name: str, step: str, values: Array, scores: Array, allowed: Mask) -> Slip:
    """Softmax among what a mask allows; a row that may look at nothing is given nothing."""
    exponentials = np.where(allowed, np.exp(scores - scores.max()), 0.0)
    totals = exponentials.sum(axis=1, keepdims=True)
    weights = np.divide(exponentials, totals, out=np.zeros_like(exponentials), where=totals > 0)
    return Slip(name, step, {"weights": weights, "output": weights @ values})


def _weights(name: str, values: Array, weights: Array) -> Slip:
    """Wrong weights, blended rightly."""
    return Slip(name, "weights", {"weights": weights, "output": weights @ values})


_MAKERS = {
    "dot_product": _dot_product,
    "softmax": _softmax,
    "weighted_average": _weighted_average,
    "attend": _attend,
    "attend_all": _attend_all,
}
