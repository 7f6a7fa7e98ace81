"""Attention by hand: arrays and masks of every shape and kind, and files of numbers in JSON and CSV."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import SearchStrategy

import heedmap
from heedmap.arithmetic import read_inputs
from tests.fuzz.mutations import damaged, damaged_file, texts
from tests.fuzz.target import Target

_FLOATS = st.floats(width=32) | st.sampled_from((0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, float("nan"), float("inf")))


def _arrays() -> SearchStrategy[Any]:
    """Arrays of up to four dimensions, some of them empty, and what is none."""
    shape = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
    floats = hnp.arrays(np.float64, shape, elements=st.floats(-9, 9)) | hnp.arrays(np.float64, shape, elements=_FLOATS)
    others = hnp.arrays(st.sampled_from((np.int64, np.bool_, np.float16, np.complex64, np.uint8)), shape)
    nested = st.recursive(st.none() | _FLOATS | st.integers() | st.text(max_size=3), st.lists, max_leaves=12)
    return st.one_of(floats, floats, others, nested)


@st.composite
def _fitting(draw: st.DrawFn) -> dict[str, Any]:
    """Query, key, value and mask that mostly fit together."""
    heads, shared = draw(st.sampled_from(((1, 1), (4, 2), (6, 3), (2, 2), (3, 2))))
    queries, keys, dim = (draw(st.integers(1, 5)) for _ in range(3))
    elements = draw(st.sampled_from((st.floats(-9, 9), _FLOATS)))
    shapes = {"query": (heads, queries, dim), "key": (shared, keys, dim), "value": (shared, keys, 3)}
    given = {name: draw(hnp.arrays(np.float64, shape, elements=elements)) for name, shape in shapes.items()}
    masks = st.one_of(
        st.none(),
        hnp.arrays(np.bool_, (queries, keys)),
        hnp.arrays(np.bool_, (heads, queries, keys)),
        hnp.arrays(np.bool_, (keys,)),
        _arrays(),
    )
    return given | {"mask": draw(masks)}


def check_arrays(given: dict[str, Any]) -> None:
    """Rows sum to 1; a query that may look at nothing has no weights (nan)."""
    trace = heedmap.attend(**given)
    some = trace.allowed.any(axis=-1)
    np.testing.assert_allclose(trace.weights.sum(axis=-1), np.where(some, 1.0, np.nan), atol=1e-12)
    assert not trace.weights[some][~trace.allowed[some]].any()
    json.dumps(trace.to_json(), allow_nan=False)


def array_cases() -> tuple[SearchStrategy[Any], Any]:
    """Arrays that fit, and arrays that do not."""
    anything = st.fixed_dictionaries(
        {"query": _arrays(), "key": _arrays(), "value": _arrays()},
        optional={"mask": _arrays(), "causal": st.booleans(), "scale": _FLOATS, "multiply": _FLOATS},
    )
    return _fitting() | anything, check_arrays


_JSON = (
    {"tokens": ["a", "b"], "query": [[1, 0]], "key": [[1, 2], [3, 4]], "value": [[0.5], [1]], "mask": [[True, False]]},
    {"x": [[1, 0], [0, 1], [1, 1]], "mask": [[True, False, False], [True, True, False], [True, True, True]]},
    {
        "x": [[1, 0, 2, 1], [0, 1, 1, 1]],
        **{name: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] for name in ("query_table", "key_table")},
        "value_table": [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]],
        "output_table": [[1, 0], [0, 1], [1, 0], [0, 1]],
        "query_bias": [1, 2, 3, 4],
        "heads": 2,
        "key_value_heads": 2,
    },
)
_CSV = (
    b"token,q1,q2,k1,k2,v1,v2\nThe,,,1,0,0,1\nit,1,2,1,3,1e-3,-4\n",
    b'token,x1,x2\nsun,1,0\nmoon,0,1\n"a, b",2,3\n',
)


def check_numbers(content: bytes) -> None:
    """What can be read can be worked; what comes out is strict JSON."""
    trace = read_inputs(content.decode("utf-8", "replace"), "numbers.json").attend()
    json.dumps(trace.to_json(), allow_nan=False)


def number_cases() -> tuple[SearchStrategy[Any], Any]:
    """Damaged JSON and CSV, and text of any kind."""
    files = [damaged_file(value) for value in _JSON] + [damaged(content, 24) for content in _CSV]
    soup = texts().map(lambda text: text.encode("utf-8", "replace"))
    return st.one_of(*files, soup, soup.map(lambda data: b"token," + data)), check_numbers


TARGETS = (
    Target("arrays", "arrays and masks of every shape, kind and size, worked by hand", array_cases, 100, 20_000),
    Target("numbers", "files of numbers, JSON and CSV, damaged", number_cases, few=60, many=20_000),
)
