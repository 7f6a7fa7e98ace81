"""Which of many differences are real: each against the largest that chance gives among all of them."""

from __future__ import annotations

import numpy as np

from heedmap.lab.over_heads import Numbers

_CELLS = 1 << 22


def studentised(differences: Numbers) -> Numbers:
    """The mean of each test's differences by its standard error, [test]; 0 where nothing differs.

    Example:
        >>> studentised(np.array([[1.0, 0.0], [3.0, 0.0]])).tolist()
        [2.0, 0.0]
    """
    return _t(differences.mean(0), np.square(differences).sum(0), len(differences))


def _t(means: Numbers, squares: Numbers, units: int) -> Numbers:
    """Means by their standard errors, from the sums of squares, which no flip of signs changes."""
    variance = np.maximum(squares / units - np.square(means), 0) * units / (units - 1)
    # Differences that do not vary would be certain: their spread is taken to be rounding.
    error = np.sqrt(np.maximum(variance, 1e-14 * squares / units) / units)
    return np.asarray(np.divide(means, error, out=np.zeros_like(means), where=error > 0))


def max_t(differences: Numbers, *, seed: int = 0, draws: int = 2000) -> Numbers:
    """P-values of mean differences, two-sided, corrected for all of them together, [test].

    Westfall and Young 1993, "Resampling-based multiple testing": the signs of whole units are flipped, one flip for all
    tests, which keeps how tests go together; each test is compared with the largest of all. Tests of several scales
    are put on one by their standard errors. p = (1 + draws at least as large) / (1 + draws).

    Args:
        differences: [unit, test].
        seed: where the random numbers begin.
        draws: how many flips of all units are drawn.

    Example:
        >>> differences = np.random.default_rng(1).normal(size=(12, 300))
        >>> differences[:, 7] += 5
        >>> p = max_t(differences, draws=999)
        >>> int(p.argmin()), bool(p[7] < 0.01), int((p < 0.05).sum())
        (7, True, 1)
    """
    units, tests = differences.shape
    squares = np.square(differences).sum(0)
    observed = np.abs(studentised(differences))
    signs = np.random.default_rng(seed).integers(0, 2, (draws, units), dtype=np.int8) * 2.0 - 1.0
    largest = [
        np.abs(_t(block @ differences / units, squares, units)).max(1)
        for block in np.array_split(signs, max(1, -(-draws * tests // _CELLS)))
    ]
    ordered = np.sort(np.concatenate(largest))
    # What is equal but for rounding counts as reached.
    reached = draws - np.searchsorted(ordered, observed * (1 - 1e-9), side="left")
    return np.asarray((1 + reached) / (1 + draws))
