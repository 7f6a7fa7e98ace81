"""What `reference` concludes: each way to ask with its tests, what it must beat, and how far it varies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.bootstrap import METHOD
from heedmap.lab.correction import holm
from heedmap.lab.experiment import Figure, Finding, Table, Value
from heedmap.lab.reference_charts import charts
from heedmap.lab.reference_measure import WITHOUT_CLUE
from heedmap.lab.reference_summary import Numbers, Share, Summary, always_one_noun, summarise, toward_right
from heedmap.lab.reference_words import does_not_show, sentence_of, shows
from heedmap.lab.rounding import beyond_rounding
from heedmap.lab.rows import Rows

if TYPE_CHECKING:
    from heedmap.lab.reference import ReferenceSettings

WAYS = {
    "ask": "asked",
    "whole": "whole sentence",
    "part": "part after the noun",
}
"""The ways to ask, and how they are called."""

FEWEST = 6
"""With fewer pairs nothing can be told: even if all went one way, chance would do as well in 1 of 16."""

LEVEL = 0.05
_FAMILIES = 25


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking with one wording and one noun order.

    Attributes:
        way: "ask", "whole" or "part".
        name: what varies: "wording 2", "other noun order"; "as given" for the main one.
        summary: what it comes to.
    """

    way: str
    name: str
    summary: Summary

    @property
    def is_main(self) -> bool:
        """Whether this is the variant that the figures of its way are taken from."""
        return self.name == "as given"


def conclude(rows: Rows, settings: ReferenceSettings) -> Finding:
    """The finding of `reference`."""
    answers, first = rows["answers"], rows["first"]
    variants = _variants(rows, settings)
    main = {one.way: one.summary for one in variants if one.is_main}
    corrected = dict(zip(main, holm([np.nan if one.p is None else one.p for one in main.values()]), strict=True))
    figures = _of_the_data(rows)
    for way, summary in main.items():
        figures |= _of_way(way, summary, float(corrected[way]))
        figures |= _spread(way, [one.summary for one in variants if one.way == way])
        figures |= _without_clue(way, _odds(rows, way)[:, 0], answers, first[:, 0])
    verdict = _verdict(main, corrected)
    return Finding(
        figures,
        verdict,
        sentence_of(verdict, main, corrected, WAYS),
        shows(figures, main, WAYS),
        does_not_show(figures, main),
        _tables(rows, variants, settings),
        charts(variants, WAYS, figures) if variants else {},
    )


def _odds(rows: Rows, way: str) -> Numbers:
    """The log-odds of a way, [unit, order, version], in the main wording."""
    odds: Numbers = rows[way]
    return odds[..., 0] if way == "ask" else odds


def _variants(rows: Rows, settings: ReferenceSettings) -> list[Variant]:
    """Every way, wording and order that anything was measured in."""
    orders = ("as given", "other noun order")
    found = [(way, name, _odds(rows, way)[:, order]) for way in WAYS for order, name in enumerate(orders)]
    for number in range(1, len(settings.wordings)):
        found.append(("ask", f"wording {number + 1}", rows["ask"][:, 0, :, number]))
    answers = rows["answers"]
    return [
        Variant(way, name, summarise(odds[:, :WITHOUT_CLUE], answers, seed=settings.seed, draws=settings.draws))
        for way, name, odds in found
        if not np.isnan(toward_right(odds[:, :WITHOUT_CLUE], answers)).all()
    ]


def _of_the_data(rows: Rows) -> dict[str, Figure]:
    """How much there is, and what needs no model to be right."""
    answers = rows["answers"]
    always = always_one_noun(answers, rows["first"][:, 0])
    pairs = int((answers >= 0).all(1).sum())
    figures = {
        "reference.pairs": Figure(pairs, None, len(rows), "pairs of two versions"),
        "reference.items": Figure(int((answers >= 0).sum()), None, len(rows), "texts with one right noun"),
    }
    names = {
        "A": "noun A",
        "B": "noun B",
        "first": "the noun that stands first",
        "second": "the noun that stands second",
    }
    for name, value in always.items():
        says = f"accuracy of always saying {names[name]} (share of texts)"
        figures[f"reference.always.{name.lower()}"] = Figure(value, None, len(rows), says)
    best = "accuracy of the best way to say always the same (share of texts)"
    figures["reference.always_one_noun"] = Figure(max(always.values()), None, len(rows), best, searched=True)
    return figures


def _of_way(way: str, summary: Summary, corrected: float) -> dict[str, Figure]:
    """The figures of one way to ask."""
    how = WAYS[way]
    told = "questions" if not summary.both_right.n else "pairs that changed"
    shares = {
        "difference": (
            summary.difference,
            "log-odds of A, version that means A minus the other (mean over pairs)",
        ),
        "accuracy": (summary.accuracy, "right noun ahead (share of texts)"),
        "both_right": (summary.both_right, "both versions right (share of pairs; Wilson)"),
        "same_noun": (summary.same_noun, "same noun both times (share of pairs; Wilson)"),
    }
    figures = {
        f"reference.{way}.{name}": Figure(share.value, share.interval, share.n, f"{how}: {says}")
        for name, (share, says) in shares.items()
        if share.n
    }
    n = summary.right_way + summary.wrong_way
    p_values = {"sign_p": summary.p, "corrected_p": None if np.isnan(corrected) else corrected}
    return figures | {
        f"reference.{way}.right_way": Figure(summary.right_way, None, n, f"{how}: {told} the right way (count)"),
        f"reference.{way}.wrong_way": Figure(summary.wrong_way, None, n, f"{how}: {told} the wrong way (count)"),
        f"reference.{way}.sign_p": Figure(p_values["sign_p"], None, n, f"{how}: exact sign test of the two (p)"),
        f"reference.{way}.corrected_p": Figure(
            p_values["corrected_p"], None, n, f"{how}: the same, corrected for three ways (Holm; p)"
        ),
    }


def _spread(way: str, summaries: list[Summary]) -> dict[str, Figure]:
    """How far noun order and wording move the figures."""
    figures = {}
    for name, shares in (
        ("accuracy", [one.accuracy for one in summaries]),
        ("difference", [one.difference for one in summaries]),
    ):
        values = [share.value for share in shares if share.value is not None]
        if len(values) < 2:
            continue
        for end, value in (("lowest", min(values)), ("highest", max(values))):
            says = f"{WAYS[way]}: {end} over noun orders and wordings"
            figures[f"reference.{way}.{end}_{name}"] = Figure(value, None, len(values), says, searched=True)
    return figures


def _without_clue(way: str, odds: Numbers, answers: np.ndarray, first: np.ndarray) -> dict[str, Figure]:
    """The baseline: what the model prefers when the words that decide are taken out."""
    odds = beyond_rounding(odds)
    plain = odds[:, WITHOUT_CLUE]
    known = ~np.isnan(plain)
    if not known.any():
        return {}
    toward = toward_right(np.broadcast_to(plain[:, None], answers.shape), answers)
    there = ~np.isnan(toward)
    right = np.where(toward == 0, 0.5, toward > 0)[there].mean()
    with_clue = odds[:, :WITHOUT_CLUE]
    compared = there & ~np.isnan(with_clue)
    kept = (np.sign(with_clue) == np.sign(plain)[:, None])[compared].mean()
    placed = known & (first >= 0)
    n = int(known.sum())
    figures = {
        "accuracy": (float(right), "right noun ahead without the clue (share of texts)"),
        "kept": (float(kept), "same noun as without the clue (share of texts)"),
        "strength": (float(np.abs(plain[known]).mean()), "size of the log-odds without the clue (mean)"),
    }
    if placed.any():
        prefers_first = float(((plain > 0) == (first == 0))[placed].mean())
        figures["first"] = (prefers_first, "first noun ahead without the clue (share of pairs)")
    return {
        f"reference.{way}.no_clue.{name}": Figure(value, None, n, f"{WAYS[way]}: {says}")
        for name, (value, says) in figures.items()
    }


def _verdict(main: dict[str, Summary], corrected: dict[str, float]) -> str:
    """One of the experiment's verdicts."""
    if max((units_of(one) for one in main.values()), default=0) < FEWEST:
        return "cannot tell"
    right = [way for way, one in main.items() if corrected[way] < LEVEL and one.right_way > one.wrong_way]
    return "resolves" if right else "not shown"


def units_of(summary: Summary) -> int:
    """On how many independent units a way rests: pairs, or questions where there are no pairs."""
    return summary.both_right.n or summary.accuracy.n


def _tables(rows: Rows, variants: list[Variant], settings: ReferenceSettings) -> dict[str, Table]:
    """Every variant, and every family where they are few."""
    columns = (
        "way",
        "variant",
        "pairs",
        "difference",
        "from",
        "to",
        "accuracy",
        "from",
        "to",
        "both right",
        "same noun",
    )
    lines: list[list[Value]] = []
    for one in variants:
        summary = one.summary
        name = f"{one.name}: {_wording(one, settings)}" if one.way == "ask" else one.name
        shares = (summary.both_right.value, summary.same_noun.value)
        numbers = (*_cells(summary.difference), *_cells(summary.accuracy), *shares)
        lines.append([WAYS[one.way], name, summary.both_right.n, *numbers])
    note = "difference: log-odds (natural logarithm); intervals: 95 percent, " + METHOD
    tables = {"variants": Table("Ways to ask, noun orders and wordings", columns, lines, note)}
    families = sorted(set(rows["family"]))
    if 1 < len(families) <= min(_FAMILIES, len(rows) - 1):
        tables["families"] = _by_family(rows, families)
    return tables


def _wording(variant: Variant, settings: ReferenceSettings) -> str:
    """The wording of a variant."""
    number = int(variant.name.rpartition(" ")[2]) - 1 if variant.name.startswith("wording") else 0
    return settings.wordings[number]


def _cells(share: Share) -> list[float | None]:
    """A number and the ends of its interval."""
    low, high = share.interval or (None, None)
    return [share.value, low, high]


def _by_family(rows: Rows, families: list[str]) -> Table:
    """Accuracy in each family, by each way."""
    answers = rows["answers"]
    lines = []
    for family in families:
        inside = rows["family"] == family
        line: list[Value] = [family, int(inside.sum())]
        for way in WAYS:
            toward = toward_right(_odds(rows, way)[inside, 0, :WITHOUT_CLUE], answers[inside])
            known = ~np.isnan(toward)
            line.append(float(np.where(toward == 0, 0.5, toward > 0)[known].mean()) if known.any() else None)
        lines.append(line)
    note = "accuracy: share of texts; a family is too small to claim anything of it alone"
    return Table("Families of pairs", ("family", "pairs", *WAYS.values()), lines, note)
