"""Whether the best of many heads is better than the best would be by chance: sign flips, one a unit for all heads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedmap.errors import NumbersError
from heedmap.lab.rounding import first_largest, slack

_CELLS = 2**22
"""Numbers of one block of draws at most: 32 MiB."""


@dataclass(frozen=True, slots=True)
class BestHead:
    """The best of many heads, against chance.

    Attributes:
        head: its place among the heads given.
        mean: its mean over units.
        p: (1 + draws whose best head was at least as good) / (1 + draws).
        chance: the 95th percentile of the best head by chance.
        draws: how many draws there were.
    """

    head: int
    mean: float
    p: float
    chance: float
    draws: int


def best_head(
    effects: NDArray[np.float64], *, seed: int = 0, draws: int = 2000, two_sided: bool = False
) -> BestHead | None:
    """The head with the largest mean effect, and how often chance finds one as large among as many heads.

    If it were chance which of the two nouns is called A, each unit's effect could as well have the other sign. So
    each draw flips the sign of each unit at random, one flip for all its heads (which keeps how heads go together),
    and takes the best head anew (which pays for having looked at all of them): Westfall and Young 1993, "Resampling-
    based multiple testing". Counting the data as one of the draws keeps p above 0: Phipson and Smyth 2010.

    Args:
        effects: [unit, head].
        seed: where the random numbers begin.
        draws: how many flips of all units are drawn.
        two_sided: whether an effect below 0 counts as much as one above.

    Returns:
        the best head; None where there is no unit or no head.

    Raises:
        NumbersError: an effect is no number.

    Example:
        >>> effects = np.random.default_rng(1).normal(size=(12, 40))
        >>> effects[:, 7] += 2
        >>> best = best_head(effects)
        >>> best.head, round(best.mean, 1), best.p < 0.01
        (7, 2.1, True)
    """
    if not np.isfinite(effects).all():
        raise NumbersError("some effects are no numbers: leave out those units or heads first")
    if 0 in effects.shape:
        return None
    units = len(effects)
    means = effects.mean(0)
    size = np.abs(means) if two_sided else means
    head = first_largest(size)
    best = np.concatenate([_best(effects, signs, two_sided) for signs in _flips(units, effects.shape[1], seed, draws)])
    # A draw that is the data but for units without an effect must count, however their last bits are rounded.
    p = (1 + int((best >= size[head] - slack(size[head])).sum())) / (1 + draws)
    return BestHead(head, float(means[head]), p, float(np.quantile(best, 0.95)), draws)


def _flips(units: int, heads: int, seed: int, draws: int) -> list[NDArray[np.float64]]:
    """Signs [draw, unit], in blocks that keep the means of all heads small in memory."""
    signs = np.random.default_rng(seed).integers(0, 2, (draws, units), dtype=np.int8) * 2.0 - 1.0
    return np.array_split(signs, max(1, -(-draws * heads // _CELLS)))


def _best(effects: NDArray[np.float64], signs: NDArray[np.float64], two_sided: bool) -> NDArray[np.float64]:
    """The best head of each draw, [draw]."""
    means = signs @ effects / len(effects)
    return np.asarray((np.abs(means) if two_sided else means).max(-1))
