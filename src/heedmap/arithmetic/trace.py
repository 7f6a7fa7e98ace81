"""The `Trace`: every intermediate number of one attention calculation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedmap.arithmetic.checks import Array, Mask
from heedmap.errors import OutOfRange

SCHEMA = "heedmap/trace/1"


@dataclass(frozen=True, eq=False)
class Projection:
    """Vectors times a learned table: `result = x @ table + bias`.

    Attributes:
        table: shape (width in, width out).
        bias: shape (width out), or `None`.
        result: shape (token, width out), before it is split into heads.
    """

    table: Array
    bias: Array | None
    result: Array


@dataclass(frozen=True, eq=False)
class LayerSteps:
    """What a layer does before and after attention.

    Attributes:
        x: the tokens' vectors, shape (token, width).
        query: x by W_q.
        key: x by W_k.
        value: x by W_v.
        output: the joined heads by W_o, or `None` when the layer has no output table.
    """

    x: Array
    query: Projection
    key: Projection
    value: Projection
    output: Projection | None


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Each step of an attention calculation; `print(trace)` writes it out as a worked table.

    Axes are in the order head, query, key, dim. The head axis is there only when the numbers given had one.
    Where a query may not look at a key, `scores` is -inf and `exponentials` and `weights` are exactly 0. A
    query that may look at nothing has no weights and no output: they are NaN, and `None` in the JSON form.

    Attributes:
        query_tokens: names of the queries.
        key_tokens: names of the keys.
        query: shape (head, query, dim).
        key: shape (key-value head, key, dim).
        value: shape (key-value head, key, value dim).
        products: query · key for every pair, forbidden ones too, shape (head, query, key).
        scale: what the products are multiplied by, 1/√dim unless given.
        multiply: a further factor on the scores, 1 unless given.
        allowed: which keys each query may look at, shape (head, query, key).
        scores: products x scale x multiply, -inf where forbidden.
        shift: what was taken off a row's scores before exp, shape (head, query): 0, or the row's largest
            score where exp would overflow or vanish (beyond ±500).
        exponentials: exp(score - shift), or `None` without softmax.
        totals: the sum of each row's exponentials, shape (head, query), or `None` without softmax.
        weights: exponentials / totals; without softmax the scores themselves.
        output: the blend of the values by the weights, shape (head, query, value dim).
        layer: the steps around attention when a whole layer was worked, else `None`.

    Example:
        >>> from heedmap.arithmetic import attend
        >>> attend([1, 1], [[2, 0], [1, 1]], [[1, 0], [0.5, 0.5]]).weights
        array([[0.5, 0.5]])
    """

    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    query: Array
    key: Array
    value: Array
    products: Array
    scale: float
    multiply: float
    allowed: Mask
    scores: Array
    shift: Array
    exponentials: Array | None
    totals: Array | None
    weights: Array
    output: Array
    layer: LayerSteps | None = None

    @property
    def has_heads(self) -> bool:
        """Whether the arrays have a head axis."""
        return self.products.ndim == 3

    @property
    def heads(self) -> int:
        """How many query heads there are."""
        return len(self.products) if self.has_heads else 1

    @property
    def key_value_heads(self) -> int:
        """How many key-value heads there are; consecutive query heads share one."""
        return len(self.key) if self.has_heads else 1

    @property
    def joined(self) -> Array:
        """The heads' outputs side by side, shape (query, heads x value dim)."""
        if not self.has_heads:
            return self.output
        return np.concatenate(list(self.output), axis=-1)

    @property
    def final(self) -> Array:
        """What leaves the layer: the joined heads by the output table, if there is one."""
        if self.layer is None or self.layer.output is None:
            return self.joined
        return self.layer.output.result

    def key_head(self, head: int) -> int:
        """The key-value head that a query head uses.

        Example:
            >>> from heedmap.arithmetic import attend
            >>> trace = attend([[[1]]] * 14, [[[1]]] * 2, [[[1]]] * 2)
            >>> [trace.key_head(head) for head in (0, 1, 6, 7, 13)]
            [0, 0, 0, 1, 1]
        """
        return head // (self.heads // self.key_value_heads)

    def head(self, index: int) -> Trace:
        """One query head alone: a trace without a head axis (and without the layer around it).

        Args:
            index: the query head, from 0.

        Raises:
            OutOfRange: there is no such head.

        Example:
            >>> from heedmap.arithmetic import attend
            >>> attend([[[1]], [[2]]], [[[1]]], [[[1]]]).head(1).products
            array([[2.]])
        """
        if not 0 <= index < self.heads:
            raise OutOfRange(f"head {index}: expected a head from 0 to {self.heads - 1}")
        if not self.has_heads:
            return replace(self, layer=None)
        shared = self.key_head(index)
        return replace(
            self,
            query=self.query[index],
            key=self.key[shared],
            value=self.value[shared],
            products=self.products[index],
            allowed=self.allowed[index],
            scores=self.scores[index],
            shift=self.shift[index],
            exponentials=None if self.exponentials is None else self.exponentials[index],
            totals=None if self.totals is None else self.totals[index],
            weights=self.weights[index],
            output=self.output[index],
            layer=None,
        )

    def table(self, digits: int = 2) -> str:
        """The worked table as text, with so many digits after the point (see `print(trace)`)."""
        from heedmap.arithmetic.table import worked_table

        return worked_table(self, digits)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return (
            f"Trace(heads={self.heads}, queries={len(self.query_tokens)}, keys={len(self.key_tokens)}, "
            f"dim={self.query.shape[-1]})"
        )

    def to_json(self) -> dict[str, Any]:
        """The steps as plain lists, strict JSON, schema `heedmap/trace/1`.

        Always there: `schema`, `query_tokens`, `key_tokens`, `products`, `scale`, `scores`, `exponentials`,
        `weights`, `output`. The arrays have a leading query axis, and before it a head axis when the numbers
        given had one. `null` stands for what is forbidden or absent: in `products`, `scores`, `exponentials`
        and `weights` where a query may not look at a key, in `output` for a query that may look at nothing, and
        for `exponentials` as a whole without softmax.

        Only where they apply: `multiply` (when it is not 1; scores = products x scale x multiply), `shift`
        (when some row's is not 0; exponentials = exp(scores - shift)), and for a layer `projections` (`query`,
        `key`, `value`, each token by width), `joined` and `final`.

        Example:
            >>> from heedmap.arithmetic import attend
            >>> trace = attend([1], [[1], [5]], [[4], [8]], mask=[True, False])
            >>> trace.to_json()["weights"], trace.to_json()["output"]
            ([[1.0, None]], [[4.0]])
        """
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "query_tokens": list(self.query_tokens),
            "key_tokens": list(self.key_tokens),
            "products": _lists(self.products, self.allowed),
            "scale": self.scale,
            "scores": _lists(self.scores, self.allowed),
            "exponentials": None if self.exponentials is None else _lists(self.exponentials, self.allowed),
            "weights": _lists(self.weights, self.allowed),
            "output": _lists(self.output),
        }
        if self.multiply != 1:
            result["multiply"] = self.multiply
        if self.shift.any():
            result["shift"] = _lists(self.shift)
        if self.layer is not None:
            steps = {"query": self.layer.query, "key": self.layer.key, "value": self.layer.value}
            result["projections"] = {name: step.result.tolist() for name, step in steps.items()}
            result["joined"] = _lists(self.joined)
            result["final"] = _lists(self.final)
        return result


def _lists(values: Array, present: Mask | None = None) -> Any:
    """Nested lists with `None` where a value is absent."""
    known = np.isfinite(values) if present is None else present & np.isfinite(values)
    result: NDArray[Any] = values.astype(object)
    result[~known] = None
    return result.tolist()
