"""Attention by hand: compare, scale, softmax, blend, with every step kept.

Scaled dot-product attention, softmax(Q Kᵀ / √d) V: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
Grouped heads: Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from heedmap.arithmetic import checks
from heedmap.arithmetic.checks import Array, Mask
from heedmap.arithmetic.steps import causal_mask, softmax_rows
from heedmap.arithmetic.trace import Trace
from heedmap.errors import NumbersError


class Settings(TypedDict, total=False):
    """How the arithmetic is done: what `attend` takes beside the numbers, by the same names."""

    scale: float | None
    causal: bool
    multiply: float
    softmax: bool


def attend(
    query: Any,
    key: Any,
    value: Any,
    *,
    scale: float | None = None,
    mask: Any = None,
    causal: bool = False,
    multiply: float = 1.0,
    softmax: bool = True,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    query_positions: Sequence[int] | None = None,
) -> Trace:
    """Attention worked by hand, in float64: each query compares itself with each key and blends the values.

    Args:
        query: shape (dim), (query, dim) or (head, query, dim); nested lists or an array.
        key: shape (key, dim) or (key-value head, key, dim). There may be fewer key-value heads than query heads:
            14 query heads on 2 key-value heads share them 7 each, query head h using key-value head h // 7.
        value: shape (key, value dim) or (key-value head, key, value dim).
        scale: what the products are multiplied by; 1/√dim when `None`; 1.0 for no scaling.
        mask: booleans, `True` = may look, shape (key), (query, key) or (head, query, key).
        causal: each query may look only at keys up to its own position.
        multiply: a further factor on every score (8 makes the softmax sharper).
        softmax: `False` uses the raw scores as weights, to see what breaks.
        query_tokens: names of the queries; by default those of the keys at their positions.
        key_tokens: names of the keys; `k0`, `k1`, ... by default.
        query_positions: the place of each query among the keys, from 0; by default the queries are the last ones.

    Returns:
        The `Trace` with each step. It has a head axis when any of query, key, value has one.

    Raises:
        NumbersError: shapes that do not fit, an empty list, or something that is not a finite number.

    Example:
        >>> trace = attend([1.0, 0.6], [[0.1, 0.0], [1.0, 0.8]], [[0.1, 0.1], [1.0, 0.2]])
        >>> trace.weights.round(2), trace.output.round(2)
        (array([[0.27, 0.73]]), array([[0.75, 0.17]]))
    """
    arrays = _vectors(query, key, value, query_tokens, key_tokens)
    has_heads = any(array.ndim == 3 for array in arrays)
    queries, keys, values = (array if array.ndim == 3 else array[None] for array in arrays)
    _check_shapes(queries, keys, values)
    heads, count, dim = queries.shape
    key_names = _key_names(key_tokens, keys.shape[1])
    positions = _positions(query_positions, count, keys.shape[1], causal)
    names = _query_names(query_tokens, key_tokens, positions, count)
    allowed = _allowed(mask, positions if causal else None, (heads, count, keys.shape[1]))
    scale = 1.0 / math.sqrt(dim) if scale is None else checks.single("scale", scale)
    multiply = checks.single("multiply", multiply)
    steps = _worked(queries, keys, values, allowed, scale, multiply, softmax)
    if not has_heads:
        steps = {name: None if step is None else step[0] for name, step in steps.items()}
    return Trace(query_tokens=names, key_tokens=key_names, scale=scale, multiply=multiply, **steps)


def _worked(
    queries: Array, keys: Array, values: Array, allowed: Mask, scale: float, multiply: float, softmax: bool
) -> dict[str, Any]:
    """The four steps, by their names in `Trace`, each with a head axis."""
    group = len(queries) // len(keys)
    with np.errstate(over="ignore", invalid="ignore"):
        products = queries @ np.repeat(keys, group, axis=0).swapaxes(-1, -2)
        scores = products * scale * multiply
    checks.finite_result("query · key", products)
    checks.finite_result("the scores", scores)
    result = softmax_rows(scores, allowed)
    weights = result.weights if softmax else _raw_weights(scores, allowed)
    with np.errstate(over="ignore", invalid="ignore"):
        output = weights @ np.repeat(values, group, axis=0)
    checks.finite_result("the output", output[allowed.any(axis=-1)])
    return {
        "query": queries,
        "key": keys,
        "value": values,
        "products": products,
        "allowed": allowed,
        "scores": np.where(allowed, scores, -np.inf),
        "shift": result.shift if softmax else np.zeros_like(result.shift),
        "exponentials": result.exponentials if softmax else None,
        "totals": result.totals if softmax else None,
        "weights": weights,
        "output": output,
    }


def _allowed(
    mask: Any, positions: Sequence[int] | None, shape: tuple[int, int, int]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which key each query may look at, [head, query, key]; `positions` of the queries where none may look ahead."""
    allowed = np.ones(shape, dtype=np.bool_)
    if mask is not None:
        allowed &= checks.mask(mask, shape)
    if positions is not None:
        allowed &= causal_mask(positions, shape[2])
    return allowed


def _vectors(
    query: Any, key: Any, value: Any, query_tokens: Sequence[str] | None, key_tokens: Sequence[str] | None
) -> tuple[Array, Array, Array]:
    """The three arrays checked, with a query axis."""
    queries = checks.array("query", query, labels=query_tokens)
    if queries.ndim == 1:
        queries = queries[None]
    keys = checks.array("key", key, least=2, labels=key_tokens)
    values = checks.array("value", value, least=2, labels=key_tokens)
    return queries, keys, values


def _check_shapes(queries: Array, keys: Array, values: Array) -> None:
    """Refuse sizes that do not fit; the arrays are (head, row, dim)."""
    if keys.shape[2] != queries.shape[2]:
        raise NumbersError(
            f"key: expected {queries.shape[2]} numbers in each row, as many as a query has, found {keys.shape[2]}"
        )
    if values.shape[1] != keys.shape[1]:
        raise NumbersError(f"value: expected {keys.shape[1]} rows, one for each key, found {values.shape[1]}")
    if len(values) != len(keys):
        raise NumbersError(f"value: expected {len(keys)} heads, as many as the key has, found {len(values)}")
    if len(queries) % len(keys):
        raise NumbersError(
            f"query: expected a multiple of {len(keys)} heads, so that they share the {len(keys)} key-value heads "
            f"equally, found {len(queries)}"
        )


def _key_names(key_tokens: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """The names of the keys, made up when none are given."""
    if key_tokens is None:
        return tuple(f"k{index}" for index in range(count))
    return checks.names("key_tokens", key_tokens, count, "key")


def _query_names(
    query_tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    positions: Sequence[int] | None,
    count: int,
) -> tuple[str, ...]:
    """The names of the queries: as given, else those of the keys where they stand, else made up."""
    if query_tokens is not None:
        return checks.names("query_tokens", query_tokens, count, "query")
    if key_tokens is not None and positions is not None:
        return tuple(key_tokens[position] for position in positions)
    return tuple(f"q{index}" for index in range(count))


def _positions(given: Sequence[int] | None, queries: int, keys: int, causal: bool) -> Sequence[int] | None:
    """Where the queries stand among the keys: as given, else the last ones; `None` when nothing says it."""
    if given is None:
        if queries <= keys:
            return range(keys - queries, keys)
        if causal:
            raise NumbersError(
                f"causal: expected at most {keys} queries, one a key, found {queries}; "
                f"say where each stands with query_positions"
            )
        return None
    if len(given) != queries:
        raise NumbersError(f"query_positions: expected {queries}, one for each query, found {len(given)}")
    for index, position in enumerate(given):
        whole = isinstance(position, (int, np.integer)) and not isinstance(position, bool)
        if not whole or not 0 <= position < keys:
            raise NumbersError(
                f"query_positions row {index}: expected a whole number from 0 to {keys - 1}, found {position}"
            )
    return given


def _raw_weights(scores: Array, allowed: Mask) -> Array:
    """The scores themselves as weights: 0 where forbidden, absent in a row that may look at nothing."""
    return np.where(allowed.any(axis=-1, keepdims=True), np.where(allowed, scores, 0.0), np.nan)
