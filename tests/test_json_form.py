"""The form of JSON files: what is of it passes, and what is not is named by its place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from heedmap.errors import FileError
from heedmap.json_form import Every, Maybe, Only, Times, check_form

FORM = {
    "name": str,
    "figures": Every({"value": (int, float, str, bool, type(None)), "ends": Maybe(Times(2, (float, type(None))))}),
    "parts": [Only({"n": int})],
}
RIGHT: dict[str, Any] = {
    "name": "toy",
    "figures": {"a": {"value": 1.5, "ends": [0, None]}, "b": {"value": True}},
    "parts": [{"n": 3}],
    "more": "is no harm",
}


def test_what_is_of_the_form_passes() -> None:
    check_form(RIGHT, FORM, "report.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "report.json: name: expected a text, found 3"),
        ({"figures": []}, r"report.json: figures: expected an object, found \[\]"),
        ({"figures": {"a": {}}}, "report.json: figures.a: 'value' is missing"),
        ({"figures": {"a": {"value": []}}}, "figures.a.value: expected a whole number or a number or a text or"),
        ({"figures": {"a": {"value": 1, "ends": [1]}}}, "figures.a.ends: expected 2 values, found 1"),
        ({"figures": {"a": {"value": 1, "ends": [1, True]}}}, "ends.1: expected a number or null, found True"),
        ({"parts": [{"n": 3}, {"n": False}]}, "report.json: parts.1.n: expected a whole number, found False"),
        ({"parts": [{"n": 3, "o": 4}]}, "report.json: parts.0: 'o' is not known there: expected n"),
        ({"parts": [{"n": 3.0}]}, "expected a whole number, found 3.0"),
        ({"name": None}, "name: expected a text, found None"),
        ({"parts": [{"n": 10**400}]}, "parts.0.n: expected a whole number, found 1000"),
        ({"figures": {"a": {"value": 1, "ends": [math.nan, 0]}}}, "ends.0: expected a number or null, found nan"),
        ({"figures": {"a": {"value": -math.inf}}}, "figures.a.value: expected .*, found -inf"),
    ],
)
def test_what_is_not_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        check_form({**RIGHT, **changes}, FORM, "report.json")


def test_an_object_was_expected() -> None:
    with pytest.raises(FileError, match=r"run.json: expected an object, found \[1\]"):
        check_form([1], FORM, "run.json")


def test_long_values_are_not_repeated() -> None:
    with pytest.raises(FileError) as raised:
        check_form({**RIGHT, "name": ["x" * 100_000], "parts": []}, FORM, "report.json")
    assert len(str(raised.value)) < 200
