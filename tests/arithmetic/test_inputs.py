"""Named vectors and their changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heedmap.arithmetic import Inputs, LayerInputs, attend, example
from heedmap.arithmetic.names import find_token
from heedmap.errors import NumbersError


def test_a_change_leaves_the_original_alone() -> None:
    start = example("bank-river").inputs
    changed = start.with_key("The", [1.5, 1.5]).with_value("the", [9, 9]).with_query("BANK", [3, 3])
    assert changed.key.tolist() == [[2, 0], [1.5, 1.5], [1, 1]]
    assert changed.value.tolist() == [[1, 0], [9, 9], [0.5, 0.5]]
    assert changed.query.tolist() == [[3, 3]]
    assert start.key.tolist() == [[2, 0], [0.2, 0.2], [1, 1]]
    assert start.query.tolist() == [[1, 1]]


def test_a_whole_token_changes_in_every_role_it_has() -> None:
    paris = example("paris").inputs
    asks = paris.with_vector("is", [0.95, 0.05])
    assert asks.query.tolist() == [[0.95, 0.05]]
    assert asks.key[2].tolist() == asks.value[2].tolist() == [0.95, 0.05]
    silent = paris.with_vector("France", [0.5, 0.5])
    assert silent.query.tolist() == [[0.0, 1.0]]
    assert silent.key[1].tolist() == silent.value[1].tolist() == [0.5, 0.5]
    every = example("paris-all").inputs.with_vector("France", [1, 2, 3])
    assert every.query[1].tolist() == every.key[1].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: example("cat").inputs.with_key("dog", [1, 2]), 'no token "dog": expected one of The, cat, sat, it'),
        (
            lambda: example("cat").inputs.with_key("cats", [1, 2]),
            'no token "cats": expected one of The, cat, sat, it; did you mean "cat"?',
        ),
        (lambda: example("cat").inputs.with_key("cat", [1]), 'key of "cat": expected 2 numbers, found 1'),
        (
            lambda: example("cat").inputs.with_value("cat", [1, float("inf")]),
            'value of "cat" number 1: expected a finite number, found inf',
        ),
        (lambda: example("cat").inputs.with_query("The", [1, 2]), 'no word that asks "The": expected one of it'),
        (
            lambda: example("paris-all").inputs.with_query(None, [1, 2, 3]),
            "query: several words ask (capital, France, is, Paris); expected the name of one of them",
        ),
    ],
)
def test_what_does_not_fit_is_named(change: Any, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        change()
    assert str(error.value).startswith(message)


def test_rows_of_several_heads_are_not_changed() -> None:
    ones = np.ones((2, 1, 1))
    with pytest.raises(NumbersError, match=r"^key: expected one head, so that a row can be changed, found 2 heads$"):
        Inputs(("a",), ones, ones, ones, (0,)).with_key("a", [1])


def test_attend_places_the_queries_where_they_stand() -> None:
    vectors = np.array([[1.0], [2.0], [3.0]])
    start = Inputs(("a", "b", "c"), vectors[1:2], vectors, vectors, (1,))
    trace = start.attend(causal=True)
    assert trace.query_tokens == ("b",)
    assert trace.allowed.tolist() == [[True, True, False]]


def test_a_layer_by_name() -> None:
    eye = [[1.0, 0.0], [0.0, 1.0]]
    tables = {"query_table": eye, "key_table": eye, "value_table": eye}
    start = LayerInputs(("a", "b"), np.array(eye), tables, [[True, False], [True, True]])
    trace = start.with_vector("B", [3, 4]).attend(multiply=2)
    x = np.array([[1.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(trace.output, attend(x, x, x, mask=start.mask, multiply=2).output)


def test_tokens_are_found_by_spelling_then_in_any_case_then_by_count() -> None:
    tokens = ["The", "cat", "the", "THE", "a#1", "Straße"]
    assert find_token(tokens, "the") == 2
    assert find_token(tokens, "CAT") == 1
    assert find_token(tokens, "a#1") == 4
    assert find_token(tokens, "STRASSE") == 5
    with pytest.raises(NumbersError, match=r'^token "tHE" stands in rows 0, 2, 3: say which one with tHE#1, tHE#2'):
        find_token(tokens, "tHE")
    assert find_token(tokens, "tHE#3") == 3
    for wrong in ("tHE#4", "tHE#0", "#1", ""):
        with pytest.raises(NumbersError, match=r"^no token"):
            find_token(tokens, wrong)
    assert find_token(["a", "b", "a"], "a#2") == 2
