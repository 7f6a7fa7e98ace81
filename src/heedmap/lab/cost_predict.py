"""What a prompt of so many tokens will cost: arithmetic and cache, from the configuration alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heedmap.errors import OutOfRange
from heedmap.lab.cost_shape import Shape

SCHEMA = "heedmap/cost/1"

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}

_FURTHEST = 10**9
"""Tokens up to which the length is looked for from which attention outweighs the rest."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The cost of one length; an operation is a multiplication or an addition.

    Attributes:
        tokens: how many are read.
        attention: operations between tokens: scores and blends.
        projections: operations with attention's learned tables.
        feed_forward: operations with all other learned tables of the layers.
        output: operations with the output table, for the last token alone.
        cache: bytes that stay in memory while the model writes on; 0 for a model that does not.
        next_attention: operations between tokens for one further token.
        next_rest: all other operations for one further token.
    """

    tokens: int
    attention: float
    projections: float
    feed_forward: float
    output: float
    cache: float
    next_attention: float
    next_rest: float

    @property
    def rest(self) -> float:
        """All operations but those between tokens."""
        return self.projections + self.feed_forward + self.output

    @property
    def share(self) -> float:
        """The share of the work that is between tokens."""
        return self.attention / (self.attention + self.rest)

    def to_json(self) -> dict[str, Any]:
        """The prediction as JSON."""
        return {
            "tokens": self.tokens,
            "attention": self.attention,
            "projections": self.projections,
            "feed_forward": self.feed_forward,
            "output": self.output,
            "attention_share": self.share,
            "cache_bytes": self.cache,
            "next_attention": self.next_attention,
            "next_rest": self.next_rest,
        }


def predict(shape: Shape, tokens: int, *, dtype: str = "bfloat16") -> Prediction:
    """The cost of reading so many tokens at once, and of one token after them.

    Each weight takes a product of query and key and a share of a value: 2 x (query_dim + value_dim) operations. Each
    number of a table takes 2 a token. Only cells that the mask allows are counted: kernels may do more.

    Args:
        shape: the model.
        tokens: how many, at least 1.
        dtype: what the cache holds, one of `BYTES`.

    Raises:
        OutOfRange: no tokens, or another dtype.

    Example:
        >>> from heedmap.lab.cost_shape import shape_of
        >>> from heedmap.models.configuration import find_configuration
        >>> shape = shape_of(find_configuration("smollm2"))
        >>> short, long = predict(shape, 1_000), predict(shape, 10_000)
        >>> round(long.attention / short.attention), long.cache / short.cache
        (100, 10.0)
    """
    if tokens < 1:
        raise OutOfRange(f"the cost of {tokens} tokens was asked for: take 1 or more")
    if dtype not in BYTES:
        raise OutOfRange(f"there is no dtype {dtype!r}: take {', '.join(BYTES)}")
    attention = next_attention = cache = 0.0
    for layer in shape.layers:
        cell = 2.0 * layer.heads * (layer.query_dim + layer.value_dim)
        attention += cell * layer.cells(tokens, causal=shape.causal)
        next_attention += cell * layer.kept(tokens + 1)
        cache += layer.cached * layer.kept(tokens) * BYTES[dtype]
    tables = 2.0 * (shape.projections + shape.feed_forward)
    return Prediction(
        tokens=tokens,
        attention=attention,
        projections=2.0 * shape.projections * tokens,
        feed_forward=2.0 * shape.feed_forward * tokens,
        output=2.0 * shape.output,
        cache=cache if shape.causal else 0.0,
        next_attention=next_attention if shape.causal else 0.0,
        next_rest=tables + 2.0 * shape.output if shape.causal else 0.0,
    )


def outweighs_from(shape: Shape) -> int | None:
    """The length from which attention is more work than all the rest; None where it never is (windows).

    Example:
        >>> from heedmap.lab.cost_shape import shape_of
        >>> from heedmap.models.configuration import find_configuration
        >>> shape = shape_of(find_configuration("smollm2"))
        >>> length = outweighs_from(shape)
        >>> predict(shape, length).share >= 0.5 > predict(shape, length - 1).share
        True
    """
    if predict(shape, _FURTHEST).share < 0.5:
        return None
    low, high = 0, _FURTHEST
    while high - low > 1:
        middle = (low + high) // 2
        if predict(shape, middle).share >= 0.5:
            high = middle
        else:
            low = middle
    return high


def to_json(shape: Shape, name: str, dtype: str, predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Several lengths as JSON."""
    return {
        "schema": SCHEMA,
        "model": {
            "name": name,
            "kind": shape.kind,
            "parameters": shape.parameters,
            "layers_with_attention": len(shape.layers),
            "layers_without": shape.silent,
        },
        "dtype": dtype,
        "attention_outweighs_from": outweighs_from(shape),
        "lengths": [one.to_json() for one in predictions],
    }
