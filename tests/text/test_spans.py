"""Every token in exactly one part: where ends cut through tokens, what overlaps, what is kept apart."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import OutOfRange, TextError
from heedmap.text.ranges import NamedSpan, SpansGiven
from heedmap.text.spans import Parts, partition, tokens_in
from heedmap.text.tokenize import tokenize
from heedmap.text.tokens import Token, Tokens
from tests.text.spans_making import framed, tokens_of

CAT = tokens_of("The cat sat on the mat")


def by_name(parts: Parts) -> dict[str, tuple[int, ...]]:
    return {part.name: part.tokens for part in parts.parts}


def cut(tokens: Tokens, spans: SpansGiven | None, **options: Any) -> dict[str, tuple[int, ...]]:
    return by_name(partition(tokens, spans, **options))


def test_first_token_spans_and_rest() -> None:
    parts = partition(CAT, {"subject": (0, 7), "verb": (7, 11)})
    assert by_name(parts) == {"first token": (0,), "subject": (1,), "verb": (2,), "rest": (3, 4, 5)}
    assert [part.kind for part in parts.parts] == ["first", "span", "span", "rest"]
    assert parts.parts[1].apart == (0,)
    assert parts.cut == ()
    assert parts.owner.tolist() == [0, 1, 2, 3, 3, 3]


def test_a_space_at_the_end_of_a_span_cuts_no_token() -> None:
    # " sat" begins with the space that ends the first span: nobody reads that as half a word.
    for end in (7, 8):
        parts = partition(CAT, {"a": (4, end), "b": (end, 11)})
        assert by_name(parts)["b"] == (2,)
        assert parts.cut == ()


def test_a_cut_token_belongs_to_the_part_with_most_of_it_and_it_is_said() -> None:
    text = "supercalifragilistic mat"
    with pytest.raises(TextError, match=r"span 'a' \(0:4\) holds no token: what it holds is .* the smaller part of a"):
        partition(tokens_of(text), {"a": (0, 4), "b": (4, 20)}, first=None)
    parts = partition(tokens_of("The cat sat"), {"a": (0, 6), "b": (6, 11)})
    assert by_name(parts) == {"first token": (0,), "a": (1,), "b": (2,)}
    (said,) = parts.cut
    assert (said.token, said.part, said.others) == (1, "a", ("b",))


def test_a_token_in_two_halves_belongs_to_the_first() -> None:
    parts = partition(tokens_of("The four sat"), {"a": (0, 6), "b": (6, 12)})
    assert by_name(parts)["a"] == (1,)
    assert [(one.part, one.others) for one in parts.cut] == [("a", ("b",))]


def test_a_token_mostly_outside_every_span_is_in_the_rest() -> None:
    parts = partition(tokens_of("The suitcase sat"), {"b": (10, 16)})
    assert by_name(parts) == {"first token": (0,), "b": (2,), "rest": (1,)}
    assert [(one.token, one.part, one.others) for one in parts.cut] == [(1, "rest", ("b",))]


def test_token_ranges_count_special_tokens_too() -> None:
    tokens = framed("The cat sat")
    assert cut(tokens, {"a": "tok:1:3"}) == {
        "first token": (0,),
        "a": (1, 2),
        "special tokens": (4,),
        "rest": (3,),
    }


def test_special_tokens_are_kept_apart_also_where_a_span_holds_them() -> None:
    text = "The cat <sep> It was"
    parts = partition(tokens_of(text, special=("<sep>",)), {"all of it": (0, len(text))})
    assert by_name(parts) == {"first token": (0,), "all of it": (1, 3, 4), "special tokens": (2,)}
    assert parts.parts[1].apart == (0, 2)


def test_without_a_first_token_nothing_is_kept_apart() -> None:
    assert cut(CAT, {"a": (0, 22)}, first=None) == {"a": (0, 1, 2, 3, 4, 5)}
    assert cut(CAT, {"a": (4, 7)}, rest="template")["template"] == (2, 3, 4, 5)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ({"a": (0, 7), "b": (5, 9)}, r"spans 'a' \(0:7\) and 'b' \(5:9\) overlap in characters 5:7: .* end the one"),
        ({"a": "tok:0:3", "b": "tok:2:4"}, r"spans 'a' \(tok:0:3\) and 'b' \(tok:2:4\) overlap in tokens 2:3"),
        ({"a": (0, 11), "b": "tok:2:4"}, r"spans 'a' \(0:11\) and 'b' \(tok:2:4\) overlap in token 2 \(␣sat\)"),
        ({"a": (3, 3)}, r"span 'a' \(3:3\) is empty"),
        ({"a": (5, 3)}, r"span 'a' \(5:3\) is empty"),
        ({"a": (0, 3)}, r"span 'a' \(0:3\) holds only The: the first token and special"),
        ({"a": (3, 4)}, r"span 'a' \(3:4\) holds no token: what it holds is white space"),
    ],
)
def test_spans_that_do_not_fit(spans: SpansGiven, message: str) -> None:
    with pytest.raises(TextError, match=message):
        partition(CAT, spans)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ({"a": (0, 23)}, r"span 'a' \(0:23\) reaches outside the text, which has 22 characters, 0:22"),
        ({"a": (-4, 3)}, r"span 'a' \(-4:3\) reaches outside the text"),
        ({"a": "tok:4:7"}, r"span 'a' \(tok:4:7\) reaches outside the text, which has 6 tokens, 0:6"),
    ],
)
def test_spans_outside_the_text(spans: SpansGiven, message: str) -> None:
    with pytest.raises(OutOfRange, match=message):
        partition(CAT, spans)


def test_a_span_that_was_cut_off() -> None:
    tokens = Tokens(CAT.text, CAT.tokens[:3], cut_off=3)
    with pytest.raises(TextError, match=r"span 'end' \(12:22\) was not read: the last 3 tokens were cut off"):
        partition(tokens, {"end": (12, 22)})


def test_what_a_rule_found_without_a_token_is_left_out() -> None:
    found = [NamedSpan("one", ((0, 3),)), NamedSpan("two", ((4, 7),))]
    assert cut(CAT, None, found=found) == {"first token": (0,), "two": (1,), "rest": (2, 3, 4, 5)}
    with pytest.raises(TextError, match="no part holds a token besides the first and special ones"):
        cut(CAT, None, found=found[:1])
    with pytest.raises(TextError, match="two spans are called 'two'"):
        cut(CAT, {"two": (8, 11)}, found=found)


def test_several_ranges_make_one_part() -> None:
    span = NamedSpan("both", ((4, 7), (15, 18)))
    assert by_name(partition(CAT, [span]))["both"] == (1, 4)


def test_tokens_that_share_a_character_stay_together() -> None:
    # "你" as two byte-level tokens, both placed at the one character they make up.
    tokens = Tokens(
        "a你b", (Token(0, 0, "a", 0, 1), Token(1, 1, "你", 1, 2), Token(2, 2, "你", 1, 2), Token(3, 3, "b", 2, 3))
    )
    assert cut(tokens, {"x": (1, 2), "y": (2, 3)}) == {"first token": (0,), "x": (1, 2), "y": (3,)}


def test_a_mark_that_stands_for_no_character_goes_with_what_follows() -> None:
    tokens = Tokens("ab cd", (Token(0, 0, "ab", 0, 2), Token(1, 1, "", 3, 3), Token(2, 2, "cd", 3, 5)))
    assert cut(tokens, {"x": (3, 5)})["x"] == (1, 2)


def test_tokens_in_a_range() -> None:
    assert tokens_in(CAT, NamedSpan("x", ((0, 7),))) == (0, 1)
    assert tokens_in(framed("The cat"), NamedSpan("x", ((0, 2),), "tokens")) == (0, 1)
    with pytest.raises(TextError, match="holds no token"):
        tokens_in(CAT, NamedSpan("x", ((3, 4),)))


@given(st.lists(st.sampled_from(["a", "bb", "ccc", "\n", "日本", "🙂"]), min_size=2, max_size=20), st.data())
def test_every_token_is_in_exactly_one_part(words: list[str], data: st.DataObject) -> None:
    tokens = tokens_of("x " + " ".join(words), pattern=r" ?[\w🙂]{1,2}|\s")
    edges = sorted(data.draw(st.sets(st.integers(0, len(tokens.text)), min_size=2, max_size=6)))
    spans = {f"part {start}": (start, end) for start, end in pairwise(edges)}
    try:
        parts = partition(tokens, spans)
    except TextError as error:
        assert re.search(r"holds (only|no token)", str(error))  # noqa: PT017 - which spans are empty is chance
        return
    members = sorted(index for part in parts.parts for index in part.tokens)
    assert members == list(range(len(tokens)))
    reordered = partition(tokens, dict(reversed(spans.items())))
    assert by_name(reordered) == by_name(parts)
    for part in parts.parts:
        assert (parts.owner[list(part.tokens)] == parts.parts.index(part)).all()


def test_a_real_tokenizer(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    text = "naïve café. 你好世界 and the suitcase"
    for tokenizer in (smollm2_tokenizer, minilm_tokenizer):
        tokens = tokenize(tokenizer, text)
        parts = partition(tokens, {"a": (0, 11), "b": (12, 16), "c": (17, len(text))})
        for part in parts.parts:
            if part.span is not None:
                start, end = part.span.ranges[0]
                assert all(start <= (tokens[i].start or 0) + 1 and (tokens[i].end or 0) <= end for i in part.tokens)
        assert parts.cut == ()
