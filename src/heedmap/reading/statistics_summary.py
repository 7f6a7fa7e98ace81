"""From the values at every position to one number a head: mean and median over the positions after the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from heedmap.reading.statistics_measure import Measured

Numbers = np.ndarray[tuple[int, ...], np.dtype[Any]]
"""An array of floats or of whole numbers."""

MEDIAN = "_median"
"""What is added to a column's name for its median; the mean has the plain name."""

COUNTS = {
    "counted": "positions in the means: real tokens after the first whose rows are numbers",
    "dead": "tokens that may look at nothing; absent from the means",
    "padding": "positions of padding; absent from the means",
    "not_a_number": "rows whose scores are not numbers; absent from the means",
}
"""How many positions a head's means were taken over, and how many were left out for which reason."""


def summarise(measured: Measured) -> dict[str, Numbers]:
    """Mean and median of every column, and the counts, each [head].

    The first token is left out: it can only look at itself, whatever the model does.
    """
    after_first = measured.after_first.cpu().numpy()
    summary: dict[str, Numbers] = {}
    for name, values in measured.values.items():
        counted = np.asarray(values.cpu().numpy())[:, after_first]
        summary[name], summary[name + MEDIAN] = mean(counted), median(counted)
    dead, wrong = measured.dead.cpu().numpy(), measured.not_a_number.cpu().numpy()
    heads = np.ones(len(dead), dtype=np.int64)
    left_out = (dead | wrong)[:, after_first].sum(-1)
    summary["counted"] = after_first.sum() * heads - left_out
    summary["dead"], summary["padding"] = dead.sum(-1), int(measured.padding.sum()) * heads
    summary["not_a_number"] = wrong.sum(-1)
    return summary


def mean(values: Numbers) -> Numbers:
    """The mean over the last axis of what is a number; not a number where nothing is.

    Example:
        >>> mean(np.array([[1.0, 3.0, np.nan], [np.nan, np.nan, np.nan]]))
        array([ 2., nan])
    """
    known = ~np.isnan(values)
    total = np.where(known, values, 0).sum(-1, dtype=np.float64)
    count = known.sum(-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def median(values: Numbers) -> Numbers:
    """The median over the last axis of what is a number; not a number where nothing is.

    Example:
        >>> median(np.array([[1.0, 3.0, np.nan], [2.0, 9.0, 4.0]]))
        array([2., 4.])
    """
    count = (~np.isnan(values)).sum(-1)
    if not count.any():
        return np.full(count.shape, np.nan)
    below, above = np.maximum(count - 1, 0) // 2, count // 2
    above = np.minimum(above, values.shape[-1] - 1)
    # What is not a number is sorted to the end.
    ordered = np.partition(values, np.unique([below, above]), -1)
    middle = np.take_along_axis(ordered, np.stack([below, above], -1), -1).mean(-1, dtype=np.float64)
    return np.where(count > 0, middle, np.nan)
