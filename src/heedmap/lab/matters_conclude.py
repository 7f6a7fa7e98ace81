"""What `matters` concludes: the head's effect against its layer's other heads, and how far weights can be trusted."""

from __future__ import annotations

import numpy as np

from heedmap.lab.bootstrap import interval, mean_interval
from heedmap.lab.experiment import Figure, Finding, Table, Value
from heedmap.lab.matters import CANNOT_TELL, NO_REASON, REASON, MattersSettings
from heedmap.lab.matters_charts import charts
from heedmap.lab.matters_effects import Effects
from heedmap.lab.over_heads import Numbers
from heedmap.lab.rounding import TIE, first_largest, slack
from heedmap.lab.rows import Rows

LEAST_PAIRS = 6
"""Pairs below which nothing is decided."""

SAYS = {
    "word": "how strongly the pronoun points at one of the nouns (weight on one less weight on the other, size)",
    "last": "how strongly the last token points at one of the nouns (weight on one less weight on the other, size)",
    "direct": "what the head adds directly to the answer (size)",
}
"""What is compared with the size of the effect, for all heads."""


def conclude(rows: Rows, settings: MattersSettings) -> Finding:
    """The finding; see `Matters`."""
    effects = Effects(rows, settings)
    figures = _figures_of_head(effects, settings) | _figures_of_layer(effects, settings)
    if effects.scattered.any():
        figures |= _figures_of_scatter(effects, settings)
    verdict = _verdict(effects, figures)
    return Finding(
        figures=figures,
        verdict=verdict,
        sentence=_sentence(verdict, effects, figures, settings),
        shows=_shows(effects, figures),
        does_not_show=_does_not_show(effects, settings),
        tables={"layer": _table(effects, figures)},
        charts=charts(effects, figures),
    )


def _mean(values: Numbers, settings: MattersSettings, says: str) -> Figure:
    """A mean over pairs with its interval."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Figure(None, says=says)
    ends = mean_interval(known, seed=settings.seed, draws=settings.draws)
    return Figure(float(known.mean()), ends, len(known), says)


def _figures_of_head(effects: Effects, settings: MattersSettings) -> dict[str, Figure]:
    """The head that is asked about."""
    place = effects.place
    how = "given" if settings.head is not None else "points most at one of the nouns, by its weights alone"
    sizes = np.abs(effects.mean_of_layer)
    return {
        "matters.head": Figure(effects.name, says=f"the head that is tested ({how})"),
        "matters.odds": _mean(effects.odds, settings, "log-odds of the right noun with every head (nats)"),
        "matters.effect": _mean(
            effects.effect[:, place], settings, "log-odds of the right noun that are lost without the head (nats)"
        ),
        "matters.size": _mean(
            effects.size[:, place], settings, "by how much the log-odds change without it, either way (nats)"
        ),
        "matters.rank": Figure(
            int((sizes > sizes[effects.own] + slack(sizes[effects.own])).sum()) + 1,
            says=f"its place among the {len(sizes)} heads of layer {effects.number}, by the size of the mean effect",
        ),
        "matters.direct": _mean(
            effects.direct[:, place],
            settings,
            "what it adds directly to the right noun's logit less the other's (first token that differs)",
        ),
    }


def _figures_of_layer(effects: Effects, settings: MattersSettings) -> dict[str, Figure]:
    """The other heads of the layer, and the whole layer: the control that must move something."""
    others = np.delete(effects.mean_of_layer, effects.own)
    largest = float(others[first_largest(np.abs(others))]) if len(others) else None
    figures = {
        "matters.others": Figure(
            float(others.mean()) if len(others) else None, says="mean effect of the layer's other heads (nats)"
        ),
        "matters.others_largest": Figure(
            largest, says="largest mean effect among them, either way (nats)", searched=True
        ),
        "matters.layer": _mean(effects.layer, settings, "log-odds that are lost without any head of the layer (nats)"),
        "matters.layer_size": _mean(
            np.abs(effects.layer), settings, "by how much they change without the layer, either way (nats)"
        ),
    }
    for place in effects.of_layer:
        name = f"matters.layer{effects.layers[place]}.head{effects.heads[place]}"
        figures[name] = _mean(effects.effect[:, place], settings, "log-odds that are lost without this head (nats)")
    return figures


def _figures_of_scatter(effects: Effects, settings: MattersSettings) -> dict[str, Figure]:
    """How the size of the effect goes with what weights say, over all heads, with an interval over pairs."""
    units = np.flatnonzero(effects.scattered)
    figures = {}
    for name, says in SAYS.items():
        given = effects.signals[name]
        value, ends = None, None
        if not np.isnan(given[units]).all():

            def rank(drawn: np.ndarray, given: Numbers = given) -> float:
                return effects.rank_correlation(given, units[drawn])

            value = rank(np.arange(len(units)))
            ends = interval(rank, len(units), seed=settings.seed, draws=min(settings.draws, 1000))
        what = f"rank correlation over {len(effects.layers)} heads of the size of the effect with {says}"
        figures[f"matters.correlation.{name}"] = Figure(value, ends, len(units), what)
    most = first_largest(effects.mean_size)
    figures["matters.largest"] = Figure(
        effects.name_of(most), n=len(units), says="the head whose removal changes most", searched=True
    )
    figures["matters.largest_size"] = Figure(
        float(effects.mean_size[most]), n=len(units), says="by how much, either way (nats)", searched=True
    )
    return figures


def _verdict(effects: Effects, figures: dict[str, Figure]) -> str:
    """A reason: what is lost is above 0, and more than any other head of the layer loses."""
    effect, control = figures["matters.effect"], figures["matters.layer_size"].value
    if len(effects.odds) < LEAST_PAIRS or effect.interval is None or not isinstance(control, float) or control <= TIE:
        return CANNOT_TELL
    low, _ = effect.interval
    return REASON if low > TIE and figures["matters.rank"].value == 1 else NO_REASON


def _sentence(verdict: str, effects: Effects, figures: dict[str, Figure], settings: MattersSettings) -> str:
    """The verdict in plain words."""
    if verdict == CANNOT_TELL:
        return f"{len(effects.odds)} pairs, or a layer that changes nothing, cannot tell: take {LEAST_PAIRS} or more."
    effect, rank = figures["matters.effect"], figures["matters.rank"].value
    assert effect.interval is not None
    what = "is removed" if settings.edit == "remove" else "may not look from the pronoun at the nouns"
    numbers = (
        f"where {effects.name} {what}, the right noun loses {effect.value:.3f} nats "
        f"(95 percent: {effect.interval[0]:.3f} to {effect.interval[1]:.3f}), "
        f"place {rank} of the {len(effects.of_layer)} heads of its layer"
    )
    if verdict == REASON:
        return f"A reason: {numbers}."
    return f"No reason was found: {numbers}."


def _shows(effects: Effects, figures: dict[str, Figure]) -> list[str]:
    """What was found."""
    odds, layer, size = (figures[f"matters.{name}"].value for name in ("odds", "layer_size", "size"))
    lines = [
        f"With every head the right noun has {_number(odds)} nats of log-odds.",
        f"Without {effects.name} they change by {_number(size)} nats, either way; without the whole layer by "
        f"{_number(layer)}.",
        f"Directly it adds {_number(figures['matters.direct'].value)} to them.",
    ]
    for name, says in SAYS.items():
        figure = figures.get(f"matters.correlation.{name}")
        if figure is not None and figure.value is not None:
            ends = "" if figure.interval is None else f" ({figure.interval[0]:.2f} to {figure.interval[1]:.2f})"
            lines.append(
                f"Over all heads the size of the effect goes with {says} at a rank of {figure.value:.2f}{ends}."
            )
    return lines


def _does_not_show(effects: Effects, settings: MattersSettings) -> list[str]:
    """What does not follow."""
    lines = [
        "That a head without effect has no role: other heads may take over what it did (McGrath et al. 2023).",
        "That a head with an effect knows the noun: it may do something that every answer needs.",
        "Anything of other texts, or of other ways to ask: " + repr(settings.wording),
    ]
    if settings.edit == "remove" and settings.by == "zero":
        lines.append("What the model does by itself: zero is off the distribution, no text makes the head give it.")
    if effects.no_direct:
        lines.append(f"What heads add directly: {effects.no_direct}.")
    if not effects.scattered.any():
        lines.append("How far weights can be trusted: no pair had all heads taken away (--scatter).")
    return lines


def _table(effects: Effects, figures: dict[str, Figure]) -> Table:
    """The heads of the layer."""
    lines: list[list[Value]] = []
    for place in effects.of_layer:
        figure = figures[f"matters.layer{effects.layers[place]}.head{effects.heads[place]}"]
        low, high = figure.interval or (None, None)
        lines.append(
            [
                int(effects.heads[place]),
                figure.value,
                low,
                high,
                _known(effects.size[:, place]),
                _known(effects.direct[:, place]),
                _known(effects.signals["word"][:, place]),
                _known(effects.signals["last"][:, place]),
            ]
        )
    return Table(
        title=f"Layer {effects.number}: what is lost without each head",
        columns=["head", "effect", "from", "to", "size", "direct", "pronoun points", "last points"],
        rows=lines,
        note="Effects are log-odds in nats; a head points by its weight on one noun less that on the other.",
    )


def _known(values: Numbers) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _number(value: Value) -> str:
    """A number in a sentence."""
    return f"{value:.3f}" if isinstance(value, float) else "an unknown number"
