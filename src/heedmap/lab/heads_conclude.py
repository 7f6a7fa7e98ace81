"""What `heads` concludes: the best head against chance and on pairs that did not choose it, its place, and the clue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.experiment import Figure, Finding, Table
from heedmap.lab.heads_charts import charts
from heedmap.lab.heads_effects import Effects, Numbers, effects_of, halves
from heedmap.lab.heads_words import does_not_show, sentence_of, shows
from heedmap.lab.held_out import HeldOut, held_out
from heedmap.lab.permutation import BestHead, best_head
from heedmap.lab.rounding import TIE, first_largest, largest_first, rounding_of
from heedmap.lab.rows import Rows

if TYPE_CHECKING:
    from heedmap.lab.heads import HeadsSettings

FEWEST = 6
"""With fewer pairs nothing can be told: of 5 pairs, 1 flip in 32 is the data itself or its like."""

LEVEL = 0.05
_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Search:
    """A search among all heads for one kind of effect, and what it is worth.

    Attributes:
        effects: [pair, head].
        best: the best head on all pairs; None where there is nothing to search.
        first: chosen on the first half and reported on the second; None where the pairs have one family.
        second: the other way round.
    """

    effects: Numbers
    best: BestHead | None
    first: HeldOut | None
    second: HeldOut | None

    @property
    def stands(self) -> bool:
        """Whether the best head beats chance among all heads, and the chosen one its half that had no part in it."""
        beats = self.best is not None and self.best.p < LEVEL
        interval = None if self.first is None else self.first.interval
        return beats and interval is not None and interval[0] > TIE

    @property
    def can_tell(self) -> bool:
        """Whether there are pairs and families enough."""
        return self.best is not None and len(self.effects) >= FEWEST and self.first is not None


def conclude(rows: Rows, settings: HeadsSettings) -> Finding:
    """The finding of `heads`."""
    effects = effects_of(rows)
    noun = _search(effects.noun, effects.families, settings)
    after = _search(effects.clue_after, effects.clue_families, settings)
    causal = effects.versions_differ is not None and effects.versions_differ <= rounding_of(rows["dtype"][0])
    at_word = None if causal else _search(effects.clue_at_word, effects.families, settings)
    figures = _of_the_data(effects) | _of_search("heads", "noun", noun, effects, settings)
    figures |= _of_best(noun, effects, settings) | _of_place(effects)
    figures |= _of_search("heads.clue.after", "clue", after, effects, settings)
    if at_word is not None:
        figures |= _of_search("heads.clue.at_word", "clue", at_word, effects, settings)
    figures |= _of_asked(effects, settings)
    verdict = "cannot tell" if not noun.can_tell else "found" if noun.stands else "not found"
    return Finding(
        figures,
        verdict,
        sentence_of(verdict, noun, effects),
        shows(figures, noun, after, at_word, effects),
        does_not_show(figures, noun, after, effects, causal),
        _tables(noun, effects),
        charts(noun, effects) if noun.best is not None else {},
    )


def _search(effects: Numbers, families: np.ndarray, settings: HeadsSettings) -> Search:
    """Look for the best head, and test it."""
    seed, draws = settings.seed, settings.draws
    best = best_head(effects, seed=seed, draws=draws)
    split = halves(families, settings.seed) if len(families) else None
    if best is None or split is None:
        return Search(effects, best, None, None)
    first, second = (held_out(effects, half, seed=seed, draws=draws) for half in (split, ~split))
    return Search(effects, best, first, second)


def _of_the_data(effects: Effects) -> dict[str, Figure]:
    """How much there is."""
    n = len(effects.noun)
    figures = {
        "heads.pairs": Figure(n, None, n, "pairs in both noun orders"),
        "heads.families": Figure(len(set(effects.families)), None, n, "families of pairs"),
        "heads.left_out": Figure(sum(effects.left_out.values()), None, n, "pairs that could not be used"),
        "heads.exchanged": Figure(
            effects.exchanged, None, n, "pairs whose other order was made by exchanging the nouns"
        ),
        "heads.searched": Figure(len(effects.head), None, n, "heads that were searched"),
    }
    if effects.versions_differ is not None:
        says = "largest difference of a weight at the word between the two versions, which part after it"
        figures["heads.versions_differ"] = Figure(effects.versions_differ, None, n, says)
    return figures


_WHAT = {
    "noun": "A minus B over both noun orders",
    "clue": "right noun minus wrong one",
}


def _of_search(prefix: str, kind: str, search: Search, effects: Effects, settings: HeadsSettings) -> dict[str, Figure]:
    """The best head of all, and the heads chosen on one half and reported on the other."""
    best, n = search.best, len(search.effects)
    if best is None:
        return {}
    interval = mean_interval(search.effects[:, best.head], seed=settings.seed, draws=settings.draws)
    says = f"{_WHAT[kind]} (mean over pairs)"
    figures = {
        f"{prefix}.best.layer": Figure(int(effects.layer[best.head]), None, n, "layer of the best head", searched=True),
        f"{prefix}.best.head": Figure(int(effects.head[best.head]), None, n, "number of the best head", searched=True),
        f"{prefix}.best.effect": Figure(best.mean, interval, n, f"best head: {says}", searched=True),
        f"{prefix}.p": Figure(best.p, None, n, "how often sign flips give any head as large an effect (p)"),
        f"{prefix}.chance": Figure(best.chance, None, n, "what the best head reaches by chance in 1 of 20 draws"),
    }
    for name, half in (("held_out", search.first), ("held_out_swapped", search.second)):
        if half is None:
            continue
        which = "chosen on one half, on the other"
        figures |= {
            f"{prefix}.{name}.layer": Figure(int(effects.layer[half.head]), None, half.units, f"{which}: its layer"),
            f"{prefix}.{name}.head": Figure(int(effects.head[half.head]), None, half.units, f"{which}: its number"),
            f"{prefix}.{name}.chosen_effect": Figure(
                half.chosen, None, n - half.units, f"{which}: its effect where it was chosen", searched=True
            ),
            f"{prefix}.{name}.effect": Figure(half.effect, half.interval, half.units, f"{which}: {says}"),
            f"{prefix}.{name}.p": Figure(half.p, None, half.units, f"{which}: sign flips of this head alone (p)"),
            f"{prefix}.{name}.random_head": Figure(
                half.as_good, None, half.units, f"{which}: how often a head taken at random does as well (share)"
            ),
        }
    return figures


def _of_best(noun: Search, effects: Effects, settings: HeadsSettings) -> dict[str, Figure]:
    """More about the best head: its place effect, each order, and what causality makes of its two versions."""
    if noun.best is None:
        return {}
    head = noun.best.head
    return {
        f"heads.best.{name}": Figure(value, interval, len(effects.noun), f"best head: {says}", searched=True)
        for name, (value, interval, says) in _about(head, effects, settings).items()
        if name != "effect"
    }


def _about(
    head: int, effects: Effects, settings: HeadsSettings
) -> dict[str, tuple[float, tuple[float, float] | None, str]]:
    """Every number about one head: value, interval, what it is."""
    columns = {
        "effect": (effects.noun[:, head], _WHAT["noun"]),
        "place_effect": (
            effects.place[:, head],
            "first noun minus second over both noun orders",
        ),
        "order1": (effects.orders[0, :, head], "A minus B in the order given"),
        "order2": (effects.orders[1, :, head], "A minus B in the other order"),
        "per_token": (effects.per_token[:, head], "A minus B a token of the noun"),
        "same_noun": (
            effects.same_noun[:, head].astype(float),
            "same noun in both versions (share of pairs)",
        ),
    }
    return {
        name: (
            float(values.mean()),
            None if name == "same_noun" else mean_interval(values, seed=settings.seed, draws=settings.draws),
            says,
        )
        for name, (values, says) in columns.items()
    }


def _of_place(effects: Effects) -> dict[str, Figure]:
    """The head that looks most at one place, whichever noun stands there: what looks like an answer and is none."""
    if not effects.place.size:
        return {}
    means = effects.place.mean(0)
    head, n = first_largest(np.abs(means)), len(effects.place)
    return {
        "heads.place.layer": Figure(int(effects.layer[head]), None, n, "layer of the head of place", searched=True),
        "heads.place.head": Figure(int(effects.head[head]), None, n, "number of the head of place", searched=True),
        "heads.place.effect": Figure(
            float(means[head]), None, n, "head of place: first noun minus second", searched=True
        ),
        "heads.place.noun_effect": Figure(
            float(effects.noun[:, head].mean()), None, n, f"head of place: {_WHAT['noun']}", searched=True
        ),
    }


def _of_asked(effects: Effects, settings: HeadsSettings) -> dict[str, Figure]:
    """The head that was named beforehand: no search, so nothing to pay for."""
    if settings.layer is None:
        return {}
    places = np.flatnonzero((effects.layer == settings.layer) & (effects.head == settings.head))
    if not len(places) or not len(effects.noun):
        return {"heads.asked.effect": Figure(None, None, 0, "the model has no such head, or there are no pairs")}
    head, n = int(places[0]), len(effects.noun)
    alone = best_head(effects.noun[:, [head]], seed=settings.seed, draws=settings.draws)
    figures = {
        f"heads.asked.{name}": Figure(value, interval, n, f"{effects.name(head)}: {says}")
        for name, (value, interval, says) in _about(head, effects, settings).items()
    }
    p = None if alone is None else alone.p
    return figures | {"heads.asked.p": Figure(p, None, n, f"{effects.name(head)}: sign flips of this head alone (p)")}


def _tables(noun: Search, effects: Effects) -> dict[str, Table]:
    """The heads with the largest noun effect."""
    if noun.best is None:
        return {}
    means = effects.noun.mean(0)
    lines = [
        [int(effects.layer[head]), int(effects.head[head]), float(means[head]), float(effects.place[:, head].mean())]
        + [float(order[:, head].mean()) for order in effects.orders]
        for head in largest_first(means)[:_SHOWN]
    ]
    columns = ("layer", "head", "noun effect", "place effect", "order given", "other order")
    note = f"of {len(means)} heads; by chance the best reaches {noun.best.chance:.3f} in 1 of 20 draws"
    return {"best": Table("The heads with the largest noun effect", columns, lines, note, searched=True)}
