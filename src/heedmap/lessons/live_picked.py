"""Live numbers of a head that was picked on one sentence: where it points there, and where on others.

A head points at the noun on which the pronoun puts more weight; the lead is the one weight minus the other.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lab.heads import HeadsSettings
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_asked import pair_named
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

_ORDER = "[order=1|2]"


@dataclass(frozen=True, eq=False)
class Looks:
    """What every head's pronoun puts on both nouns of a pair.

    Attributes:
        heads: layer and head, in order.
        weights: [order, head, noun]; order 0 as the pair is written, order 1 with the nouns the other way round.
        first: [order], which noun stands first.
    """

    heads: tuple[tuple[int, int], ...]
    weights: Array
    first: tuple[int, int]

    @property
    def lead(self) -> Array:
        """[order, head], the first noun's weight minus the second's."""
        result: Array = self.weights[..., 0] - self.weights[..., 1]
        return result


@functools.cache
def looks_of(pair: str) -> Looks:
    """Every head's weights on a built-in pair's nouns, in the version that comes first (the other has the same row).

    Raises:
        LessonError: there is no such pair, or it cannot be measured.
    """
    from heedmap.lab.heads_measure import measure  # loads torch: not before a model is asked

    (row,) = measure(model_named(DEFAULT_MODEL), [pair_named(pair)], HeadsSettings())
    if row["left_out"]:
        raise LessonError(f"pair {pair}: {row['left_out']}")
    heads = tuple((int(layer), int(head)) for layer, head in zip(row["layer"], row["head"], strict=True))
    first = (int(row["first"][0]), int(row["first"][1]))
    return Looks(heads, row["weights"][0, :, 0].astype(np.float64), first)


def picked(pair: str) -> int:
    """The place of the head that points most at the pair's first candidate."""
    return int(looks_of(pair).lead[0].argmax())


def _order(arguments: Arguments) -> int:
    """The option `order`, taken, from 0."""
    text = arguments.option("order", "1")
    if text not in ("1", "2"):
        raise LessonError(f"option order: expected 1 or 2, found {text!r}")
    return int(text) - 1


def _nouns(pair: str) -> list[str]:
    """The nouns of a pair without their articles."""
    return [one.removeprefix("the ") for one in pair_named(pair).candidates]


def _named(head: tuple[int, int]) -> str:
    """A head in words."""
    return f"layer {head[0]}, head {head[1]}"


@REGISTRY.add("picked", "PAIR", "the head in which the pronoun points most at the pair's first noun", model=True)
def _picked(arguments: Arguments) -> Figure:
    pair = arguments.word("a pair")
    return Figure(_named(looks_of(pair).heads[picked(pair)]))


@REGISTRY.add(
    "picked-weight",
    f"PAIR NOUN [on=PAIR] {_ORDER} [digits=3]",
    "what the head that was picked on PAIR puts on a noun, there or in another pair",
    model=True,
)
def _picked_weight(arguments: Arguments) -> Figure:
    pair, noun = arguments.word("a pair"), arguments.word("a noun")
    on = arguments.option("on", pair) or ""
    if noun not in _nouns(on):
        raise LessonError(f"expected one of {', '.join(_nouns(on))}, found {noun!r}")
    weight = looks_of(on).weights[_order(arguments), picked(pair), _nouns(on).index(noun)]
    return rounded(float(weight), arguments.digits(3))


@REGISTRY.add("picked-lead", f"PAIR [on=PAIR] {_ORDER} [digits=2]", "the lead of that head there", model=True)
def _picked_lead(arguments: Arguments) -> Figure:
    pair = arguments.word("a pair")
    on = arguments.option("on", pair) or ""
    return rounded(float(looks_of(on).lead[_order(arguments), picked(pair)]), arguments.digits(2))


@REGISTRY.add("picked-at", f"PAIR [on=PAIR] {_ORDER}", "the noun at which that head points", model=True)
def _picked_at(arguments: Arguments) -> Figure:
    pair = arguments.word("a pair")
    on = arguments.option("on", pair) or ""
    lead = looks_of(on).lead[_order(arguments), picked(pair)]
    return Figure(_nouns(on)[int(lead < 0)])


@REGISTRY.add("picked-table", f"PAIR [count=5] {_ORDER}", "the heads that point most at a noun", block=True, model=True)
def _picked_table(arguments: Arguments) -> Figure:
    pair = arguments.word("a pair")
    count = arguments.whole_option("count", 5)
    found, order = looks_of(pair), _order(arguments)
    rows = [["head", *_nouns(pair), "lead"]]
    for place in np.argsort(-found.lead[order], kind="stable")[:count]:
        weights = found.weights[order, place]
        rows.append([_named(found.heads[place]), *(number(one, 3) for one in (*weights, found.lead[order, place]))])
    return Figure("\n".join(columns(rows)))


@REGISTRY.add("picked-spread", f"PAIR {_ORDER}", "how many heads lead by how much", block=True, model=True)
def _picked_spread(arguments: Arguments) -> Figure:
    pair, order = arguments.word("a pair"), _order(arguments)
    lead = looks_of(pair).lead[order]
    edges = np.arange(-0.5, 0.51, 0.1).round(1) + 0.0
    counts = np.bincount(np.searchsorted(edges, lead, side="right"), minlength=len(edges) + 1)
    inner = [f"{low:+.1f} to {high:+.1f}" for low, high in itertools.pairwise(edges)]
    names = [f"below {edges[0]:+.1f}", *inner, f"from {edges[-1]:+.1f}"]  # a lead may be anything from -1 to 1
    rows = [
        f"{name:12}  {count:4}  {'█' * round(count / 3)}".rstrip() for name, count in zip(names, counts, strict=True)
    ]
    return Figure("\n".join(["lead            heads", *rows]))


@REGISTRY.add(
    "picked-elsewhere",
    "PAIR PAIR,PAIR,...",
    "the head that was picked on PAIR, on other pairs in both noun orders",
    block=True,
    model=True,
)
def _picked_elsewhere(arguments: Arguments) -> Figure:
    pair, others = arguments.word("a pair"), arguments.word("other pairs").split(",")
    rows = [["pair", "noun that stands first", "its weight", "the other's", "points at"]]
    for on in others:
        found, place = looks_of(on), picked(pair)
        for order in (0, 1):
            first = found.first[order]
            here = found.weights[order, place]
            rows.append(
                [
                    on if order == 0 else "",
                    _nouns(on)[first],
                    number(float(here[first]), 3),
                    number(float(here[1 - first]), 3),
                    "the first" if here[first] > here[1 - first] else "the second",
                ]
            )
    return Figure("\n".join(columns(rows, left=2)))


@REGISTRY.add(
    "picked-first",
    "PAIR PAIR,PAIR,...",
    "in how many sentences that head points at the noun that stands first",
    model=True,
)
def _picked_first(arguments: Arguments) -> Figure:
    pair, others = arguments.word("a pair"), arguments.word("other pairs").split(",")
    place, count = picked(pair), 0
    for on in others:
        found = looks_of(on)
        for order in (0, 1):
            here, first = found.weights[order, place], found.first[order]
            count += bool(here[first] > here[1 - first])
    return Figure(str(count), float(count))
