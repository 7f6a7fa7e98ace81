"""Live numbers of taking heads away, by the lab's own measure: what becomes of the odds of the right noun.

A removed head gives its mean over the built-in sentences (`by=mean`), or nothing (`by=zero`).
"""

from __future__ import annotations

import functools

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lab.matters import MattersSettings, Task
from heedmap.lab.rows import Row
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_asked import pair_named
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

BY = ("mean", "zero")
"""What may stand in for a removed head."""

SMALLEST = 0.05
"""A change of the log-odds below which the course calls it small."""

_PLACE = "[version=1|2] [layer=16]"
_HOW = f"{_PLACE} [by=mean|zero]"


@functools.cache
def removals(pair: str, layer: int, by: str) -> Row:
    """What is lost in a built-in pair without each head of a layer; see `heedmap.lab.matters_measure.measure`."""
    from heedmap.lab.matters_measure import measure  # loads torch: not before a model is asked

    settings = MattersSettings(layer=layer, by=by)
    return measure(model_named(DEFAULT_MODEL), Task(pair_named(pair), all_heads=False), settings)


class _Asked:
    """What a call asks for: pair, version, layer and stand-in, taken from its arguments."""

    def __init__(self, arguments: Arguments) -> None:
        pair = arguments.word("a pair")
        version = arguments.option("version", "1")
        by = arguments.option("by", "mean") or ""
        if version not in ("1", "2"):
            raise LessonError(f"option version: expected 1 or 2, found {version!r}")
        if by not in BY:
            raise LessonError(f"option by: expected one of {', '.join(BY)}, found {by!r}")
        self.version = int(version) - 1
        self.layer = arguments.whole_option("layer", 16)
        self.row = removals(pair, self.layer, by)
        places = np.flatnonzero(self.row["layer"] == self.layer)
        self.lost = self.row["effect"][self.version, places]
        # From the pronoun on the right noun less the other: the picture that somebody would show.
        word = self.row["word"][self.version, places]
        self.right, self.other = word[:, 0], word[:, 1]
        self.odds = float(self.row["odds"][self.version])
        self.layer_lost = float(self.row["layer_effect"][self.version])

    def head(self, arguments: Arguments) -> int:
        """The head that a call asks for."""
        head = arguments.whole("a head")
        if head >= len(self.lost):
            raise LessonError(f"expected a head from 0 to {len(self.lost) - 1}, found {head}")
        return head


@REGISTRY.add("removed", f"PAIR HEAD {_HOW} [digits=2]", "log-odds of the right noun lost without a head", model=True)
def _removed(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    return rounded(float(asked.lost[asked.head(arguments)]), arguments.digits(2))


@REGISTRY.add("removed-left", f"PAIR HEAD {_HOW} [digits=2]", "log-odds of the right noun without a head", model=True)
def _removed_left(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    return rounded(asked.odds - float(asked.lost[asked.head(arguments)]), arguments.digits(2))


@REGISTRY.add("removed-times", f"PAIR {_PLACE} [digits=1]", "how many times as likely the right noun is", model=True)
def _removed_times(arguments: Arguments) -> Figure:
    return rounded(float(np.exp(_Asked(arguments).odds)), arguments.digits(1))


@REGISTRY.add("removed-odds", f"PAIR {_PLACE} [digits=2]", "log-odds of the right noun with every head", model=True)
def _removed_odds(arguments: Arguments) -> Figure:
    return rounded(_Asked(arguments).odds, arguments.digits(2))


@REGISTRY.add("removed-layer", f"PAIR {_HOW} [digits=2]", "log-odds lost without every head of a layer", model=True)
def _removed_layer(arguments: Arguments) -> Figure:
    return rounded(_Asked(arguments).layer_lost, arguments.digits(2))


@REGISTRY.add("removed-weight", f"PAIR HEAD {_PLACE} [digits=3]", "from the pronoun on the right noun", model=True)
def _removed_weight(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    return rounded(float(asked.right[asked.head(arguments)]), arguments.digits(3))


@REGISTRY.add(
    "removed-rank", f"PAIR HEAD {_HOW}", "a head's place in its layer by how much changes without it", model=True
)
def _removed_rank(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    sizes = np.abs(asked.lost)
    rank = int((sizes > sizes[asked.head(arguments)]).sum()) + 1
    return Figure(str(rank), float(rank))


@REGISTRY.add(
    "removed-most",
    f"PAIR weight|effect {_HOW}",
    "the head that looks most at the right noun, or changes most",
    model=True,
)
def _removed_most(arguments: Arguments) -> Figure:
    pair_and_what = (arguments.word("a pair"), arguments.word("weight or effect"))
    arguments.words.insert(0, pair_and_what[0])
    asked = _Asked(arguments)
    if pair_and_what[1] not in ("weight", "effect"):
        raise LessonError(f"expected weight or effect, found {pair_and_what[1]!r}")
    values = asked.right if pair_and_what[1] == "weight" else np.abs(asked.lost)
    head = int(values.argmax())
    return Figure(f"head {head}", float(head))


@REGISTRY.add("removed-table", f"PAIR {_HOW}", "every head of a layer taken away in turn", block=True, model=True)
def _removed_table(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    rows = [["without", "on the right noun", "on the other", "log-odds left", "lost"]]
    rows.append(["nothing", "", "", number(asked.odds, 2), ""])
    for head, lost in enumerate(asked.lost):
        weights = [number(float(one), 3) for one in (asked.right[head], asked.other[head])]
        rows.append([f"head {head}", *weights, number(asked.odds - lost, 2), number(float(lost), 2)])
    rows.append(["all of them", "", "", number(asked.odds - asked.layer_lost, 2), number(asked.layer_lost, 2)])
    return Figure("\n".join(columns(rows)))


@REGISTRY.add(
    "removed-size", f"PAIR HEAD {_HOW}", "what removing it does, in words: hurts, helps, or hardly anything", model=True
)
def _removed_size(arguments: Arguments) -> Figure:
    asked = _Asked(arguments)
    lost = float(asked.lost[asked.head(arguments)])
    if abs(lost) < SMALLEST:
        return Figure("hardly anything")
    return Figure("the right noun loses" if lost > 0 else "the right noun gains")


def _lost_in_both(pair: str, head: int, layer: int) -> tuple[float, float]:
    """What the right noun loses in both versions of a pair without a head."""
    row = removals(pair, layer, BY[0])
    place = np.flatnonzero(row["layer"] == layer)[head]
    return float(row["effect"][0, place]), float(row["effect"][1, place])


@REGISTRY.add(
    "removed-both",
    "PAIR,PAIR,... HEAD [layer=16]",
    "what the right noun loses without a head, in both versions of some pairs",
    block=True,
    model=True,
)
def _removed_both(arguments: Arguments) -> Figure:
    pairs, found = _lost_in_all(arguments)
    rows = [["pair", "lost in version 1", "in version 2", "on average"]]
    rows += [
        [pair, *(number(float(one), 2) for one in (*lost, lost.mean()))]
        for pair, lost in zip(pairs, found, strict=True)
    ]
    rows.append(["all", *(number(float(one), 2) for one in (*found.mean(axis=0), found.mean()))])
    return Figure("\n".join(columns(rows)))


@REGISTRY.add(
    "removed-mean",
    "PAIR,PAIR,... HEAD [layer=16] [digits=2]",
    "the average of that over pairs and versions",
    model=True,
)
def _removed_mean(arguments: Arguments) -> Figure:
    _, found = _lost_in_all(arguments)
    return rounded(float(found.mean()), arguments.digits(2))


@REGISTRY.add(
    "removed-needed",
    "PAIR,PAIR,... HEAD [layer=16]",
    "in how many pairs the right noun loses without a head in both versions",
    model=True,
)
def _removed_needed(arguments: Arguments) -> Figure:
    _, found = _lost_in_all(arguments)
    count = int((found > 0).all(axis=1).sum())
    return Figure(str(count), float(count))


def _lost_in_all(arguments: Arguments) -> tuple[list[str], Array]:
    """The pairs that a call names, and [pair, version] what the right noun loses in each without the head."""
    pairs, head = arguments.word("pairs").split(","), arguments.whole("a head")
    layer = arguments.whole_option("layer", 16)
    return pairs, np.array([_lost_in_both(pair, head, layer) for pair in pairs])
