"""A whole small attention layer by hand: project, attend, join the heads, output table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from heedmap.arithmetic import checks
from heedmap.arithmetic.attention import Settings, attend
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.trace import LayerSteps, Projection, Trace
from heedmap.errors import NumbersError


def attend_layer(
    x: Any,
    query_table: Any,
    key_table: Any,
    value_table: Any,
    output_table: Any = None,
    *,
    heads: int = 1,
    key_value_heads: int | None = None,
    query_bias: Any = None,
    key_bias: Any = None,
    value_bias: Any = None,
    output_bias: Any = None,
    mask: Any = None,
    tokens: Sequence[str] | None = None,
    **settings: Unpack[Settings],
) -> Trace:
    """Self-attention from the tokens' vectors to the layer's output, every step kept.

    query = x @ W_q, key = x @ W_k, value = x @ W_v; each is cut into heads of consecutive columns; attention
    is worked in each head (see `attend`); the heads' outputs are joined side by side; final = joined @ W_o.
    There is no rotation of positions and no normalisation.

    Args:
        x: the tokens' vectors, shape (token, width).
        query_table: W_q, shape (width, heads x dim). `torch.nn.Linear` keeps its weight the other way round.
        key_table: W_k, shape (width, key_value_heads x dim).
        value_table: W_v, shape (width, key_value_heads x value dim).
        output_table: W_o, shape (heads x value dim, width out), or `None` to stop at the joined heads.
        heads: how many query heads.
        key_value_heads: how many key-value heads; as many as `heads` when `None`.
        query_bias: added to every query, shape (heads x dim).
        key_bias: added to every key.
        value_bias: added to every value.
        output_bias: added to every final vector; needs an output table.
        mask: as in `attend`, with one query and one key a token.
        tokens: the tokens' names; `t0`, `t1`, ... by default.
        **settings: `scale`, `causal`, `multiply` and `softmax`, as in `attend`.

    Returns:
        The `Trace`, with `layer`, `joined` and `final`; it has a head axis when there are several heads.

    Raises:
        NumbersError: shapes that do not fit, an empty list, or something that is not a finite number.

    Example:
        >>> attend_layer([[1.0, 0.0]], [[1.0], [0.0]], [[1.0], [0.0]], [[2.0], [0.0]], [[0.5]]).final
        array([[1.]])
    """
    vectors = checks.array("x", x, least=2, most=2, labels=tokens)
    groups = _key_value_heads(heads, key_value_heads)
    query = _project(vectors, "query", query_table, query_bias)
    key = _project(vectors, "key", key_table, key_bias)
    value = _project(vectors, "value", value_table, value_bias)
    parts = (("query", query, heads), ("key", key, groups), ("value", value, groups))
    split = [_split(name, part.result, count) for name, part, count in parts]
    trace = attend(*split, mask=mask, key_tokens=_names(tokens, len(vectors)), **settings)
    output = _final(trace, output_table, output_bias)
    return replace(trace, layer=LayerSteps(vectors, query, key, value, output))


def _final(trace: Trace, table: Any, bias: Any) -> Projection | None:
    """The joined heads by the output table; `None` where there is none."""
    if table is not None:
        return _project(trace.joined, "output", table, bias)
    if bias is not None:
        raise NumbersError("output_bias: expected an output_table with it, found none")
    return None


def _key_value_heads(heads: int, given: int | None) -> int:
    """How many key-value heads there are; the query heads must share them equally."""
    heads = checks.whole("heads", heads)
    groups = heads if given is None else checks.whole("key_value_heads", given)
    if heads % groups:
        raise NumbersError(f"heads: expected a multiple of the {groups} key-value heads, found {heads}")
    return groups


def _names(tokens: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """The tokens' names, made up when none are given."""
    if tokens is None:
        return tuple(f"t{index}" for index in range(count))
    return checks.names("tokens", tokens, count, "row of x")


def _project(x: Array, name: str, table: Any, bias: Any) -> Projection:
    """Vectors by a learned table, plus its bias if there is one."""
    checked = checks.array(f"{name}_table", table, least=2, most=2)
    if len(checked) != x.shape[1]:
        raise NumbersError(
            f"{name}_table: expected {x.shape[1]} rows, one for each number of the vectors it multiplies, "
            f"found {len(checked)}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        result = x @ checked
    added = None
    if bias is not None:
        added = checks.array(f"{name}_bias", bias, most=1)
        if len(added) != checked.shape[1]:
            raise NumbersError(
                f"{name}_bias: expected {checked.shape[1]} numbers, one for each column of {name}_table, "
                f"found {len(added)}"
            )
        result = result + added
    # A token that may look at nothing comes in as NaN and stays absent: only overflow is an error here.
    checks.finite_result(f"{name} projection", result[np.isfinite(x).all(axis=1)])
    return Projection(checked, added, result)


def _split(name: str, vectors: Array, heads: int) -> Array:
    """Columns cut into heads: (token, heads x dim) to (head, token, dim); a single head gets no axis."""
    if vectors.shape[1] % heads:
        raise NumbersError(
            f"{name}_table: expected a multiple of {heads} columns, one part for each head, found {vectors.shape[1]}"
        )
    if heads == 1:
        return vectors
    return vectors.reshape(len(vectors), heads, -1).swapaxes(0, 1)
