"""What a learner's functions are called with, and what must come out: taken from the published vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.names import listed, nearest
from heedmap.arithmetic.vectors import load_vectors
from heedmap.errors import LessonError

SIGNATURES = {
    "dot_product": "dot_product(a, b)",
    "softmax": "softmax(xs)",
    "weighted_average": "weighted_average(weights, values)",
    "attend": "attend(query, keys, values)",
    "attend_all": "attend_all(queries, keys, values)",
}
"""The functions that can be written, and how they are called."""

ONE_QUERY = ("cat", "bank-river", "bank-money", "paris", "cat-query-0-1", "cat-value-changed", "paris-set-is")
"""Cases of the vectors in which one word asks, with nothing hidden."""


@dataclass(frozen=True, eq=False)
class Case:
    """One call.

    Attributes:
        function: which function.
        arguments: what it is called with.
        steps: what must come out, by step: `result` alone, or `products`, `scores`, `weights`, `output`.
        about: where it is from.
    """

    function: str
    arguments: tuple[Any, ...]
    steps: dict[str, Array]
    about: str

    @property
    def call(self) -> dict[str, Any]:
        """As `sandbox.run_calls` takes it."""
        return {"function": self.function, "arguments": list(self.arguments)}


def cases_of(function: str) -> list[Case]:
    """The cases of one function.

    Raises:
        LessonError: there is no such function to write.

    Example:
        >>> cases_of("softmax")[0].arguments
        ([2.0, 1.0, 0.0],)
    """
    if function not in SIGNATURES:
        raise LessonError(
            f"no function {function!r}: expected one of {listed(SIGNATURES)}{nearest(function, SIGNATURES)}"
        )
    return [case for case in _all_cases() if case.function == function]


@cache
def _all_cases() -> tuple[Case, ...]:
    """Every case there is."""
    vectors = load_vectors()
    return (
        *_tools(vectors["tools"]),
        *_blends(vectors["cases"]),
        *_attend(vectors["cases"]),
        *_attend_all(vectors["cases"]),
    )


def _tools(tools: Sequence[dict[str, Any]]) -> list[Case]:
    """The small tools."""
    found = []
    for tool in tools:
        if tool["tool"] not in SIGNATURES:
            continue
        arguments = [_floats(one) for one in tool["inputs"]]
        if tool["tool"] == "weighted_average":
            arguments.reverse()  # the learner's function takes the weights first
        steps = {"result": np.array(tool["result"], dtype=np.float64)}
        found.append(Case(tool["tool"], tuple(arguments), steps, "the tools"))
    return found


def _blends(cases: Sequence[dict[str, Any]]) -> list[Case]:
    """The last step of the examples, as cases of the weighted average."""
    found = []
    for case in cases:
        if case["name"] in ONE_QUERY:
            weights, output = case["trace"]["weights"][0], case["trace"]["output"][0]
            found.append(
                Case("weighted_average", (weights, case["inputs"]["value"]), {"result": np.array(output)}, case["name"])
            )
    return found


def _attend(cases: Sequence[dict[str, Any]]) -> list[Case]:
    """One query; of the example in which every word asks, each in turn."""
    found = []
    for case in cases:
        inputs = case["inputs"]
        if case["name"] not in (*ONE_QUERY, "paris-all"):
            continue
        for row, query in enumerate(inputs["query"]):
            steps = {name: np.array(case["trace"][name][row]) for name in ("products", "scores", "weights", "output")}
            found.append(Case("attend", (query, inputs["key"], inputs["value"]), steps, case["name"]))
    return found


def _attend_all(cases: Sequence[dict[str, Any]]) -> list[Case]:
    """Every word asks and looks backwards only: an example, and the heads of a layer."""
    found = []
    for case in cases:
        trace, inputs = case["trace"], case["inputs"]
        if case["name"] == "paris-all-causal":
            found.append(_sentence(case["name"], inputs["query"], inputs["key"], inputs["value"], trace))
        if case["name"] == "layer":
            parts = {name: np.array(rows) for name, rows in trace["projections"].items()}
            heads, shared = inputs["heads"], inputs["heads"] // inputs["key_value_heads"]
            width = parts["query"].shape[1] // heads
            for head in range(heads):
                own = slice(head * width, (head + 1) * width)
                group = slice(head // shared * width, (head // shared + 1) * width)
                one = {name: trace[name][head] for name in ("products", "scores", "weights", "output")}
                query, key, value = parts["query"][:, own], parts["key"][:, group], parts["value"][:, group]
                about = f"a layer, head {head}"
                found.append(_sentence(about, query.tolist(), key.tolist(), value.tolist(), one))
    return found


def _sentence(about: str, queries: Any, keys: Any, values: Any, trace: dict[str, Any]) -> Case:
    """A causal case; a hidden word has the weight 0."""
    weights = np.array([[0.0 if one is None else one for one in row] for row in trace["weights"]])
    return Case("attend_all", (queries, keys, values), {"weights": weights, "output": np.array(trace["output"])}, about)


def _floats(value: Any) -> Any:
    """Nested lists with every number a float, as Python writes it."""
    return [_floats(one) for one in value] if isinstance(value, list) else float(value)
