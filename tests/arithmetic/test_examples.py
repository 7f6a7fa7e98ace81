"""The worked examples against their published figures, to the digits published."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heedmap.arithmetic import EXAMPLES, Trace, example
from heedmap.errors import NumbersError


def rounded(values: Any, digits: int) -> list[float]:
    """One query's numbers as they would be written."""
    return [float(f"{value:.{digits}f}") for value in np.ravel(values)]


def exponentials(trace: Trace) -> Any:
    assert trace.exponentials is not None
    return trace.exponentials


def totals(trace: Trace) -> Any:
    assert trace.totals is not None
    return trace.totals


def test_cat_step_by_step() -> None:
    """q = [1, 0.6]: q·k(cat) = 1.0 + 0.48 = 1.48; / sqrt 2 = 1.05; e^1.05 = 2.85; 2.85 / 7.50 = 0.38."""
    trace = example("cat").attend()
    assert trace.query_tokens == ("it",)
    assert trace.key_tokens == ("The", "cat", "sat", "it")
    assert rounded(trace.products, 2) == [0.1, 1.48, 0.74, 0.9]
    assert rounded(trace.scores, 2) == [0.07, 1.05, 0.52, 0.64]
    assert rounded(exponentials(trace), 2) == [1.07, 2.85, 1.69, 1.89]
    assert rounded(totals(trace), 2) == [7.50]
    assert rounded(trace.weights, 2) == [0.14, 0.38, 0.23, 0.25]
    assert rounded(trace.output, 2) == [0.51, 0.37]


def test_cat_without_the_division() -> None:
    trace = example("cat").attend(scale=1.0)
    assert rounded(trace.scores, 2) == [0.1, 1.48, 0.74, 0.9]
    assert rounded(totals(trace), 2) == [10.05]
    assert rounded(trace.weights, 2) == [0.11, 0.44, 0.21, 0.24]


def test_cat_times_eight() -> None:
    trace = example("cat").attend(multiply=8)
    assert rounded(trace.scores, 2) == [0.57, 8.37, 4.19, 5.09]
    assert rounded(trace.weights, 2) == [0.00, 0.95, 0.01, 0.04]


def test_another_query_moves_the_largest_weight_to_sat() -> None:
    trace = example("cat").inputs.with_query(None, [0.0, 1.0]).attend()
    assert trace.key_tokens[int(trace.weights.argmax())] == "sat"


@pytest.mark.parametrize(("name", "output"), [("bank-river", [0.7153, 0.2847]), ("bank-money", [0.2847, 0.7153])])
def test_bank(name: str, output: list[float]) -> None:
    trace = example(name).attend()
    assert trace.key_tokens == (name.removeprefix("bank-"), "the", "bank")
    assert rounded(trace.products, 1) == [2.0, 0.4, 2.0]
    assert rounded(trace.scores, 4) == [1.4142, 0.2828, 1.4142]
    assert rounded(exponentials(trace), 2) == [4.11, 1.33, 4.11]
    assert rounded(totals(trace), 2) == [9.55]
    assert rounded(trace.weights, 4) == [0.4306, 0.1389, 0.4306]
    assert rounded(trace.output, 4) == output


def test_bank_with_another_key_for_the() -> None:
    trace = example("bank-river").inputs.with_key("the", [1.5, 1.5]).attend()
    assert rounded(trace.weights, 3) == [0.248, 0.503, 0.248]
    assert rounded(trace.output, 3) == [0.624, 0.376]


def test_paris_looks_mostly_at_itself() -> None:
    trace = example("paris").attend()
    assert trace.query_tokens == ("is",)
    assert trace.key_tokens[int(trace.weights.argmax())] == "is"
    assert rounded(trace.weights, 3)[2] == 0.494


def test_paris_uses_one_vector_for_all_three_roles() -> None:
    inputs = example("paris").inputs
    assert np.array_equal(inputs.key, [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    assert np.array_equal(inputs.key, inputs.value)
    assert np.array_equal(inputs.key[2:], inputs.query)


def test_paris_all_asks_with_every_word() -> None:
    trace = example("paris-all").attend()
    assert trace.query_tokens == trace.key_tokens
    assert trace.key_tokens[:3] == ("capital", "France", "is")
    assert rounded(trace.weights[1], 3) == [0.304, 0.288, 0.207, 0.200]
    assert np.array_equal(trace.query, trace.key)
    assert np.array_equal(trace.value, trace.key)


def test_an_unknown_example_lists_those_there_are() -> None:
    with pytest.raises(NumbersError) as error:
        example("bank")
    assert str(error.value).startswith(
        'no example "bank": expected one of cat, bank-river, bank-money, paris, paris-all'
    )


def test_names_and_keys_agree() -> None:
    assert list(EXAMPLES) == [item.name for item in EXAMPLES.values()]
