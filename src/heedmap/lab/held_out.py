"""A head chosen on one half of the pairs, and what it is worth on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.permutation import best_head
from heedmap.lab.rounding import first_largest, slack


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A head chosen on one half and measured on the other.

    Attributes:
        head: its place among all heads.
        chosen: its mean effect on the half it was chosen on: too large, since it was chosen for that.
        effect: its mean effect on the other half.
        interval: the 95 percent interval of that.
        p: how often sign flips of the other half give this one head as large an effect.
        as_good: how often a head taken at random does as well on the other half.
        units: how many pairs the other half has.
    """

    head: int
    chosen: float
    effect: float
    interval: tuple[float, float] | None
    p: float
    as_good: float
    units: int


def held_out(
    effects: NDArray[np.float64], choosing: NDArray[np.bool_], *, seed: int = 0, draws: int = 2000
) -> HeldOut | None:
    """Choose the head with the largest mean on some units, and measure it on the others.

    Args:
        effects: [unit, head].
        choosing: [unit] which units choose.
        seed: where the random numbers begin.
        draws: of bootstrap and permutation.

    Returns:
        what was found; None where there is no unit in a half, or no head.

    Example:
        >>> effects = np.random.default_rng(2).normal(size=(20, 50))
        >>> effects[:, 30] += 2
        >>> found = held_out(effects, np.arange(20) < 10)
        >>> found.head, found.effect > 1, found.as_good
        (30, True, 0.0)
    """
    if not choosing.any() or choosing.all() or not effects.shape[1]:
        return None
    means = effects[choosing].mean(0)
    head = first_largest(means)
    others = effects[~choosing]
    there = others.mean(0)
    alone = best_head(others[:, [head]], seed=seed, draws=draws)
    assert alone is not None, "the other half has a unit"
    others_as_good = np.delete(there, head) >= there[head] - slack(there[head])
    return HeldOut(
        head=head,
        chosen=float(means[head]),
        effect=float(there[head]),
        interval=mean_interval(others[:, head], seed=seed, draws=draws),
        p=alone.p,
        as_good=float(others_as_good.mean()) if others_as_good.size else 0.0,
        units=len(others),
    )
