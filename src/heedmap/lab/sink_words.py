"""What `sink` says: the verdict, what was found and what was not, and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Figure, Table
from heedmap.lab.rows import Rows
from heedmap.lab.sink_measure import CONTROLS
from heedmap.lab.sink_shares import QUARTILES, Shares
from heedmap.lab.words import value_words
from heedmap.reading.statistics_summary import median

if TYPE_CHECKING:
    from heedmap.lab.sink import SinkSettings

CONTROL_WORDS = {
    "other": "another first word",
    "marker": "a begin-of-text token put before, or taken away where the tokenizer adds one",
    "shifted": "words put before the sentence",
}


def verdict_of(figures: dict[str, Figure], settings: SinkSettings) -> tuple[str, str]:
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


def in_words(figures: dict[str, Figure], shares: Shares, settings: SinkSettings) -> tuple[list[str], list[str]]:
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


def tables(figures: dict[str, Figure], shares: Shares, rows: Rows) -> dict[str, Table]:
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
    found = {
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
        found["controls"] = Table(title, ("what was changed", "first place", "own first word"), controls, "means")
    return found
