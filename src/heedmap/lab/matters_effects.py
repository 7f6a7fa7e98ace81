"""The rows of `matters` as arrays over pairs: effects, weights and direct parts of every head."""

from __future__ import annotations

import warnings

import numpy as np

from heedmap.lab.matters import MattersSettings
from heedmap.lab.over_heads import Numbers, head_name
from heedmap.lab.rounding import TIE, first_largest
from heedmap.lab.rows import Rows


class Effects:
    """Everything by pair (the mean of its two versions) and head.

    Attributes:
        layers: [head] over all layers.
        heads: [head] over all layers.
        number: the layer that is tested.
        of_layer: the places of its heads.
        place: the place of the head that is tested.
        own: its place within the layer.
        odds: [pair], log-odds of the right noun.
        effect: [pair, head], what of them is lost without a head; NaN where it was not taken away.
        size: [pair, head], by how much they change, either way.
        layer: [pair], what is lost without the whole layer.
        direct: [pair, head], what a head adds directly; NaN where that is not known.
        signals: "word", "last" and "direct", each [pair, head]: what a head's weights would make one believe.
        scattered: [pair], whether all heads were taken away in it.
        no_direct: why direct parts are not known; None where they are.
    """

    def __init__(self, rows: Rows, settings: MattersSettings) -> None:
        self.layers, self.heads = rows["layer"][0], rows["head"][0]
        self.number = int(rows["middle"][0])
        self.of_layer = np.flatnonzero(self.layers == self.number)
        self.odds: Numbers = rows["odds"].mean(1)
        self.effect = known_mean(rows["effect"], 1)
        self.size = known_mean(np.abs(rows["effect"]), 1)
        self.layer: Numbers = rows["layer_effect"].mean(1)
        self.direct: Numbers = rows["direct"].mean(1)
        self.scattered = np.asarray(rows["all_heads"], bool)
        self.no_direct = next((why for why in rows.arrays("no_direct") if why), None)
        points = {where: known_mean(np.abs(rows[where][..., 0] - rows[where][..., 1]), 1) for where in ("word", "last")}
        self.signals: dict[str, Numbers] = {**points, "direct": np.abs(rows["direct"]).mean(1)}
        self.own = self._chosen(settings)
        self.place = int(self.of_layer[self.own])

    def _chosen(self, settings: MattersSettings) -> int:
        """The head given, or the one of the layer that points most; effects are not looked at."""
        if settings.head is not None:
            return settings.head
        return first_largest(np.nan_to_num(known_mean(self.signals["word"][:, self.of_layer])))

    @property
    def mean_of_layer(self) -> Numbers:
        """[head of the layer], the mean effect over pairs."""
        return known_mean(self.effect[:, self.of_layer])

    @property
    def mean_size(self) -> Numbers:
        """[head], the mean size of the effect over the pairs in which all heads were taken away."""
        return known_mean(self.size[self.scattered])

    @property
    def name(self) -> str:
        """The head that is tested, in words."""
        return self.name_of(self.place)

    def name_of(self, place: int) -> str:
        """A head in words."""
        return head_name(int(self.layers[place]), int(self.heads[place]))

    def rank_correlation(self, signal: Numbers, pairs: np.ndarray) -> float:
        """Spearman's rank correlation over heads of a signal's mean with that of the size of the effect.

        Args:
            signal: [pair, head].
            pairs: the pairs that are used, some of them several times.
        """
        from scipy.stats import spearmanr

        given, size = known_mean(signal[pairs]), known_mean(self.size[pairs])
        known = ~(np.isnan(given) | np.isnan(size))
        if known.sum() < 3 or np.ptp(given[known]) <= TIE or np.ptp(size[known]) <= TIE:
            return float("nan")
        return float(spearmanr(given[known], size[known]).statistic)


def known_mean(values: Numbers, axis: int = 0) -> Numbers:
    """The mean of what is known; NaN where nothing is.

    Example:
        >>> known_mean(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
        [2.0, nan]
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis))
