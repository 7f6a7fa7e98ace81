"""The shares of parts from a whole map in NumPy float64, with a loop over rows: slow and plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedmap.text.spans import Part

Numbers = NDArray[np.float64]


APART = ("first", "special")


class Expected(NamedTuple):
    """What `LayerShares` should hold: [head, part], and [head] for the sink."""

    shares: Numbers
    ordinary: Numbers
    seen: Numbers
    sink: Numbers


def expected_shares(
    weights: Numbers, allowed: NDArray[np.bool_], sink: Numbers, parts: Sequence[Part], rows: Sequence[int]
) -> Expected:
    """The shares of parts in a map.

    Args:
        weights: [head, query, key].
        allowed: [head, query, key].
        sink: [head, query].
        parts: whose tokens are keys of the map; the first may be of the kind "first".
        rows: the queries that look.
    """
    heads = len(weights)
    shape = heads, len(parts)
    total = Expected(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(heads))
    counts = np.zeros(heads)
    for head in range(heads):
        for row in rows:
            if not allowed[head, row].any():
                continue
            counts[head] += 1
            first = sum(weights[head, row, list(part.tokens)].sum() for part in parts if part.kind in APART)
            left = 1.0 - first - sink[head, row]
            others = [key for part in parts if part.kind not in APART for key in part.tokens if allowed[head, row, key]]
            total.sink[head] += sink[head, row]
            for number, part in enumerate(parts):
                keys = list(part.tokens)
                seen = allowed[head, row, keys].sum()
                total.shares[head, number] += weights[head, row, keys].sum()
                total.seen[head, number] += seen
                if part.kind not in APART and others:
                    total.ordinary[head, number] += left * seen / len(others)
    with np.errstate(invalid="ignore"):
        by_part = [one / counts[:, None] for one in (total.shares, total.ordinary, total.seen)]
        return Expected(by_part[0], by_part[1], by_part[2], total.sink / counts)
