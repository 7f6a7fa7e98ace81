"""What `sink` concludes from its rows: quartiles over positions, intervals over sentences, controls, a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Figure, Finding
from heedmap.lab.resampled_quantiles import interval_of
from heedmap.lab.rounding import TIE, first_largest
from heedmap.lab.rows import Rows
from heedmap.lab.sink_charts import charts
from heedmap.lab.sink_measure import CONTROLS
from heedmap.lab.sink_shares import QUARTILES, Shares
from heedmap.lab.sink_words import CONTROL_WORDS, in_words, tables, verdict_of
from heedmap.reading.statistics_summary import mean, median

if TYPE_CHECKING:
    from heedmap.lab.sink import SinkSettings


def conclude(rows: Rows, settings: SinkSettings) -> Finding:
    """The finding of `sink`."""
    shares = Shares.of(rows, settings)
    figures = _overall(shares) | _by_layer(shares) | _by_head(rows, shares) | _curve(shares)
    figures |= _controls(rows, shares) if settings.controls else {}
    verdict, sentence = verdict_of(figures, settings)
    shows, does_not = in_words(figures, shares, settings)
    return Finding(
        figures, verdict, sentence, shows, does_not, tables(figures, shares, rows), charts(rows, shares, figures)
    )


def _overall(shares: Shares) -> dict[str, Figure]:
    """Over all layers: over positions, and over the layers' medians; both labelled."""
    n, over = shares.sentences, "over all positions of all sentences in all layers (mean over heads; share of the row)"
    quartiles = shares.quartiles(shares.share)
    # Where all layers may look alike, one of them has the median of all.
    even = shares.quartiles(shares.even[:1] if (shares.even == shares.even[:1]).all() else shares.even)
    figures = {f"sink.{name}": quartiles.figure(name, n, f"{name.replace('_', ' ')} {over}") for name in QUARTILES}
    of_layers = float(median(np.array([one.found[1] for one in shares.of_layers])))
    figures["sink.median_of_layers"] = Figure(
        of_layers,
        interval_of(median(np.stack([one.drawn[:, 1] for one in shares.of_layers], -1)), of_layers, n),
        n,
        "median over the layers' medians (share of the row)",
    )
    figures["sink.even.median"] = even.figure("median", n, f"what an even look would give: median {over}")
    ratio = float(quartiles.found[1] / even.found[1]) if even.found[1] else None
    figures["sink.times_even"] = Figure(ratio, None, n, "sink.median divided by sink.even.median")
    most = first_largest(np.array([one.found[1] for one in shares.of_layers])) if _has_medians(shares) else None
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
        value = float(mean(over[inside]))
        interval = interval_of(drawn, value, shares.sentences) if n > 1 else None
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
            value, interval = _mean_over_sentences(values, shares.counts[:, having], shares.sentences)
            n = int((~np.isnan(values)).sum())
            figures[f"sink.{control}.{key}"] = Figure(value, interval, n, f"{CONTROL_WORDS[control]}: {says}")
    figures["sink.follows"] = Figure(
        _follows(figures.get("sink.shifted.difference")),
        None,
        shares.sentences,
        "what the share follows when words are put before the sentence: the first place, or the word",
    )
    return figures


def _mean_over_sentences(
    values: np.ndarray, counts: np.ndarray, sentences: int
) -> tuple[float, tuple[float, float] | None]:
    """The mean of one number a sentence, and its interval."""
    known = ~np.isnan(values)
    if not known.any():
        return np.nan, None
    with np.errstate(invalid="ignore"):
        drawn = (counts[:, known] @ values[known]) / counts[:, known].sum(1)
    value = float(values[known].mean())
    return value, interval_of(drawn, value, sentences) if known.sum() > 1 else None


def _follows(difference: Figure | None) -> str:
    """Place or word, where the interval of their difference leaves out 0."""
    if difference is None or difference.interval is None:
        return "cannot tell"
    low, high = difference.interval
    return "place" if low > TIE else "word" if high < -TIE else "cannot tell"
