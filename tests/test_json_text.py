"""JSON from anywhere: the values of Python's own parser, and one kind of error for all that is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.json_text import parse_json

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(VALUES, st.booleans())
def test_what_can_be_written_is_read_as_it_is(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        (b"\xff{}", "codec can't decode"),
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ("[" + "1" * 4301 + "]", "more than 4,300 digits"),
        (r'{"text": "\ud800"}', "half of a surrogate pair"),
        (r'{"\uDC00": 1}', "half of a surrogate pair"),
    ],
)
def test_all_that_is_wrong_is_a_value_error(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_json_does_not_know_is_refused_where_asked(name: str) -> None:
    assert str(parse_json(f"[{name}]")[0]) in ("nan", "inf", "-inf")
    with pytest.raises(ValueError, match=f"{name} is no number of JSON"):
        parse_json(f"[{name}]", strict=True)


def test_whole_pairs_are_letters() -> None:
    assert parse_json(r'"\ud83d\ude00"') == "😀"
