"""What one way of asking says: differences, accuracy and the tests over pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedmap.lab.bootstrap import mean_interval
from heedmap.lab.rounding import beyond_rounding
from heedmap.lab.sign_test import sign_test
from heedmap.lab.wilson import wilson

Numbers = NDArray[np.float64]
Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Share:
    """A number with its interval and how many units it rests on; None where there are none."""

    value: float | None
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What the log-odds of one way of asking come to.

    Attributes:
        difference: over pairs: the log-odds of A where A is right minus where B is right.
        accuracy: over items, with an interval over pairs.
        both_right: pairs whose two versions are both right.
        same_noun: pairs in which the same noun is preferred in both versions.
        right_way: pairs that changed, in the right way; of questions without twin, those that are right.
        wrong_way: the same in the wrong way.
        p: exact sign test of the two.
        differences: [pair], what `difference` is the mean of.
    """

    difference: Share
    accuracy: Share
    both_right: Share
    same_noun: Share
    right_way: int
    wrong_way: int
    p: float | None
    differences: Numbers


def summarise(odds: Numbers, answers: NDArray[np.int8], *, seed: int, draws: int) -> Summary:
    """The numbers of one way of asking.

    Args:
        odds: [unit, version], log-odds of A against B; NaN where there is none.
        answers: [unit, version], 0 or 1; -1 where there is no such version.
        seed: where the random numbers begin.
        draws: of each bootstrap.

    Example:
        >>> odds = np.array([[2.0, -1.0], [1.0, 0.5], [0.5, -0.5]])
        >>> found = summarise(odds, np.array([[0, 1], [0, 1], [1, 0]], np.int8), seed=0, draws=200)
        >>> found.difference.value, found.accuracy.value, found.both_right.value, found.right_way, found.wrong_way
        (0.8333333333333334, 0.5, 0.3333333333333333, 1, 1)
    """
    toward = toward_right(odds, answers)
    known = ~np.isnan(toward)
    right = np.where(toward == 0, 0.5, toward > 0)
    units = np.broadcast_to(np.arange(len(odds))[:, None], odds.shape)
    pairs = known.all(1)
    signs = np.sign(toward[pairs])
    right_twice, wrong_twice = (signs > 0).sum(1) == 2, (signs < 0).sum(1) == 2
    both, neither = int(right_twice.sum()), int(wrong_twice.sum())
    differences = toward[pairs].sum(1)
    if not pairs.any():
        both, neither = int((toward[known] > 0).sum()), int((toward[known] < 0).sum())
    return Summary(
        difference=_mean(differences, None, seed, draws),
        accuracy=_mean(right[known], units[known], seed, draws),
        both_right=_share(right_twice),
        same_noun=_share(signs.prod(1) < 0),
        right_way=both,
        wrong_way=neither,
        p=sign_test(both, neither),
        differences=differences,
    )


def toward_right(odds: Numbers, answers: NDArray[np.int8]) -> Numbers:
    """Log-odds of the right noun against the wrong one, [unit, version]; 0 for a tie, NaN where there is no answer."""
    return np.where(answers < 0, np.nan, beyond_rounding(np.where(answers == 0, odds, -odds)))


def _mean(values: Numbers, units: NDArray[np.int64] | None, seed: int, draws: int) -> Share:
    if not len(values):
        return Share(None, None, 0)
    n = len(values) if units is None else len(np.unique(units))
    return Share(float(values.mean()), mean_interval(values, units, seed=seed, draws=draws), n)


def _share(having: NDArray[np.bool_]) -> Share:
    if not len(having):
        return Share(None, None, 0)
    return Share(float(having.mean()), wilson(int(having.sum()), len(having)), len(having))


def always_one_noun(answers: NDArray[np.int8], first: NDArray[np.int8]) -> dict[str, float]:
    """The accuracy of saying the same thing whatever the text: always A, always B, always the first or second noun.

    Args:
        answers: [unit, version], -1 where there is no such version.
        first: [unit], which noun stands first; -1 where that is not known.

    Example:
        >>> always_one_noun(np.array([[0, 1], [0, -1]], np.int8), np.array([0, 1], np.int8))
        {'A': 0.6666666666666666, 'B': 0.3333333333333333, 'first': 0.3333333333333333, 'second': 0.6666666666666667}
    """
    there = answers >= 0
    found = {name: float((answers == noun)[there].mean()) for noun, name in enumerate("AB")}
    known = there & (first >= 0)[:, None]
    if known.any():
        says_first = float((answers == first[:, None])[known].mean())
        found |= {"first": says_first, "second": 1 - says_first}
    return found
