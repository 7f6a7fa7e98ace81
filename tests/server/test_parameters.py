"""What an endpoint takes: right values pass unchanged, wrong ones are refused with what would have been right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedmap.server.parameters import Flag, Integer, Options, Parameter, Refused, Text, check_all

ALL: tuple[Parameter, ...] = (
    Text(name="text", says="a text", longest=5),
    Integer(name="number", says="a number", least=-3, most=7),
    Flag(name="flag", says="a flag", optional=True),
    Options(name="options", says="settings", optional=True),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text(min_size=1, max_size=5), st.integers(-3, 7), st.none() | st.booleans())
def test_right_values_pass(text: str, number: int, flag: bool | None) -> None:
    given_values = {"text": text, "number": number, "flag": flag}
    assert check_all(ALL, given_values, "the body") == given_values | {"options": None}
    assert check_all(ALL, given_values | {"number": str(number)}, "it") == given_values | {"options": None}


def outcome(values: dict[str, Any]) -> tuple[dict[str, Any], Refused | None]:
    try:
        return check_all(ALL, values, "the body"), None
    except Refused as refused:
        return {}, refused


@settings(max_examples=25)  # what is anything is slow to draw; those of `make test-all` are more
@given(st.dictionaries(st.sampled_from(["text", "number", "flag", "options", "other"]) | st.text(), ANYTHING))
def test_anything_else_is_refused_or_right(values: dict[str, Any]) -> None:
    found, refused = outcome(values)
    if refused is not None:
        assert refused.status == 400
        assert "the body" in str(refused)
        return
    assert 1 <= len(found["text"]) <= 5
    assert type(found["number"]) is int
    assert -3 <= found["number"] <= 7
    assert found["flag"] in (None, True, False)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"number": 1}, "lacks 'text': a text"),
        ({"text": "abcdef", "number": 1}, "has 6 characters, at most 5"),
        ({"text": "a", "number": 8}, "from -3 to 7"),
        ({"text": "a", "number": 1.5}, "whole number"),
        ({"text": "a", "number": True}, "whole number"),
        ({"text": "a", "number": "٣"}, "whole number"),
        ({"text": "a", "number": 1, "flag": "yes"}, "true or false"),
        ({"text": "a", "number": 1, "options": {"x": []}}, "'x'"),
        ({"text": "a", "number": 1, "extra": 1}, "'extra', which is not taken here; it takes flag, number"),
    ],
)
def test_messages_say_what_would_have_been_right(values: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        check_all(ALL, values, "the body")
