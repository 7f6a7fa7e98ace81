"""Numbers from people: what is taken, and how what is wrong is named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from heedmap.arithmetic import checks
from heedmap.errors import NumbersError


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "key: expected a list of rows of numbers, found nothing (null)"),
        ("abc", 'key: expected a list of rows of numbers, found the text "abc"'),
        ({"a": 1}, "key: expected a list of rows of numbers, found a dict"),
        (5, "key: expected a list of rows of numbers or a list of heads, each a list of rows, found a single number"),
        ([], "key: expected at least one row, found an empty list"),
        ([[]], 'key row 0 ("The"): expected at least one number, found an empty list'),
        ([[1, 2], []], 'key row 1 ("cat"): expected 2 numbers as in row 0, found an empty list'),
        ([[1, 2], [1]], 'key row 1 ("cat"): expected 2 numbers as in row 0, found 1'),
        ([[1, 2], 3], 'key row 1 ("cat"): expected a list of 2 numbers, found the number 3'),
        ([[1, 2], [3, [4]]], 'key row 1 ("cat"), number 1: expected a number, found a list of 1'),
        ([[1, 2], [3, "x"]], 'key row 1 ("cat"), number 1: expected a number, found the text "x"'),
        ([[1, 2], [3, None]], 'key row 1 ("cat"), number 1: expected a number, found nothing (null)'),
        ([[1, 2], [3, True]], 'key row 1 ("cat"), number 1: expected a number, found the truth value true'),
        ([[1, 2], [3, 1j]], 'key row 1 ("cat"), number 1: expected a number, found a complex'),
        ([[1, 2], [3, 10**400]], 'key row 1 ("cat"), number 1: expected a number below 1e308, found a larger one'),
        ([[1, 2], [3, math.nan]], 'key row 1 ("cat"), number 1: expected a finite number, found nan'),
        (np.array([[1, 2], [-np.inf, 1]]), 'key row 1 ("cat"), number 0: expected a finite number, found -inf'),
        ([[[1], [2]], [[1]]], "key head 1: expected 2 rows as in head 0, found 1"),
        ([[[1], [2]], [[1], ["x"]]], 'key head 1, row 1 ("cat"), number 0: expected a number, found the text "x"'),
        ([[1, 2], [1, 2, 3], [4, 5]], 'key row 1 ("cat"): expected 2 numbers as in row 0, found 3'),
        ([[1], [2], [3, 4]], "key row 2: expected 1 numbers as in row 0, found 2"),
        ([1, 2], "key: expected a list of rows of numbers or a list of heads, each a list of rows, found 1 axes"),
        ([[[[1]]]], "key: expected a list of rows of numbers or a list of heads, each a list of rows, found 4 axes"),
        (np.array([["a"]]), "key: expected real numbers, found <U1 values"),
        (np.array([[True]]), "key: expected real numbers, found bool values"),
        (np.ones((0, 2)), "key: expected at least one number in every row, found the shape (0, 2)"),
        ([["a\nb\x1b"]], 'key row 0 ("The"), number 0: expected a number, found the text "a\\nb\\x1b"'),
    ],
)
def test_what_is_wrong_is_named(data: Any, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        checks.array("key", data, least=2, labels=["The", "cat"])
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "data",
    [[[1, 2.5]], ((1, 2.5),), np.array([[1, 2.5]]), np.array([[1, 2.5]], dtype=np.float32), [np.array([1, 2.5])]],
)
def test_all_of_these_are_numbers(data: Any) -> None:
    result = checks.array("key", data, least=2)
    assert result.dtype == np.float64
    assert result.tolist() == [[1, 2.5]]


def test_a_torch_tensor_is_an_array() -> None:
    assert checks.array("key", torch.tensor([[1.0, 2.5]])).tolist() == [[1, 2.5]]


def test_large_whole_numbers_are_numbers() -> None:
    assert checks.array("key", [10**30, 1]).tolist() == [1e30, 1]


@pytest.mark.parametrize("text", ["abc", "", "1,5", "nan", "inf", "-Infinity", "1_0", "1e999", "0x1"])
def test_text_that_is_no_number(text: str) -> None:
    with pytest.raises(NumbersError, match=r"^line 2, column k1: expected a (finite )?number"):
        checks.parse("line 2, column k1", text)


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), (" -0.5 ", -0.5), ("1e-3", 0.001)])
def test_text_that_is_a_number(text: str, value: float) -> None:
    assert checks.parse("here", text) == value


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2", None])
def test_what_is_no_count(value: Any) -> None:
    with pytest.raises(NumbersError, match=r"^heads: expected a whole number of at least 1, found"):
        checks.whole("heads", value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[True], [True, False]], "mask row 1: expected 1 numbers as in row 0, found 2"),
        ([True, 1], "mask number 1: expected true or false (true = may look), found the number 1"),
        (
            [[True, True], [True, False]],
            "mask: expected 1 rows (queries) of 2 (keys), or such rows for each of 3 heads",
        ),
    ],
)
def test_a_mask_that_does_not_fit(data: Any, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        checks.mask(data, (3, 1, 2))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("data", [[True, False], [[True, False]], [[[True, False]]], [[[True, False]]] * 3])
def test_a_mask_is_stretched(data: Any) -> None:
    assert checks.mask(data, (3, 1, 2)).tolist() == [[[True, False]]] * 3
