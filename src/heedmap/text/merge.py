"""From weights between tokens to weights between words (NumPy only)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from heedmap.errors import NumbersError

Group = Sequence[int]
QueryRule = Literal["mean", "last"]


def merge(
    weights: npt.ArrayLike,
    groups_query: Sequence[Group],
    groups_key: Sequence[Group],
    query_rule: QueryRule = "mean",
) -> npt.NDArray[np.floating[Any]]:
    """Merge attention weights of tokens into weights of words.

    A key word's weight is the sum over its tokens: longer words gain by it. A query word's row is the mean over its
    tokens' rows, or its last token's row: in a causal model the earlier ones have not seen the whole word. A row
    whose keys are all in a group keeps its sum.

    Args:
        weights: attention weights (..., query, key), with any axes before: head, layer, batch. A row that is not
            there (NaN) makes its word's row NaN; no other row is touched.
        groups_query: the tokens of each query word, by position.
        groups_key: the tokens of each key word; no token in two of them, or it would count twice.
        query_rule: "mean" or "last".

    Returns:
        Weights (..., query word, key word), float32 or wider.

    Raises:
        NumbersError: fewer than two axes, an empty group, a position outside, a key token in two groups, another rule.

    >>> merge([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], [[0], [1, 2]], [[0], [1, 2]]).tolist()
    [[1.0, 0.0], [0.35, 0.65]]
    """
    tokens = np.asarray(weights)
    if tokens.ndim < 2:
        raise NumbersError(f"weights (..., query, key) have two axes at least, and these have the shape {tokens.shape}")
    if query_rule not in ("mean", "last"):
        raise NumbersError(f"the query rule is 'mean' or 'last', not {query_rule!r}")
    _check_groups(groups_query, tokens.shape[-2], "query")
    _check_groups(groups_key, tokens.shape[-1], "key")
    counted = [position for group in groups_key for position in group]
    if len(counted) != len(set(counted)):
        twice = next(position for position in counted if counted.count(position) > 1)
        raise NumbersError(f"key token {twice} is in two groups, so that its weight would count twice")
    wide = np.promote_types(tokens.dtype, np.float32)
    rows = (
        tokens[..., list(group), :].mean(axis=-2, dtype=wide)
        if query_rule == "mean"
        else tokens[..., max(group), :].astype(wide)
        for group in groups_query
    )
    by_query = np.stack(list(rows), axis=-2)
    return np.stack([by_query[..., list(group)].sum(axis=-1) for group in groups_key], axis=-1)


def _check_groups(groups: Sequence[Group], size: int, axis: str) -> None:
    if not groups:
        raise NumbersError(f"no {axis} groups were given: name at least one word")
    for number, group in enumerate(groups):
        if not group:
            raise NumbersError(f"{axis} group {number} has no tokens")
        outside = [position for position in group if not 0 <= position < size]
        if outside:
            raise NumbersError(
                f"{axis} group {number} names token {outside[0]}, and there are {size}, counted from 0 to {size - 1}"
            )
