"""The test vectors: up to date, complete, and met by an implementation that shares no code with ours."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from heedmap.arithmetic.vectors import load_vectors, make_vectors, write_vectors
from tests.printed import assert_same_json

VECTORS = load_vectors()
NAMES = [case["name"] for case in VECTORS["cases"]]


def close(found: Any, expected: Any, where: str) -> None:
    """Equal but for the vectors' own tolerance."""
    assert_same_json(found, expected, VECTORS["tolerance"], where)


def test_the_file_is_what_is_calculated_now() -> None:
    close(make_vectors(), VECTORS, "vectors")


def test_the_file_is_strict_json_and_written_as_the_documented_command_writes_it(tmp_path: Path) -> None:
    written = tmp_path / "vectors.json"
    write_vectors(written)
    content = files("heedmap.arithmetic").joinpath("vectors.json").read_text(encoding="utf-8")
    assert "NaN" not in content
    assert "Infinity" not in content
    close(json.loads(written.read_text(encoding="utf-8")), json.loads(content), "vectors")
    assert len(written.read_text(encoding="utf-8").splitlines()) == len(content.splitlines())


def test_every_kind_of_case_is_there() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) >= {
        "cat",
        "bank-river",
        "bank-money",
        "paris",
        "paris-all",
        "cat-no-scale",
        "cat-no-softmax",
        "cat-multiply-8",
        "cat-query-0-1",
        "bank-river-key-the-1.5",
        "paris-all-causal",
        "paris-all-mask",
        "grouped-heads-14-on-2",
        "layer",
        "scores-of-900",
        "dead-row",
    }
    assert {tool["tool"] for tool in VECTORS["tools"]} == {
        "dot_product",
        "matrix_product",
        "transpose",
        "softmax",
        "weighted_average",
    }


# An implementation in plain Python, by the words of the file's "about" alone.


def dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def by_table(rows: list[list[float]], table: list[list[float]], bias: list[float] | None) -> list[list[float]]:
    columns = [list(column) for column in zip(*table, strict=True)]
    added = bias or [0.0] * len(columns)
    return [[dot(row, column) + more for column, more in zip(columns, added, strict=True)] for row in rows]


def depth(value: Any) -> int:
    return 1 + depth(value[0]) if isinstance(value, list) else 0


def plain_row(
    query: list[float], key: list[list[float]], value: list[list[float]], allowed: list[bool], settings: dict[str, Any]
) -> dict[str, Any]:
    """All steps of one query in one head."""
    scale = settings.get("scale", 1 / math.sqrt(len(query)))
    open_keys = [index for index, one in enumerate(allowed) if one]
    products = {index: dot(query, key[index]) for index in open_keys}
    scores = {index: product * scale * settings.get("multiply", 1) for index, product in products.items()}
    shift, total, exponentials = 0.0, None, None
    weights = scores
    if settings.get("softmax", True):
        largest = max(scores.values(), default=0)
        shift = largest if abs(largest) > 500 else 0.0
        exponentials = {index: math.exp(score - shift) for index, score in scores.items()}
        total = sum(exponentials.values()) if exponentials else None
        weights = {index: one / total for index, one in exponentials.items()} if total else {}
    output = [
        sum(weights[index] * value[index][column] for index in open_keys) if open_keys else None
        for column in range(len(value[0]))
    ]

    def row(step: dict[int, float]) -> list[float | None]:
        return [step.get(index) for index in range(len(key))]

    return {
        "products": row(products),
        "scores": row(scores),
        "exponentials": None if exponentials is None else row(exponentials),
        "weights": row(weights),
        "output": output,
        "shift": shift,
        "totals": total,
    }


def plain_attention(inputs: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The steps of all heads and queries."""
    query, key, value = inputs["query"], inputs["key"], inputs["value"]
    several = max(depth(query), depth(key), depth(value)) == 3
    query, key, value = (part if depth(part) == 3 else [part] for part in (query, key, value))
    count, keys, mask = len(query[0]), len(key[0]), settings.get("mask")
    positions = settings.get("query_positions", list(range(keys - count, keys)))
    heads = []
    for head, queries in enumerate(query):
        rows = []
        shared = head * len(key) // len(query)
        for index, one in enumerate(queries):
            allowed = [not settings.get("causal") or place <= positions[index] for place in range(keys)]
            if mask is not None:
                of_head = mask[head] if depth(mask) == 3 else mask
                allowed = [a and b for a, b in zip(allowed, of_head[index], strict=True)]
            rows.append(plain_row(one, key[shared], value[shared], allowed, settings))
        heads.append({step: [row[step] for row in rows] for step in rows[0]})
    steps: dict[str, Any] = {step: [head[step] for head in heads] if several else heads[0][step] for step in heads[0]}
    if not settings.get("softmax", True):
        steps["exponentials"] = steps["totals"] = None
    return steps


def split(rows: list[list[float]], heads: int) -> list[list[list[float]]]:
    width = len(rows[0]) // heads
    return [[row[head * width : (head + 1) * width] for row in rows] for head in range(heads)]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=NAMES)
def test_plain_python_meets_them(case: dict[str, Any]) -> None:
    inputs, settings, trace = case["inputs"], case["settings"], case["trace"]
    if "x" in inputs:
        projections = {
            name: by_table(inputs["x"], inputs[f"{name}_table"], inputs[f"{name}_bias"])
            for name in ("query", "key", "value")
        }
        close(projections, trace["projections"], "projections")
        counts = {"query": inputs["heads"], "key": inputs["key_value_heads"], "value": inputs["key_value_heads"]}
        steps = plain_attention({name: split(rows, counts[name]) for name, rows in projections.items()}, settings)
        joined = [list(chain(*parts)) for parts in zip(*steps["output"], strict=True)]
        close(joined, trace["joined"], "joined")
        close(by_table(joined, inputs["output_table"], inputs["output_bias"]), trace["final"], "final")
    else:
        steps = plain_attention(inputs, settings)
    for step in ("products", "scores", "exponentials", "weights", "output"):
        close(steps[step], trace[step], step)
    close(steps["totals"], case["totals"], "totals")
    if "shift" in trace:
        close(steps["shift"], trace["shift"], "shift")
