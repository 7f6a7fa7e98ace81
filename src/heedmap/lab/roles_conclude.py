"""What `roles` concludes: the best heads of each role, whether repetition makes them, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.experiment import Chart, Figure, Finding, Table
from heedmap.lab.over_heads import Numbers, halves, head_name
from heedmap.lab.permutation import BestHead, best_head
from heedmap.lab.roles_names import (
    CANNOT_TELL,
    INDUCTION,
    LEAST_SEQUENCES,
    NO_INDUCTION,
    OF_REPETITION,
    ROLES,
)
from heedmap.lab.rounding import TIE, first_largest, largest_first
from heedmap.lab.rows import Rows
from heedmap.lab.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 5
"""Heads of each role in the table."""

LEVEL = 0.05

DIFFERENT = 0.1
"""From this difference on a score is said to change."""


class Scores:
    """The rows as arrays.

    Attributes:
        layer: [head] over all layers.
        head: [head] over all layers.
        repeated: [sequence, role, head].
        unrepeated: [sequence, role, head].
        even: [role, head], what an even look would give.
    """

    def __init__(self, rows: Rows) -> None:
        self.layer, self.head = rows["layer"][0], rows["head"][0]
        self.repeated, self.unrepeated = rows["repeated"], rows["unrepeated"]
        self.even: Numbers = rows["even"].mean(0)

    def name(self, place: int) -> str:
        """A head in words."""
        return head_name(int(self.layer[place]), int(self.head[place]))


def conclude(rows: Rows, settings: Settings) -> Finding:
    """The finding; see `Roles`."""
    scores = Scores(rows)
    figures: dict[str, Figure] = {}
    tests: dict[str, BestHead | None] = {}
    for number, role in enumerate(ROLES):
        figures |= _figures_of_role(scores, number, role, settings)
        if role in OF_REPETITION:
            excess = scores.repeated[:, number] - scores.unrepeated[:, number]
            tests[role] = best_head(excess, seed=settings.seed, draws=settings.draws)
            figures |= _figures_of_test(role, tests[role], len(rows))
    verdict = verdict_of(tests["induction"], len(rows))
    return Finding(
        figures=figures,
        verdict=verdict,
        sentence=_sentence(verdict, figures, len(rows)),
        shows=[_shows(role, figures) for role in ROLES],
        does_not_show=_does_not_show(scores),
        tables={"roles": _table(scores, settings)},
        charts={"roles": _chart(scores)},
    )


def _figures_of_role(scores: Scores, number: int, role: str, settings: Settings) -> dict[str, Figure]:
    """The best head, its score from the half on which it was not chosen, the same without repetition and by chance."""
    repeated, unrepeated = scores.repeated[:, number], scores.unrepeated[:, number]
    order = largest_first(repeated.mean(0))
    choosing, measuring = halves(len(repeated))
    chosen = first_largest(repeated[choosing].mean(0))
    own, without = repeated[measuring, chosen], unrepeated[measuring, chosen]
    n = len(measuring)
    begin = f"roles.{role}"

    def interval(values: Numbers) -> tuple[float, float] | None:
        return mean_interval(values, seed=settings.seed, draws=settings.draws)

    what = f"a head that {ROLES[role]}"
    figures = {
        f"{begin}.best": Figure(scores.name(int(order[0])), n=len(repeated), says=f"best as {what}", searched=True),
        f"{begin}.second": Figure(scores.name(int(order[1])), n=len(repeated), says=f"second as {what}", searched=True)
        if len(order) > 1
        else Figure(None, says="there is one head"),
        f"{begin}.chosen": Figure(scores.name(chosen), n=len(choosing), says="best on every other sequence"),
        f"{begin}.score": Figure(
            float(own.mean()), interval(own), n, f"mean share of the chosen head as {what}, on the other sequences"
        ),
        f"{begin}.unrepeated": Figure(
            float(without.mean()), interval(without), n, "the same of the same head where no token repeats"
        ),
        f"{begin}.even": Figure(float(scores.even[number, chosen]), None, None, "what an even look would give"),
    }
    for place, value in enumerate(repeated.mean(0)):
        name = f"{begin}.layer{scores.layer[place]}.head{scores.head[place]}"
        figures[name] = Figure(float(value), n=len(repeated), says=f"mean share as {what}")
    return figures


def _figures_of_test(role: str, test: BestHead | None, sequences: int) -> dict[str, Figure]:
    """Repeated against unrepeated, for the best of all heads."""
    if test is None:
        return {}
    says = "chance that the best of all heads gains so much by repetition (sign flips over sequences)"
    return {
        f"roles.{role}.p": Figure(test.p, n=sequences, says=says),
        f"roles.{role}.gain": Figure(
            test.mean, n=sequences, says="largest gain of a head by repetition (share)", searched=True
        ),
        f"roles.{role}.chance": Figure(test.chance, n=sequences, says="95th percentile of the largest gain by chance"),
    }


def verdict_of(test: BestHead | None, sequences: int) -> str:
    """Whether there are induction heads: the one role that makes a model repeat what it has seen."""
    if test is None or sequences < LEAST_SEQUENCES:
        return CANNOT_TELL
    return INDUCTION if test.p <= LEVEL and test.mean > TIE else NO_INDUCTION


def _sentence(verdict: str, figures: dict[str, Figure], sequences: int) -> str:
    """The verdict in plain words."""
    if verdict == CANNOT_TELL:
        return f"{sequences} sequences are too few to tell: take {LEAST_SEQUENCES} or more (--sequences)."
    score, without = figures["roles.induction.score"], figures["roles.induction.unrepeated"]
    chosen = figures["roles.induction.chosen"].value
    numbers = f"{chosen} gives {score.value:.2f} of its look to the token that followed the same token before"
    if verdict == INDUCTION:
        return f"There are induction heads: {numbers}, and {without.value:.2f} where nothing repeats."
    return f"No head was found that looks there because of the repetition: the best, {numbers}."


def _shows(role: str, figures: dict[str, Figure]) -> str:
    """One role in a sentence."""
    begin = f"roles.{role}"
    score, without = figures[f"{begin}.score"], figures[f"{begin}.unrepeated"]
    even = figures[f"{begin}.even"]
    line = (
        f"{role}: {figures[f'{begin}.chosen'].value} {ROLES[role]} with {score.value:.3f} of its look; "
        f"{without.value:.3f} where no token repeats, {even.value:.3f} by an even look"
    )
    if role not in OF_REPETITION:
        apart = abs(score.value - without.value) > DIFFERENT  # type: ignore[operator]
        return f"{line}. The role needs no repetition; here repetition {'changes' if apart else 'hardly changes'} it."
    p = figures.get(f"{begin}.p")
    return f"{line}; best of all heads against chance: p = {p.value:.4f}." if p is not None else f"{line}."


def _does_not_show(scores: Scores) -> list[str]:
    """What does not follow."""
    return [
        "What a head does in real text: random tokens leave it nothing else to look at, and most heads do several "
        "things.",
        "That the model uses what the head looks at: `heedmap lab matters` removes heads.",
        f"That the roles are the best description of these heads: {len(scores.layer)} heads were compared with "
        f"{len(ROLES)} roles that people have named.",
        "An induction head of an encoder, which can also look ahead: scores are of looks back.",
    ]


def _table(scores: Scores, settings: Settings) -> Table:
    """The best heads of each role."""
    lines: list[list[Any]] = []
    for number, role in enumerate(ROLES):
        repeated, unrepeated = scores.repeated[:, number].mean(0), scores.unrepeated[:, number].mean(0)
        for place in largest_first(repeated)[:SHOWN]:
            ends = mean_interval(scores.repeated[:, number, place], seed=settings.seed, draws=settings.draws)
            low, high = ends or (None, None)
            lines.append(
                [
                    role,
                    int(scores.layer[place]),
                    int(scores.head[place]),
                    float(repeated[place]),
                    low,
                    high,
                    float(unrepeated[place]),
                    float(scores.even[number, place]),
                ]
            )
    return Table(
        title=f"The {SHOWN} best heads of each role, mean over {len(scores.repeated)} sequences",
        columns=["role", "layer", "head", "score", "from", "to", "unrepeated", "even look"],
        rows=lines,
        note="A score is the mean share on the one token that the role is about, over the second half. The best of "
        "many heads is too high by chance: the figures give its score on sequences on which it was not chosen.",
        searched=True,
    )


def _chart(scores: Scores) -> Chart:
    """All heads over the layers, one mark a role."""
    means = scores.repeated.mean(0)

    def draw(axes: Axes) -> None:
        for number, (role, marker) in enumerate(zip(ROLES, "osv^D", strict=True)):
            axes.plot(scores.layer, means[number], marker, ms=3.5, alpha=0.75, ls="", label=role)
        axes.set(xlabel="layer", ylabel="mean share", ylim=(-0.02, 1.02))
        axes.legend(frameon=False, ncols=5, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18))

    best = "; ".join(
        f"{role}: {scores.name(first_largest(means[number]))}, {means[number].max():.2f}"
        for number, role in enumerate(ROLES)
    )
    return Chart(
        "All heads in five roles, on random tokens that repeat",
        draw,
        f"Every head's score in each role over the layers. Highest: {best}.",
    )
