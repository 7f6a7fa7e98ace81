"""Attention by hand: arrays and masks of every shape and kind, and files of numbers in JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import SearchStrategy

import heedmap
from heedmap.arithmetic import read_inputs
from tests.fuzz.mutations import damaged, damaged_file, letters, same_json, texts, with_sound
from tests.fuzz.target import Target, answers

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


Floats = npt.NDArray[np.float64]


def plain_attention(query: Floats, key: Floats, value: Floats, mask: Any = None) -> Floats:
    """What is blended: [head, query, dim] each, with as many key heads as query heads or a part of them."""
    key, value = (np.repeat(one, len(query) // len(one), axis=0) for one in (key, value))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ value)


def _drawn(draw: st.DrawFn, *shape: int) -> Floats:
    numbers = st.integers(-5, 5).map(float) | st.floats(-9, 9)
    return np.asarray(draw(hnp.arrays(np.float64, shape, elements=numbers)))


@st.composite
def _sound_json(draw: st.DrawFn) -> tuple[bytes, Floats]:
    """Vectors of one or several heads in JSON, and what comes out."""
    count = draw(st.integers(1, 5))
    asking, dim, (heads, shared) = (
        draw(st.integers(1, count)), draw(st.integers(1, 4)), draw(st.sampled_from(((1, 1), (2, 1), (2, 2))))
    )  # fmt: skip
    query, key, value = (
        _drawn(draw, heads, asking, dim), _drawn(draw, shared, count, dim), _drawn(draw, shared, count, 2)
    )  # fmt: skip
    mask = draw(hnp.arrays(np.bool_, (asking, count)))
    mask[:, draw(st.integers(0, count - 1))] = True
    whole = {"query": query, "key": key, "value": value, "mask": mask}
    given: dict[str, Any] = {name: one[0] if heads == 1 and one.ndim == 3 else one for name, one in whole.items()}
    written = {name: one.tolist() for name, one in given.items()}
    if draw(st.booleans()):
        written["tokens"] = draw(st.lists(st.text(st.characters(codec="utf-8")), min_size=count, max_size=count))
    expected = plain_attention(query, key, value, mask)
    return draw(same_json(written)), expected[0] if heads == 1 else expected


@st.composite
def _sound_layer(draw: st.DrawFn) -> tuple[bytes, Floats]:
    """A layer's vectors and tables in JSON, and what comes out."""
    count, width, heads = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.sampled_from((1, 2)))
    x, output = _drawn(draw, count, width), _drawn(draw, 2 * heads, 2)
    tables = {role: _drawn(draw, width, 2 * heads) for role in ("query", "key", "value")}
    parts = (np.stack(np.split(x @ table, heads, axis=1)) for table in tables.values())
    final = np.concatenate(list(plain_attention(*parts)), axis=1) @ output
    written = {f"{role}_table": table.tolist() for role, table in (*tables.items(), ("output", output))}
    return draw(same_json(written | {"x": x.tolist(), "heads": heads})), final


@st.composite
def _sound_csv(draw: st.DrawFn) -> tuple[bytes, Floats]:
    """A row a token in CSV, some of which do not ask, with its columns in any order; and what comes out."""
    count, dim = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    roles = draw(st.sampled_from(("x", "qkv")))
    drawn = {role: _drawn(draw, count, dim) for role in roles}
    asks = draw(hnp.arrays(np.bool_, (count,))) if "q" in roles else np.ones(count, dtype=bool)
    asks[draw(st.integers(0, count - 1))] = True
    columns = draw(st.permutations([(role, number) for role in roles for number in range(dim)]))
    written = io.StringIO()
    writer = csv.writer(
        written, quoting=csv.QUOTE_NONNUMERIC, lineterminator=draw(st.sampled_from(("\n", "\r\n", "\n\n")))
    )
    writer.writerow(["token", *(f"{role}{number + 1}" for role, number in columns)])
    for row in range(count):
        cells = [
            drawn[role][row, number] if role != "q" or asks[row] else "" for role, number in columns
        ]  # fmt: skip
        writer.writerow([draw(letters()), *cells])
    query, key, value = (drawn[role if role in drawn else "x"][None] for role in "qkv")
    return written.getvalue().encode(), plain_attention(query[:, asks], key, value)[0]


def check_numbers(case: bytes | tuple[bytes, Floats]) -> None:
    """What can be read can be worked; what comes out is strict JSON, and right where it is known."""
    content, expected = (case, None) if isinstance(case, bytes) else case
    with answers(sound=expected is not None):
        trace = read_inputs(content.decode("utf-8", "replace"), "numbers.json").attend()
    json.dumps(trace.to_json(), allow_nan=False)
    if expected is not None:
        found = trace.output if trace.layer is None else trace.final
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)  # of float64, scores to about 1e3


def number_cases() -> tuple[SearchStrategy[Any], Any]:
    """Sound files, damaged JSON and CSV, and text of any kind."""
    files = [damaged_file(value) for value in _JSON] + [damaged(content, 24) for content in _CSV]
    soup = texts().map(lambda text: text.encode("utf-8", "replace"))
    sound = _sound_json() | _sound_layer() | _sound_csv()
    return with_sound(sound, st.one_of(*files, soup, soup.map(lambda data: b"token," + data))), check_numbers


TARGETS = (
    Target("arrays", "arrays and masks of every shape, kind and size, worked by hand", array_cases, 100, 20_000),
    Target("numbers", "files of numbers, JSON and CSV: sound and damaged", number_cases, few=60, many=20_000),
)
