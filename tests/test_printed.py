"""Outputs that differ by rounding alone are alike, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.printed import alike, assert_same_json


@pytest.mark.parametrize(
    ("printed", "committed"),
    [
        ("trophy 0.565 ██", "trophy 0.566 ██"),
        ("trophy 0.565 ██▎", "trophy 0.565 ██▏"),
        ("  0.00  it", " -0.00  it"),
        ("off by 2.1e-07", "off by 1.8e-06"),
        ("chance 1.2e-03", "chance 1.3e-03"),
        ("6% of them", "5% of them"),
    ],
)
def test_rounding_moves_the_last_digit(printed: str, committed: str) -> None:
    assert alike(printed, committed)


@pytest.mark.parametrize(
    ("printed", "committed"),
    [
        ("trophy 0.565 ██", "trophy 0.567 ██"),
        ("trophy 0.565 ██▎", "trophy 0.565 ██"),
        ("trophy 0.565", "suitcase 0.565"),
        ("trophy 0.565", "trophy 0.565 0.565"),
        ("off by 2.1e-07", "off by 2.1e-03"),
        ("chance 1.2e-03", "chance 1.4e-03"),
        ("7% of them", "5% of them"),
        ("2 of them", "3 of them"),
    ],
)
def test_more_than_that_is_another_output(printed: str, committed: str) -> None:
    assert not alike(printed, committed)


def test_json_is_the_same_but_for_rounding() -> None:
    assert_same_json({"a": [1.0, None, "b", 3]}, {"a": [1.000001, None, "b", 3]})
    others: list[Any] = [{"a": [1.0001]}, {"a": [None]}, {"a": []}, {"b": [1.0]}, {"a": {}}, [1.0]]
    for found in others:
        with pytest.raises(AssertionError):
            assert_same_json(found, {"a": [1.0]})
    with pytest.raises(AssertionError):
        assert_same_json(3, 4)
