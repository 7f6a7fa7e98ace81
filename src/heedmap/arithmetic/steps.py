"""The bare steps, without a trace: one place for the formulas that everything else shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heedmap.arithmetic.checks import Array, Mask

SAFE_SCORE = 500.0
"""Beyond this size of a row's largest score its exponentials are shifted: exp overflows at 709.8 and loses
digits below -708, and the rest is room for the sum of a long row and for its small weights."""


class Softmax(NamedTuple):
    """What softmax makes of rows of scores; the key axis is the last.

    Attributes:
        exponentials: exp(score - shift), exactly 0 where a key is forbidden.
        totals: their sum over the keys, NaN for a row that may look at nothing.
        weights: exponentials / totals, exactly 0 where forbidden, NaN in a row that may look at nothing.
        shift: what was taken off every score of the row first: 0, or its largest score where exp is not safe.
    """

    exponentials: Array
    totals: Array
    weights: Array
    shift: Array


def softmax_rows(scores: Array, allowed: Mask) -> Softmax:
    """Softmax over the last axis, among the allowed keys only.

    exp(score) / sum of exp(score), with the exponentials as a person would write them. Only where they would
    overflow or vanish (a row's largest score beyond ±500) is the row's largest score taken off first; the
    weights are the same either way, because the factor exp(-shift) cancels.

    Args:
        scores: any shape, finite wherever allowed.
        allowed: the same shape; `True` = may look.

    Example:
        >>> softmax_rows(np.array([2.0, 1.0, 0.0]), np.array([True, True, True])).weights.round(3)
        array([0.665, 0.245, 0.09 ])
    """
    largest = np.max(scores, axis=-1, where=allowed, initial=-np.inf)
    alive = allowed.any(axis=-1)
    shift = np.where(alive & (np.abs(largest) > SAFE_SCORE), largest, 0.0)
    shifted = np.where(allowed, scores, 0.0) - np.where(allowed, shift[..., None], 0.0)
    exponentials = np.where(allowed, np.exp(shifted), 0.0)
    totals = np.where(alive, exponentials.sum(axis=-1), np.nan)
    return Softmax(exponentials, totals, exponentials / totals[..., None], shift)


def causal_mask(positions: Sequence[int], keys: int) -> Mask:
    """Which keys each query may look at when nothing later than itself is seen.

    Args:
        positions: the place of each query among the keys, from 0.
        keys: how many keys there are.

    Returns:
        Booleans of shape (query, key), `True` where key <= position.

    Example:
        >>> causal_mask([0, 1], 2)
        array([[ True, False],
               [ True,  True]])
    """
    return np.arange(keys)[None, :] <= np.asarray(positions)[:, None]
