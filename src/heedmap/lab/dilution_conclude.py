"""What `dilution` concludes: how the share on a fact and the odds of its answer change with the text around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.dilution import CANNOT_TELL, DILUTED, NOT_DILUTED, DilutionSettings
from heedmap.lab.experiment import Chart, Figure, Finding, Table, Value
from heedmap.lab.over_heads import Numbers, halves, head_name
from heedmap.lab.rounding import TIE, first_largest
from heedmap.lab.rows import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_FACTS = 6
"""Facts below which nothing is decided."""


class Curves:
    """The rows by fact and amount.

    Attributes:
        amounts: [amount].
        tokens: [fact, amount].
        share: [fact, amount], the mean over all heads.
        best: [fact, amount], in the head that was chosen; NaN for the facts that it was chosen on.
        head: the chosen head, in words.
        even: [fact, amount].
        odds: [fact, amount].
        gain: [fact, amount], the odds less those without the fact.
    """

    def __init__(self, rows: Rows) -> None:
        facts, self.amounts = np.unique(rows["fact"]), np.unique(rows["amount"])
        place = {(fact, amount): n for n, (fact, amount) in enumerate(zip(rows["fact"], rows["amount"], strict=True))}
        whole = [fact for fact in facts if all((fact, amount) in place for amount in self.amounts)]
        order = np.array([[place[fact, amount] for amount in self.amounts] for fact in whole], int)
        order = order.reshape(len(whole), len(self.amounts))
        shares = rows["share"][order]
        self.tokens, self.even = rows["tokens"][order], rows["even"][order]
        self.share: Numbers = shares.mean((-2, -1))
        self.odds: Numbers = rows["odds"][order]
        self.gain: Numbers = self.odds - rows["odds_without"][order]
        choosing, measuring = halves(len(whole))
        layer, head = np.unravel_index(first_largest(shares[choosing].mean((0, 1)).ravel()), shares.shape[2:])
        self.head = head_name(int(rows["layers"][0][layer]), int(head))
        self.best = np.full(self.share.shape, np.nan)
        self.best[measuring] = shares[measuring][:, :, layer, head]


def conclude(rows: Rows, settings: DilutionSettings) -> Finding:
    """The finding; see `Dilution`."""
    curves = Curves(rows)
    figures = _figures(curves, settings)
    verdict = _verdict(curves, figures)
    return Finding(
        figures=figures,
        verdict=verdict,
        sentence=_sentence(verdict, curves, figures),
        shows=_shows(curves, figures),
        does_not_show=_does_not_show(settings),
        tables={"amounts": _table(curves, figures)},
        charts={"curve": _chart(curves)},
    )


def _mean(values: Numbers, settings: DilutionSettings, says: str) -> Figure:
    """A mean over facts with its interval."""
    known = values[np.isfinite(values)]
    if not len(known):
        return Figure(None, says=says)
    ends = mean_interval(known, seed=settings.seed, draws=settings.draws)
    return Figure(float(known.mean()), ends, len(known), says)


def _figures(curves: Curves, settings: DilutionSettings) -> dict[str, Figure]:
    """Each amount, and what changes from the least to the most."""
    figures: dict[str, Figure] = {
        "dilution.head": Figure(curves.head, says="looks most at the fact, on every other fact")
    }
    for place, amount in enumerate(curves.amounts):
        begin = f"dilution.amount{amount}"
        right = np.where(np.isfinite(curves.odds[:, place]), curves.odds[:, place] > TIE, np.nan)
        figures |= {
            f"{begin}.tokens": Figure(float(curves.tokens[:, place].mean()), says="mean length of the text"),
            f"{begin}.share": _mean(curves.share[:, place], settings, "share on the fact, mean over all heads"),
            f"{begin}.best": _mean(curves.best[:, place], settings, f"share on the fact in {curves.head}, other facts"),
            f"{begin}.even": Figure(float(curves.even[:, place].mean()), says="what an even look would give"),
            f"{begin}.odds": _mean(curves.odds[:, place], settings, "log-odds of the right word (nats)"),
            f"{begin}.gain": _mean(curves.gain[:, place], settings, "what the fact adds to them (nats)"),
            f"{begin}.right": _mean(right, settings, "share of facts whose right word is more likely"),
        }
    tenfold = np.log10(curves.tokens)
    for name, values in (("share", np.log10(np.maximum(curves.share, 1e-12))), ("odds", curves.odds)):
        slopes = np.array([_slope(x, y) for x, y in zip(tenfold, values, strict=True)])
        what = (
            "power of the length with which the share changes" if name == "share" else "nats of odds per tenfold length"
        )
        figures[f"dilution.{name}_slope"] = _mean(slopes, settings, what)
    figures["dilution.lost"] = _mean(
        curves.odds[:, 0] - curves.odds[:, -1], settings, "log-odds lost from the least to the most text (nats)"
    )
    return figures


def _slope(x: Numbers, y: Numbers) -> float:
    """The slope of the straight line of least squares; NaN where lengths do not differ or values are not known."""
    if not np.isfinite(y).all() or np.ptp(x) == 0:
        return float("nan")
    return float(np.polyfit(x, y, 1)[0])


def _verdict(curves: Curves, figures: dict[str, Figure]) -> str:
    """Diluted: the odds fall, and beyond the spread over facts; only where the fact helped in the first place."""
    lost, gain = figures["dilution.lost"], figures[f"dilution.amount{curves.amounts[0]}.gain"]
    if len(curves.odds) < LEAST_FACTS or lost.interval is None or gain.interval is None or gain.interval[0] <= TIE:
        return CANNOT_TELL
    return DILUTED if lost.interval[0] > TIE else NOT_DILUTED


def _sentence(verdict: str, curves: Curves, figures: dict[str, Figure]) -> str:
    """The verdict in plain words."""
    least, most = (figures[f"dilution.amount{curves.amounts[place]}.tokens"].value for place in (0, -1))
    if verdict == CANNOT_TELL:
        return (
            f"It cannot be told from {len(curves.odds)} facts: the model gives no odds, or the fact does not help it "
            f"even where nothing else stands around it ({LEAST_FACTS} facts or more are needed)."
        )
    lost = figures["dilution.lost"]
    assert isinstance(lost.value, float)
    assert lost.interval is not None
    sign, verb = (1, "loses") if lost.value >= 0 else (-1, "gains")
    low, high = sorted(sign * edge for edge in lost.interval)
    numbers = (
        f"from {least:.0f} to {most:.0f} tokens the answer {verb} {abs(lost.value):.2f} nats of log-odds (95 percent: "
        f"{low:.2f} to {high:.2f})"
    )
    return f"Diluted: {numbers}." if verdict == DILUTED else f"No dilution was found: {numbers}."


def _shows(curves: Curves, figures: dict[str, Figure]) -> list[str]:
    """Each amount in a line."""
    lines = []
    for amount in curves.amounts:
        share, even, best, gain, right = (
            figures[f"dilution.amount{amount}.{name}"].value for name in ("share", "even", "best", "gain", "right")
        )
        lines.append(
            f"{figures[f'dilution.amount{amount}.tokens'].value:.0f} tokens: {_number(share)} of the look on the fact "
            f"over all heads ({_number(even)} by an even look), {_number(best)} in {curves.head}; the fact adds "
            f"{_number(gain)} nats; right in {_number(right)}."
        )
    slope = figures["dilution.share_slope"]
    # Not with sliding windows, where an even look stops falling, and gives nothing once the fact is out of sight.
    tokens = curves.even * curves.tokens
    even = "; an even look's with -1" if np.allclose(tokens, tokens[:, :1], rtol=0.25) else ""
    lines.append(f"The share goes with the length to the power of {_number(slope.value)}{even}.")
    return lines


def _does_not_show(settings: DilutionSettings) -> list[str]:
    """What does not follow."""
    return [
        "That the odds fall because the share does: both go with the length. `heedmap lab matters` takes heads away.",
        f"Facts that are harder to tell from the text around them, or that stand elsewhere (here: {settings.place}).",
        "Lengths beyond those that were measured, above all beyond those that the model was trained on.",
    ]


def _table(curves: Curves, figures: dict[str, Figure]) -> Table:
    """A line an amount."""
    names = ("tokens", "share", "even", "best", "odds", "gain", "right")
    lines: list[list[Value]] = [
        [int(amount), *(figures[f"dilution.amount{amount}.{name}"].value for name in names)]
        for amount in curves.amounts
    ]
    return Table(
        title="What becomes of a fact",
        columns=[
            "irrelevant tokens",
            "tokens",
            "share",
            "even look",
            curves.head,
            "odds",
            "what the fact adds",
            "right",
        ],
        rows=lines,
        note=f"Means over {len(curves.odds)} facts. {curves.head} was chosen on every other fact, and is measured on "
        "the rest.",
    )


def _chart(curves: Curves) -> Chart:
    """The share over the length, both on logarithmic scales."""

    def draw(axes: Axes) -> None:
        from heedmap.drawing.palette import BLUE_LINE, QUIET

        length = curves.tokens.mean(0)
        axes.plot(length, curves.share.mean(0), "o-", color=BLUE_LINE, label="all heads")
        axes.plot(length, np.nanmean(curves.best, 0), "D--", color=BLUE_LINE, label=curves.head)
        axes.plot(length, curves.even.mean(0), ":", color=QUIET, label="an even look")
        axes.set(xlabel="tokens", ylabel="share on the fact", xscale="log", yscale="log")
        axes.legend(frameon=False, fontsize="small")

    return Chart(
        "The share on a fact as text grows around it",
        draw,
        "The share on the fact over the length of the text, over all heads, in the head that looks most at it, and by "
        "an even look; both scales are logarithmic.",
    )


def _number(value: Value) -> str:
    """A number in a sentence."""
    return f"{value:.3f}" if isinstance(value, float) else "unknown"
