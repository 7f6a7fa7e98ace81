"""Places by counting bytes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from heedmap.text.align import align


@given(st.text(min_size=1, max_size=30), st.data())
def test_any_cutting_of_the_bytes_is_placed_where_it_was_cut(text: str, data: st.DataObject) -> None:
    source = text.encode()
    cuts = sorted({0, len(source), *data.draw(st.lists(st.integers(0, len(source))))})
    ranges = list(pairwise(cuts))
    spans = align(text, [source[start:end] for start, end in ranges])
    assert spans is not None
    for (start, end), (first, last) in zip(ranges, spans, strict=True):
        assert len(text[:first].encode()) <= start < len(text[: first + 1].encode())
        assert len(text[: last - 1].encode()) < end <= len(text[:last].encode())


@given(st.lists(st.sampled_from(["a", "é", "\x04", "\x06"]), min_size=1, max_size=20).map("".join))
def test_dropped_bytes_belong_to_no_token(text: str) -> None:
    kept = [character for character in text if character not in "\x04\x06"]
    spans = align(text, [character.encode() for character in kept], frozenset([4, 6]))
    assert spans is not None
    assert [text[start:end] for start, end in spans] == kept
    if kept:
        whole = align(text, ["".join(kept).encode()], frozenset([4, 6]))
        assert whole == [(spans[0][0], spans[-1][1])]


def test_a_space_that_the_tokenizer_added_stands_nowhere() -> None:
    assert align("cat", [b" cat"]) == [(0, 3)]
    assert align("你", [b" ", b"\xe4\xbd", b"\xa0"]) == [(0, 0), (0, 1), (0, 1)]


def test_tokens_that_spell_another_text_are_not_placed() -> None:
    assert align("cat", [b"dog"]) is None
    assert align("cat", [b"cats"]) is None
    assert align("a cat", [b"cat"]) is None
