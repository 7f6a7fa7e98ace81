"""What `sink` concludes from its rows: quartiles over positions, intervals over sentences, controls, a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Figure, Finding, Table
from heedmap.lab.resampled_quantiles import LEVELS, draws_of_units, interval_of, resampled_quantiles
from heedmap.lab.rows import Rows
from heedmap.lab.sink_charts import charts
from heedmap.lab.sink_measure import CONTROLS
from heedmap.lab.words import value_words
from heedmap.reading.statistics_summary import mean, median

if TYPE_CHECKING:
    from heedmap.lab.sink import SinkSettings

QUARTILES = ("lower_quartile", "median", "upper_quartile")

CONTROL_WORDS = {
    "other": "another first word",
    "marker": "a begin-of-text token put before, or taken away where the tokenizer adds one",
    "shifted": "words put before the sentence",
}


@dataclass(frozen=True)
class Shares:
    """The rows of all sentences beside each other.

    Attributes:
        layers: [layer] the layers' numbers.
        share: [layer, position] of all sentences, the mean over heads.
        even: [layer, position] what an even look gives.
        position: [position] the place in its sentence.
        sentence: [position] which sentence it belongs to.
        sentences: how many there are.
        counts: [draw, sentence] how often each is drawn.
    """

    layers: np.ndarray
    share: np.ndarray
    even: np.ndarray
    position: np.ndarray
    sentence: np.ndarray
    sentences: int
    counts: np.ndarray

    @classmethod
    def of(cls, rows: Rows, settings: SinkSettings) -> Shares:
        """Put the rows together."""
        shares = rows.arrays("share")
        lengths = [share.shape[1] for share in shares]
        return cls(
            rows["layers"][0],
            np.concatenate(shares, 1),
            np.concatenate(rows.arrays("even"), 1),
            np.concatenate(rows.arrays("positions")),
            np.repeat(np.arange(len(rows)), lengths),
            len(rows),
            draws_of_units(len(rows), settings.draws, settings.seed),
        )

    def quartiles(self, values: np.ndarray) -> Quartiles:
        """Lower quartile, median and upper quartile of values [layer, position], and of each draw of sentences."""
        flat = values.reshape(-1)
        unit = np.tile(self.sentence, len(values))
        known = ~np.isnan(flat)
        whole = np.ones((1, self.sentences), dtype=int)
        drawn = resampled_quantiles(flat[known], unit[known], np.concatenate([whole, self.counts]))
        return Quartiles(drawn[0], drawn[1:] if self.sentences > 1 else np.full((1, len(LEVELS)), np.nan))

    @cached_property
    def of_layers(self) -> list[Quartiles]:
        """Those of each layer."""
        return [self.quartiles(layer[None]) for layer in self.share]


@dataclass(frozen=True)
class Quartiles:
    """Lower quartile, median and upper quartile.

    Attributes:
        found: [level].
        drawn: [draw, level].
    """

    found: np.ndarray
    drawn: np.ndarray

    def figure(self, name: str, n: int, says: str) -> Figure:
        """One of them as a figure, with its interval."""
        level = QUARTILES.index(name)
        return Figure(float(self.found[level]), interval_of(self.drawn[:, level]), n, says)


def conclude(rows: Rows, settings: SinkSettings) -> Finding:
    """The finding of `sink`."""
    shares = Shares.of(rows, settings)
    figures = _overall(shares) | _by_layer(shares) | _by_head(rows, shares) | _curve(shares)
    figures |= _controls(rows, shares) if settings.controls else {}
    verdict, sentence = _verdict(figures, settings)
    shows, does_not = _in_words(figures, shares, settings)
    return Finding(
        figures, verdict, sentence, shows, does_not, _tables(figures, shares, rows), charts(rows, shares, figures)
    )


def _overall(shares: Shares) -> dict[str, Figure]:
    """Over all layers: over positions, and over the layers' medians; both labelled."""
    n, over = shares.sentences, "over all positions of all sentences in all layers (mean over heads; share of the row)"
    quartiles, even = shares.quartiles(shares.share), shares.quartiles(shares.even)
    figures = {f"sink.{name}": quartiles.figure(name, n, f"{name.replace('_', ' ')} {over}") for name in QUARTILES}
    figures["sink.median_of_layers"] = Figure(
        float(median(np.array([one.found[1] for one in shares.of_layers]))),
        interval_of(median(np.stack([one.drawn[:, 1] for one in shares.of_layers], -1))),
        n,
        "median over the layers' medians (share of the row)",
    )
    figures["sink.even.median"] = even.figure("median", n, f"what an even look would give: median {over}")
    ratio = float(quartiles.found[1] / even.found[1]) if even.found[1] else None
    figures["sink.times_even"] = Figure(ratio, None, n, "sink.median divided by sink.even.median")
    most = int(np.nanargmax([one.found[1] for one in shares.of_layers])) if _has_medians(shares) else None
    figures["sink.best.layer"] = Figure(
        None if most is None else int(shares.layers[most]), None, n, "the layer with the largest median", searched=True
    )
    figures["sink.positions"] = Figure(len(shares.position), None, n, "positions counted: all after the first")
    return figures


def _has_medians(shares: Shares) -> bool:
    """Whether any layer has a median."""
    return any(not np.isnan(one.found[1]) for one in shares.of_layers)


def _by_layer(shares: Shares) -> dict[str, Figure]:
    """Quartiles of each layer."""
    over = "over all positions (mean over heads; share of the row)"
    return {
        f"sink.layer{layer}.{name}": quartiles.figure(
            name, shares.sentences, f"layer {layer}: {name.replace('_', ' ')} {over}"
        )
        for layer, quartiles in zip(shares.layers, shares.of_layers, strict=True)
        for name in QUARTILES
    }


def _by_head(rows: Rows, shares: Shares) -> dict[str, Figure]:
    """Each head: the median over sentences of its median over positions."""
    medians = median(np.moveaxis(rows["head_median"], 0, -1))
    return {
        f"sink.layer{layer}.head{head}.median": Figure(
            float(value), None, shares.sentences, f"layer {layer} head {head}: median over sentences of their medians"
        )
        for layer, of_layer in zip(shares.layers, medians, strict=True)
        for head, value in enumerate(of_layer)
    }


def bins(positions: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Ranges of positions that double, with which positions are in each.

    Example:
        >>> [(name, inside.tolist()) for name, inside in bins(np.array([1, 2, 3, 4]))]
        [('1', [True, False, False, False]), ('2_3', [False, True, True, False]), ('4_7', [False, False, False, True])]
    """
    octave = np.floor(np.log2(positions)).astype(int)
    return [(f"{1 << one}" if one == 0 else f"{1 << one}_{(2 << one) - 1}", octave == one) for one in np.unique(octave)]


def _curve(shares: Shares) -> dict[str, Figure]:
    """The share over position: the mean over layers, positions and sentences of each range."""
    figures = {}
    over, even = mean(shares.share.T), mean(shares.even.T)
    for name, inside in bins(shares.position):
        sums = np.zeros((2, shares.sentences))
        known = inside & ~np.isnan(over)
        np.add.at(sums[0], shares.sentence[known], over[known])
        np.add.at(sums[1], shares.sentence[known], 1.0)
        with np.errstate(invalid="ignore"):
            drawn = (shares.counts @ sums[0]) / (shares.counts @ sums[1])
        words = name.replace("_", " to ")
        n = int((sums[1] > 0).sum())
        interval = interval_of(drawn) if n > 1 else None
        value = float(mean(over[inside]))
        figures[f"sink.curve.{name}"] = Figure(value, interval, n, f"mean share at positions {words}, over layers")
        says = f"what an even look would give at positions {words}"
        figures[f"sink.curve.{name}.even"] = Figure(float(mean(even[inside])), None, n, says)
    return figures


def _controls(rows: Rows, shares: Shares) -> dict[str, Figure]:
    """The mean share on the first place and on the sentence's own first word, in each control."""
    figures = {}
    for control in CONTROLS:
        if f"{control}.place" not in rows.names:
            continue
        having = [number for number, one in enumerate(rows.arrays(f"{control}.place")) if one is not None]
        place, word = (
            np.stack([mean(rows.arrays(f"{control}.{key}")[number]) for number in having]) for key in ("place", "word")
        )
        for key, values, says in (
            ("place", place, "mean share on the first place"),
            ("word", word, "mean share on the sentence's own first word"),
            ("difference", place - word, "the first place minus the word"),
        ):
            value, interval = _mean_over_sentences(values, shares.counts[:, having])
            n = int((~np.isnan(values)).sum())
            figures[f"sink.{control}.{key}"] = Figure(value, interval, n, f"{CONTROL_WORDS[control]}: {says}")
    figures["sink.follows"] = Figure(
        _follows(figures.get("sink.shifted.difference")),
        None,
        shares.sentences,
        "what the share follows when words are put before the sentence: the first place, or the word",
    )
    return figures


def _mean_over_sentences(values: np.ndarray, counts: np.ndarray) -> tuple[float, tuple[float, float] | None]:
    """The mean of one number a sentence, and its interval."""
    known = ~np.isnan(values)
    if not known.any():
        return np.nan, None
    with np.errstate(invalid="ignore"):
        drawn = (counts[:, known] @ values[known]) / counts[:, known].sum(1)
    return float(values[known].mean()), interval_of(drawn) if known.sum() > 1 else None


def _follows(difference: Figure | None) -> str:
    """Place or word, where the interval of their difference leaves out 0."""
    if difference is None or difference.interval is None:
        return "cannot tell"
    low, high = difference.interval
    return "place" if low > 0 else "word" if high < 0 else "cannot tell"


def _verdict(figures: dict[str, Figure], settings: SinkSettings) -> tuple[str, str]:
    """Whether there is a sink, in a word and a sentence."""
    found, even = figures["sink.median"], figures["sink.even.median"].value
    assert isinstance(found.value, float)
    assert isinstance(even, float)
    bar = settings.times_even * even
    about = (
        f"The first token gets {value_words(found.value)} of the attention (median), "
        f"an even look would give it {value_words(even)}"
    )
    if found.interval is None:
        return "cannot tell", f"{about}; one sentence alone has no interval."
    low, high = found.interval
    if low > bar:
        follows = figures.get("sink.follows")
        words = {"place": "; the share goes with the first place, not with the word", "word": "; it goes with the word"}
        return "sink", f"{about}{words.get(str(follows.value) if follows else '', '')}."
    if high < bar:
        return "no sink", f"{about}: less than {settings.times_even:g} times as much."
    return "cannot tell", f"{about}; the interval holds {settings.times_even:g} times that."


def _in_words(figures: dict[str, Figure], shares: Shares, settings: SinkSettings) -> tuple[list[str], list[str]]:
    """What it shows and what it does not."""
    layers = {layer: figures[f"sink.layer{layer}.median"].value for layer in shares.layers}
    most, least = max(layers, key=lambda one: layers[one] or 0), min(layers, key=lambda one: layers[one] or 0)
    shows = [
        f"Over {len(shares.position):,} positions of {shares.sentences} sentences and {len(shares.layers)} layers the "
        f"median share is {value_words(figures['sink.median'].value)}, {value_words(figures['sink.times_even'].value)} "
        "times what an even look gives.",
        f"Of the layers, {most} has the largest median ({value_words(layers[most])}; chosen by searching) and {least} "
        f"the smallest ({value_words(layers[least])}; chosen by searching).",
    ]
    if "sink.shifted.place" in figures:
        shows.append(
            f"With words put before the sentence the new first place gets "
            f"{value_words(figures['sink.shifted.place'].value)} and the sentence's own first word "
            f"{value_words(figures['sink.shifted.word'].value)}."
        )
    if "sink.other.place" in figures:
        shows.append(
            f"With another first word the first place gets {value_words(figures['sink.other.place'].value)} on average."
        )
    does_not = [
        "That the first token matters: a large share may carry little, since values differ in size (see `matters`).",
        "Anything about longer texts: shares fall with position, so compare texts of like length.",
        f"Intervals are over sentences ({settings.draws} bootstraps); positions of a sentence are not independent.",
    ]
    if not settings.controls:
        does_not.append("Whether it is the place or the word: the controls were left out.")
    return shows, does_not


def _tables(figures: dict[str, Figure], shares: Shares, rows: Rows) -> dict[str, Table]:
    """Layers, controls and heads."""
    layers = [
        [int(layer), *(figures[f"sink.layer{layer}.{name}"].value for name in QUARTILES)] for layer in shares.layers
    ]
    controls = [
        [CONTROL_WORDS[one], *(figures[f"sink.{one}.{key}"].value for key in ("place", "word"))]
        for one in CONTROLS
        if f"sink.{one}.place" in figures
    ]
    medians = median(np.moveaxis(rows["head_median"], 0, -1))
    heads = [
        [int(layer), *(float(value) for value in of_layer)]
        for layer, of_layer in zip(shares.layers, medians, strict=True)
    ]
    tables = {
        "layers": Table("The share on the first token by layer", ("layer", *QUARTILES), layers, "mean over heads"),
        "heads": Table(
            "Each head",
            ("layer", *(f"head {head}" for head in range(medians.shape[1]))),
            heads,
            "median over sentences of the median over positions",
        ),
    }
    if controls:
        title = "Is it the place or the word?"
        tables["controls"] = Table(title, ("what was changed", "first place", "own first word"), controls, "means")
    return tables


__all__ = ["LEVELS", "Shares", "bins", "conclude"]
