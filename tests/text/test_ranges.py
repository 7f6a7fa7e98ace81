"""Ranges as a person writes them."""

from __future__ import annotations

import pytest

from heedmap.errors import TextError
from heedmap.text.ranges import NamedSpan, named_spans, parse_range
from tests.text.spans_making import tokens_of

TOKENS = tokens_of("The cat sat on the mat")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0:7", ((0, 7), "characters")),
        ("4:", ((4, 22), "characters")),
        (":7", ((0, 7), "characters")),
        ("tok:1:3", ((1, 3), "tokens")),
        ("tok:2:", ((2, 6), "tokens")),
        ("it", None),
        (":", None),
        ("tok:", None),
        ("-3:5", None),
        ("1:2:3", None),
        ("tok:1", None),
        ("1 : 2", None),
    ],
)
def test_ranges(written: str, expected: object) -> None:
    assert parse_range(written, 22, 6) == expected


def test_spans_are_given_as_strings_pairs_or_spans() -> None:
    given: dict[str, str | tuple[int, int]] = {"a": "0:7", "b": (8, 11), "c": "tok:4:6"}
    spans = named_spans(given, TOKENS)
    assert spans == [
        NamedSpan("a", ((0, 7),)),
        NamedSpan("b", ((8, 11),)),
        NamedSpan("c", ((4, 6),), "tokens"),
    ]
    assert named_spans(spans, TOKENS) == spans


def test_what_is_no_span_is_refused_with_the_right_form() -> None:
    with pytest.raises(TextError, match=r"span 'a' is not a range: 'cat'; write start:end .* or tok:start:end"):
        named_spans({"a": "cat"}, TOKENS)
    with pytest.raises(TextError, match="no span was given: name at least one part"):
        named_spans({}, TOKENS)
    with pytest.raises(TextError, match="two spans are called 'a'"):
        named_spans([NamedSpan("a", ((0, 3),)), NamedSpan("a", ((4, 7),))], TOKENS)
