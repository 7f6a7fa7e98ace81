"""The trace: its JSON form, its heads, what it says of itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

from heedmap.arithmetic import attend, attend_layer, example
from heedmap.errors import OutOfRange

ALWAYS = [
    "schema",
    "query_tokens",
    "key_tokens",
    "products",
    "scale",
    "scores",
    "exponentials",
    "weights",
    "output",
]


def test_json_has_the_nine_entries_in_order() -> None:
    result = example("cat").attend().to_json()
    assert list(result) == ALWAYS
    assert result["schema"] == "heedmap/trace/1"
    assert result["query_tokens"] == ["it"]
    assert result["key_tokens"] == ["The", "cat", "sat", "it"]
    assert result["scale"] == pytest.approx(2**-0.5, rel=1e-15)
    assert np.shape(result["products"]) == np.shape(result["weights"]) == (1, 4)
    assert np.shape(result["output"]) == (1, 2)


def test_json_is_strict_and_loses_nothing() -> None:
    trace = attend(np.random.default_rng(0).normal(size=(2, 3, 4)), np.ones((2, 3, 4)), np.ones((2, 3, 4)), causal=True)
    again = json.loads(json.dumps(trace.to_json(), allow_nan=False))
    weights = np.array(again["weights"], dtype=np.float64)
    np.testing.assert_array_equal(np.isnan(weights), ~trace.allowed)
    np.testing.assert_array_equal(weights[trace.allowed], trace.weights[trace.allowed])


def test_json_has_a_head_axis_when_the_numbers_had() -> None:
    ones = np.ones((2, 3, 4))
    assert np.shape(attend(ones, ones, ones).to_json()["weights"]) == (2, 3, 3)
    assert np.shape(attend(ones[0], ones[0], ones[0]).to_json()["weights"]) == (3, 3)


def test_forbidden_is_null_in_every_step() -> None:
    result = example("paris-all").attend(causal=True).to_json()
    for step in ("products", "scores", "exponentials", "weights"):
        assert [[cell is None for cell in row] for row in result[step]] == [
            [False, True, True, True],
            [False, False, True, True],
            [False, False, False, True],
            [False, False, False, False],
        ]


def test_a_row_that_may_look_at_nothing_is_null() -> None:
    result = attend(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 3)), mask=[[False, False], [True, True]]).to_json()
    assert result["weights"] == [[None, None], [0.5, 0.5]]
    assert result["output"] == [[None, None, None], [1, 1, 1]]


def test_json_adds_what_applies() -> None:
    cat = example("cat")
    assert cat.attend(softmax=False).to_json()["exponentials"] is None
    assert cat.attend(multiply=8).to_json()["multiply"] == 8
    shifted = attend([[900.0], [1.0]], [[1.0]], [[1.0]], scale=1.0).to_json()
    assert shifted["shift"] == [900, 0]
    eye = np.eye(2)
    layer = attend_layer(eye, eye, eye, eye, eye, mask=[[False, False], [True, True]]).to_json()
    assert list(layer) == [*ALWAYS, "projections", "joined", "final"]
    assert layer["projections"] == {"query": eye.tolist(), "key": eye.tolist(), "value": eye.tolist()}
    assert layer["final"][0] == [None, None]


def test_one_head_alone() -> None:
    random = np.random.default_rng(0)
    trace = attend(random.normal(size=(4, 2, 3)), random.normal(size=(2, 5, 3)), random.normal(size=(2, 5, 3)))
    for head, shared in enumerate([0, 0, 1, 1]):
        one = trace.head(head)
        assert not one.has_heads
        np.testing.assert_array_equal(one.key, trace.key[shared])
        np.testing.assert_array_equal(one.value, trace.value[shared])
        np.testing.assert_array_equal(one.weights, trace.weights[head])
        # What is kept of the head works out to the same numbers by itself.
        np.testing.assert_allclose(attend(one.query, one.key, one.value).output, trace.output[head], rtol=1e-12)
        assert one.head(0).weights is one.weights
    for head in (4, -1):
        with pytest.raises(OutOfRange, match=r"^head -?\d: expected a head from 0 to 3$"):
            trace.head(head)


def test_it_says_what_it_is() -> None:
    assert repr(example("cat").attend()) == "Trace(heads=1, queries=1, keys=4, dim=2)"
