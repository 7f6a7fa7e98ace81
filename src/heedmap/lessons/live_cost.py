"""Live numbers of length: what a prompt costs by a model's configuration, and how one word's share dilutes."""

from __future__ import annotations

import functools

import numpy as np

from heedmap.arithmetic import softmax
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lab.cost_predict import Prediction, outweighs_from, predict
from heedmap.lab.cost_shape import Shape, shape_of
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL

WHAT = ("attention", "rest", "cache", "attention-share", "maps")
"""What may be asked: operations between tokens and all others, bytes of the cache, a share, bytes of every map."""


@functools.cache
def shape_named(name: str) -> Shape:
    """The sizes of a model of the catalogue, from its configuration."""
    from heedmap.models.configuration import find_configuration

    return shape_of(find_configuration(name))


@functools.cache
def predicted(name: str, tokens: int) -> Prediction:
    """What so many tokens cost."""
    return predict(shape_named(name), tokens, dtype="float32")


def cost_of(name: str, tokens: int, what: str) -> float:
    """One of `WHAT`.

    Raises:
        LessonError: it is none of them.
    """
    if what not in WHAT:
        raise LessonError(f"expected one of {', '.join(WHAT)}, found {what!r}")
    found = predicted(name, tokens)
    if what == "maps":  # a number of 4 bytes for each query and key, in every head of every layer
        return 4.0 * tokens**2 * sum(layer.heads for layer in shape_named(name).layers)
    return {
        "attention": found.attention,
        "rest": found.rest,
        "cache": found.cache,
        "attention-share": found.share,
    }[what]


def _named(arguments: Arguments) -> str:
    """The option `model`, taken."""
    return arguments.option("model", DEFAULT_MODEL) or ""


@REGISTRY.add(
    "costs",
    f"TOKENS {'|'.join(WHAT)} [model=smollm2] [times=1] [digits=0]",
    "what a prompt costs, in operations, bytes or a share; times=1e-9 gives billions",
    model=True,
)
def _costs(arguments: Arguments) -> Figure:
    tokens, what = arguments.whole("how many tokens"), arguments.word("what is asked")
    times = Arguments([arguments.option("times", "1") or ""], {}).numbers("times")[0]
    value = cost_of(_named(arguments), tokens, what) * times
    digits = arguments.digits(0)
    return Figure(f"{value:,.{digits}f}", value)


@REGISTRY.add(
    "costs-grow",
    f"TOKENS TOKENS {'|'.join(WHAT)} [model=smollm2] [digits=1]",
    "how many times as much the second length costs",
    model=True,
)
def _grow(arguments: Arguments) -> Figure:
    few, many = arguments.whole("how many tokens"), arguments.whole("how many tokens")
    what, name = arguments.word("what is asked"), _named(arguments)
    return rounded(cost_of(name, many, what) / cost_of(name, few, what), arguments.digits(1))


@REGISTRY.add(
    "costs-crossing", "[model=smollm2]", "the length from which attention is more than half the work", model=True
)
def _crossing(arguments: Arguments) -> Figure:
    length = outweighs_from(shape_named(_named(arguments)))
    return Figure("never", None) if length is None else Figure(f"{length:,}", float(length))


def diluted(score: float, others: int) -> float:
    """The weight of one word with a score among others whose scores are 0.

    Example:
        >>> round(diluted(0.0, 3), 2), diluted(5.0, 9) > diluted(5.0, 99)
        (0.25, True)
    """
    return float(softmax(np.array([score, *[0.0] * others])).weights[0])


@REGISTRY.add("diluted", "SCORE OTHERS [digits=3]", "the weight of one word among others whose scores are 0")
def _diluted(arguments: Arguments) -> Figure:
    score, others = arguments.numbers("a score")[0], arguments.whole("how many others")
    return rounded(diluted(score, others), arguments.digits(3))


@REGISTRY.add("diluted-table", "SCORES OTHERS,OTHERS,...", "the same for several scores and lengths", block=True)
def _diluted_table(arguments: Arguments) -> Figure:
    scores, lengths = arguments.numbers("scores"), [int(one) for one in arguments.numbers("how many others")]
    rows = [["others", *(f"score {one:g}" for one in scores)]]
    rows += [[f"{others:,}", *(number(diluted(one, others), 3) for one in scores)] for others in lengths]
    return Figure("\n".join(columns(rows, left=0)))


@REGISTRY.add("needed", "SHARE OTHERS [digits=1]", "the score that one word needs to keep a share among others")
def _needed(arguments: Arguments) -> Figure:
    share, others = arguments.numbers("a share")[0], arguments.whole("how many others")
    if not 0 < share < 1:
        raise LessonError(f"expected a share between 0 and 1, found {share:g}")
    return rounded(float(np.log(share * others / (1 - share))), arguments.digits(1))
