"""Test vectors: the steps' numbers, written once, that every implementation of the arithmetic must meet.

`vectors.json` beside this file holds them at full float64 precision: for each case its inputs, its settings and
the trace in the form of `Trace.to_json` with the totals added; and the small tools. Another implementation (the
browser's, the model reader's) runs the inputs and compares, within the tolerance the file names.

Write the file anew after a change that is meant: `python -m heedmap.arithmetic.vectors`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from heedmap.arithmetic.attention import attend
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.examples import EXAMPLES
from heedmap.arithmetic.inputs import Inputs
from heedmap.arithmetic.layer import attend_layer
from heedmap.arithmetic.tools import dot_product, matrix_product, softmax, transpose, weighted_average
from heedmap.arithmetic.trace import Trace

SCHEMA = "heedmap/vectors/1"
FILE = "vectors.json"

TOLERANCE = 1e-12
"""Relative, and absolute below 1: sums in another order and other exponential functions differ by some 1e-15."""

ABOUT = (
    "Attention by hand. Run each case's inputs with its settings (absent = default) and compare with its trace. "
    "Axes: head (only where the inputs have it), query, key, dim. scores = products * scale * multiply; "
    "exponentials = exp(scores - shift), shift 0 where absent; weights = exponentials / totals; output = weights "
    "times values. A query head uses key-value head floor(head * key-value heads / heads). null: a query may not look "
    "there, or may look at nothing. In a mask true = may look. Causal: query i of n stands at query_positions[i]."
)


def load_vectors() -> dict[str, Any]:
    """The test vectors as the package carries them.

    Returns:
        `schema`, `about`, `tolerance`, `cases` (each with `name`, `inputs`, `settings`, `trace`, `totals`) and
        `tools` (each with `tool`, `inputs`, `result` and for softmax its steps).

    Example:
        >>> load_vectors()["cases"][0]["name"]
        'cat'
    """
    content: dict[str, Any] = json.loads(files("heedmap.arithmetic").joinpath(FILE).read_text(encoding="utf-8"))
    return content


def make_vectors() -> dict[str, Any]:
    """The test vectors calculated now."""
    return {
        "schema": SCHEMA,
        "about": ABOUT,
        "tolerance": TOLERANCE,
        "cases": [*_example_cases(), *_changed_cases(), *_masked_cases(), *_head_cases(), *_extreme_cases(), _layer()],
        "tools": _tools(),
    }


def write_vectors(path: Path) -> None:
    """Calculate the test vectors and write them, one line for each step so that a change can be read."""
    content = make_vectors()
    lines = [f'  "{key}": {_line(content[key])},' for key in ("schema", "about", "tolerance")]
    for key in ("cases", "tools"):
        lines.append(f'  "{key}": [')
        lines += [",\n".join(_entry(item) for item in content[key])]
        lines.append("  ]," if key == "cases" else "  ]")
    path.write_text("\n".join(["{", *lines, "}"]) + "\n", encoding="utf-8")


def _entry(item: dict[str, Any]) -> str:
    """One case or tool as text, its parts and their parts on lines of their own."""
    parts = []
    for key, value in item.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"        {_line(name)}: {_line(part)}" for name, part in value.items())
            parts.append(f"      {_line(key)}: {{\n{inner}\n      }}")
        else:
            parts.append(f"      {_line(key)}: {_line(value)}")
    return "    {\n" + ",\n".join(parts) + "\n    }"


def _line(value: Any) -> str:
    """Strict JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _case(name: str, inputs: dict[str, Any], settings: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """One case: what goes in and what must come out."""
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in inputs.items()}
    return {"name": name, "inputs": plain, "settings": settings, "trace": trace.to_json(), "totals": _totals(trace)}


def _totals(trace: Trace) -> Any:
    """The sums of the exponentials as lists, `None` where there are none."""
    if trace.totals is None:
        return None
    totals = trace.totals.astype(object)
    totals[np.isnan(trace.totals)] = None
    return totals.tolist()


def _attend_case(name: str, query: Any, key: Any, value: Any, **settings: Any) -> dict[str, Any]:
    """A case of `attend`; the settings are its keyword arguments."""
    inputs = {"query": query, "key": key, "value": value}
    return _case(name, inputs, settings, attend(query, key, value, **settings))


def _inputs_case(name: str, inputs: Inputs, **settings: Any) -> dict[str, Any]:
    """A case of named vectors."""
    named = {"key_tokens": list(inputs.tokens), "query_positions": list(inputs.asking)}
    return _attend_case(name, inputs.query, inputs.key, inputs.value, **named, **settings)


def _example_cases() -> list[dict[str, Any]]:
    """Every worked example as it stands."""
    return [_inputs_case(name, item.inputs) for name, item in EXAMPLES.items()]


def _changed_cases() -> list[dict[str, Any]]:
    """Other settings, and other vectors in one place."""
    cat, river = EXAMPLES["cat"].inputs, EXAMPLES["bank-river"].inputs
    return [
        _inputs_case("cat-no-scale", cat, scale=1.0),
        _inputs_case("cat-no-softmax", cat, softmax=False),
        _inputs_case("cat-multiply-8", cat, multiply=8.0),
        _inputs_case("cat-query-0-1", cat.with_query(None, [0.0, 1.0])),
        _inputs_case("cat-value-changed", cat.with_value("sat", [-0.5, 2.0])),
        _inputs_case("bank-river-key-the-1.5", river.with_key("the", [1.5, 1.5])),
        _inputs_case("paris-set-is", EXAMPLES["paris"].inputs.with_vector("is", [0.95, 0.05])),
    ]


def _masked_cases() -> list[dict[str, Any]]:
    """Keys that may not be looked at, one by one, causally, and all of them."""
    cat, every = EXAMPLES["cat"].inputs, EXAMPLES["paris-all"].inputs
    some = [
        [True, False, True, True],
        [True, True, False, False],
        [False, True, True, False],
        [False, False, True, True],
    ]
    dead = [[True, True, False, False], [False] * 4, [True] * 4, [False, False, False, True]]
    return [
        _inputs_case("cat-causal", cat, causal=True),
        _inputs_case("paris-all-causal", every, causal=True),
        _inputs_case("paris-all-mask", every, mask=some),
        _inputs_case("paris-all-mask-causal", every, mask=some, causal=True),
        _inputs_case("paris-all-mask-no-softmax", every, mask=some, softmax=False),
        _inputs_case("dead-row", every, mask=dead),
        _inputs_case("dead-row-no-softmax", every, mask=dead, softmax=False),
        _attend_case("causal-queries-in-the-middle", *_three(2, 5, 2), causal=True, query_positions=[1, 3]),
    ]


def _head_cases() -> list[dict[str, Any]]:
    """Several heads, and several query heads on fewer key-value heads."""
    mask = [[[True, True, True], [True, False, True]], [[False, True, True], [True, True, True]]]
    return [
        _attend_case("two-heads", *_three((2, 2), (2, 3), 3)),
        _attend_case("two-heads-mask", *_three((2, 2), (2, 3), 3), mask=mask),
        _attend_case("grouped-heads-14-on-2", *_three((14, 2), (2, 3), 4), causal=True),
        _attend_case("four-heads-share-one-key", *_three((4, 2), 3, 2)),
        _attend_case("value-of-another-width", _waves((2, 3), 1), _waves((4, 3), 2), _waves((4, 5), 3)),
    ]


def _extreme_cases() -> list[dict[str, Any]]:
    """Scores beyond what exp can take, either way, and scores of 500, where it still can."""
    value = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    return [
        _attend_case("scores-of-900", [[30.0, 0.0]], [[30.0, 1.0], [29.95, 2.0], [-30.0, 0.0]], value, scale=1.0),
        _attend_case("scores-of-minus-900", [[-30.0, 0.0]], [[30.0, 1.0], [29.95, 2.0], [31.0, 0.0]], value, scale=1.0),
        _attend_case("scores-of-500", [[25.0, 0.0]], [[20.0, 1.0], [19.9, 2.0], [-20.0, 0.0]], value, scale=1.0),
        _attend_case(
            "only-one-row-of-900",
            [[30.0, 0.0], [0.1, 0.2]],
            [[30.0, 1.0], [29.95, 2.0], [-30.0, 0.0]],
            value,
            scale=1.0,
            causal=True,
        ),
    ]


def _layer() -> dict[str, Any]:
    """A whole layer: four query heads on two key-value heads, biases, an output table, causal."""
    inputs: dict[str, Any] = {
        "x": _waves((3, 4), 1),
        "query_table": _waves((4, 8), 2),
        "key_table": _waves((4, 4), 3),
        "value_table": _waves((4, 4), 4),
        "output_table": _waves((8, 4), 5),
        "heads": 4,
        "key_value_heads": 2,
        "query_bias": _waves((8,), 6),
        "key_bias": _waves((4,), 7),
        "value_bias": _waves((4,), 8),
        "output_bias": _waves((4,), 9),
    }
    settings: dict[str, Any] = {"causal": True, "tokens": ["The", "cat", "sat"]}
    return _case("layer", inputs, settings, attend_layer(**inputs, **settings))


def _tools() -> list[dict[str, Any]]:
    """The small tools with the figures of the lessons."""
    key = [[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]
    turned = transpose(key).result
    pairs: list[tuple[list[float], list[float]]] = [
        ([2, 1, 0], [3, 1, 4]),
        ([1, 2, 1], [2, 0, 3]),
        ([1, 0], [1, 0]),
        ([1, 0], [0, 1]),
        ([1, 0], [-1, 0]),
    ]
    matrices: list[tuple[Any, Any]] = [([[1, 2], [3, 4]], [[5, 6], [7, 8]]), (key, turned.tolist())]
    averages: list[tuple[Any, list[float]]] = [([10, 20, 40], [0.5, 0.25, 0.25]), ([[1, 0], [0, 2]], [0.25, 0.75])]
    return [
        *({"tool": "dot_product", "inputs": [a, b], "result": dot_product(a, b).result} for a, b in pairs),
        *(
            {"tool": "matrix_product", "inputs": [a, b], "result": matrix_product(a, b).result.tolist()}
            for a, b in matrices
        ),
        {"tool": "transpose", "inputs": [key], "result": turned.tolist()},
        *(_softmax(scores) for scores in ([2, 1, 0], [3, 1, 1], [1, 2, 3], [900, 899, 0], [-900, -899])),
        *(
            {"tool": "weighted_average", "inputs": [a, b], "result": weighted_average(a, b).result.tolist()}
            for a, b in averages
        ),
    ]


def _softmax(scores: Sequence[float]) -> dict[str, Any]:
    """Softmax with its steps."""
    done = softmax(scores)
    steps = {"shift": done.shift, "exponentials": done.exponentials.tolist(), "total": done.total}
    return {"tool": "softmax", "inputs": [list(scores)], "steps": steps, "result": done.weights.tolist()}


def _three(query: int | tuple[int, int], key: int | tuple[int, int], dim: int) -> tuple[Array, Array, Array]:
    """A query, a key and a value of these sizes (rows, or heads and rows)."""
    queries = (query,) if isinstance(query, int) else query
    keys = (key,) if isinstance(key, int) else key
    return _waves((*queries, dim), 1), _waves((*keys, dim), 2), _waves((*keys, dim), 3)


def _waves(shape: tuple[int, ...], seed: int) -> Array:
    """Numbers that look random, have two digits, and are the same on every machine and for ever."""
    count = int(np.prod(shape))
    # Whole-number arithmetic only, so that no library's generator or sine can change them.
    values = [((index * 37 + seed * 61 + index * index * 11) % 199 - 99) / 50 for index in range(count)]
    return np.array(values, dtype=np.float64).reshape(shape)


if __name__ == "__main__":
    target = Path(__file__).with_name(FILE)
    write_vectors(target)
