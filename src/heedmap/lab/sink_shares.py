"""The rows of `sink` beside each other, and their quartiles with intervals over sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Figure
from heedmap.lab.resampled_quantiles import interval_of, resampled_quantiles, samples_of_units
from heedmap.lab.rows import Rows

if TYPE_CHECKING:
    from heedmap.lab.sink import SinkSettings

QUARTILES = ("lower_quartile", "median", "upper_quartile")


@dataclass(frozen=True, eq=False)
class Shares:
    """The rows of all sentences beside each other.

    Attributes:
        layers: [layer] the layers' numbers.
        share: [layer, position] of all sentences, the mean over heads.
        even: [layer, position] what an even look gives.
        position: [position] the place in its sentence.
        sentence: [position] which sentence it belongs to.
        sentences: how many there are.
        counts: [sample, sentence] how often each is in each sample, see `samples_of_units`.
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
            samples_of_units(len(rows), settings.draws, settings.seed),
        )

    def quartiles(self, values: np.ndarray) -> Quartiles:
        """Lower quartile, median and upper quartile of values [layer, position], and of each sample of sentences."""
        flat = values.reshape(-1)
        unit = np.tile(self.sentence, len(values))
        known = ~np.isnan(flat)
        whole = np.ones((1, self.sentences), dtype=int)
        drawn = resampled_quantiles(flat[known], unit[known], np.concatenate([whole, self.counts]))
        return Quartiles(drawn[0], drawn[1:])

    @cached_property
    def of_layers(self) -> list[Quartiles]:
        """Those of each layer."""
        return [self.quartiles(layer[None]) for layer in self.share]


@dataclass(frozen=True, eq=False)
class Quartiles:
    """Lower quartile, median and upper quartile.

    Attributes:
        found: [level].
        drawn: [sample, level].
    """

    found: np.ndarray
    drawn: np.ndarray

    def figure(self, name: str, n: int, says: str) -> Figure:
        """One of them as a figure, with its interval."""
        level = QUARTILES.index(name)
        value = float(self.found[level])
        return Figure(value, interval_of(self.drawn[:, level], value, n), n, says)
