"""A whole layer against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.arithmetic import attend, attend_layer
from heedmap.errors import NumbersError


def random_layer(
    seed: int, tokens: int, width: int, dim: int, heads: int, key_value_heads: int, *, biases: bool
) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "x": (tokens, width),
        "query_table": (width, heads * dim),
        "key_table": (width, key_value_heads * dim),
        "value_table": (width, key_value_heads * dim),
        "output_table": (heads * dim, width),
    }
    if biases:
        shapes |= {"query_bias": (heads * dim,), "output_bias": (width,)}
        shapes |= {f"{name}_bias": (key_value_heads * dim,) for name in ("key", "value")}
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def torch_layer(layer: dict[str, Any], heads: int, key_value_heads: int, *, causal: bool) -> Any:
    """The same layer by torch's own linear maps and attention, in float64."""
    tensors = {name: torch.from_numpy(value) for name, value in layer.items()}

    def linear(x: Any, name: str) -> Any:
        return torch.nn.functional.linear(x, tensors[f"{name}_table"].T, tensors.get(f"{name}_bias"))

    def split(name: str, count: int) -> Any:
        return linear(tensors["x"], name).unflatten(-1, (count, -1)).transpose(0, 1)[None]

    attended = torch.nn.functional.scaled_dot_product_attention(
        split("query", heads),
        split("key", key_value_heads),
        split("value", key_value_heads),
        is_causal=causal,
        enable_gqa=True,
    )
    return linear(attended[0].transpose(0, 1).flatten(1), "output").numpy()


@given(
    seed=st.integers(0, 1000),
    tokens=st.integers(1, 5),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    biases=st.booleans(),
    causal=st.booleans(),
)
def test_the_layer_is_that_of_torch(
    seed: int, tokens: int, sizes: tuple[int, int, int, int], biases: bool, causal: bool
) -> None:
    width, dim, key_value_heads, sharing = sizes
    heads = key_value_heads * sharing
    layer = random_layer(seed, tokens, width, dim, heads, key_value_heads, biases=biases)
    trace = attend_layer(**layer, heads=heads, key_value_heads=key_value_heads, causal=causal)
    expected = torch_layer(layer, heads, key_value_heads, causal=causal)
    # float64 sums of some dozen products on both sides.
    np.testing.assert_allclose(trace.final, expected, rtol=1e-10, atol=1e-11)


def test_the_layer_is_that_of_torch_multi_head_attention() -> None:
    """torch's module keeps its three tables in one, the other way round."""
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(6, 3, batch_first=True, dtype=torch.float64)
    x = torch.randn(1, 4, 6, dtype=torch.float64)
    with torch.no_grad():
        expected, weights = module(x, x, x, average_attn_weights=False)
        query, key, value = (part.T.numpy() for part in module.in_proj_weight.chunk(3))
        bias_query, bias_key, bias_value = (part.numpy() for part in module.in_proj_bias.chunk(3))
        trace = attend_layer(
            x[0].numpy(),
            query,
            key,
            value,
            module.out_proj.weight.T.numpy(),
            heads=3,
            query_bias=bias_query,
            key_bias=bias_key,
            value_bias=bias_value,
            output_bias=module.out_proj.bias.numpy(),
        )
    np.testing.assert_allclose(trace.weights, weights[0].numpy(), rtol=1e-11)
    np.testing.assert_allclose(trace.final, expected[0].numpy(), rtol=1e-10, atol=1e-12)


def test_tables_of_ones_and_zeros_change_nothing() -> None:
    x = np.array([[1.0, 0.0, 0.2], [0.9, 0.1, 0.1]])
    plain = attend(x, x, x)
    trace = attend_layer(x, np.eye(3), np.eye(3), np.eye(3), np.eye(3))
    np.testing.assert_allclose(trace.final, plain.output, rtol=1e-15)
    assert not trace.has_heads


def test_it_keeps_the_steps() -> None:
    layer = random_layer(1, 3, 4, 2, 4, 2, biases=True)
    trace = attend_layer(**layer, heads=4, key_value_heads=2)
    assert trace.layer is not None
    query = layer["x"] @ layer["query_table"] + layer["query_bias"]
    np.testing.assert_allclose(trace.layer.query.result, query, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(trace.query[3], trace.layer.query.result[:, 6:8])
    np.testing.assert_array_equal(trace.key[1], trace.layer.key.result[:, 2:4])
    np.testing.assert_array_equal(trace.joined, np.hstack(list(trace.output)))
    np.testing.assert_allclose(trace.final, trace.joined @ layer["output_table"] + layer["output_bias"], rtol=1e-14)


def test_without_an_output_table_it_stops_at_the_joined_heads() -> None:
    layer = random_layer(1, 3, 4, 2, 2, 2, biases=False)
    layer.pop("output_table")
    trace = attend_layer(**layer, heads=2)
    np.testing.assert_array_equal(trace.final, trace.joined)


def test_a_token_that_may_look_at_nothing_stays_absent() -> None:
    layer = random_layer(1, 2, 2, 2, 1, 1, biases=True)
    trace = attend_layer(**layer, mask=[[False, False], [True, True]])
    assert np.isnan(trace.final[0]).all()
    assert np.isfinite(trace.final[1]).all()


EYE = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": [[1.0, 2.0], [3.0]]}, 'x row 1 ("b"): expected 2 numbers as in row 0, found 1'),
        ({"x": [1.0]}, "x: expected a list of rows of numbers, found 1 axes"),
        ({"tokens": ["a"]}, "tokens: expected 2, one for each row of x, found 1"),
        (
            {"key_table": [[1.0, 0.0]]},
            "key_table: expected 2 rows, one for each number of the vectors it multiplies, found 1",
        ),
        (
            {"output_table": [[1.0]]},
            "output_table: expected 2 rows, one for each number of the vectors it multiplies, found 1",
        ),
        ({"value_bias": [1.0]}, "value_bias: expected 2 numbers, one for each column of value_table, found 1"),
        ({"output_table": None, "output_bias": [1.0]}, "output_bias: expected an output_table with it, found none"),
        ({"heads": 0}, "heads: expected a whole number of at least 1, found 0"),
        ({"heads": 3, "key_value_heads": 2}, "heads: expected a multiple of the 2 key-value heads, found 3"),
        (
            {"heads": 4, "key_value_heads": 2},
            "query_table: expected a multiple of 4 columns, one part for each head, found 2",
        ),
        ({"query_table": [[1e300], [1e300]], "x": [[1e300, 1.0]], "tokens": None}, "query projection: too large"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    fitting: dict[str, Any] = {"x": EYE, "query_table": EYE, "key_table": EYE, "value_table": EYE, "output_table": EYE}
    with pytest.raises(NumbersError) as error:
        attend_layer(**(fitting | {"tokens": ["a", "b"]} | changes))
    assert str(error.value).startswith(message)
