"""Tokens from numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import EmptyText, TextError
from heedmap.text import from_ids, tokenize

MIXED = "The cats — 你好, naïve 🙂 שלום\n\t ok <|im_end|>!"


def test_numbers_of_a_text_give_the_same_tokens_as_the_text(
    smollm2_tokenizer: Any, composing: Any, byte_fallback: Any
) -> None:
    for tokenizer in (smollm2_tokenizer, composing):
        assert from_ids(tokenizer, tokenize(tokenizer, MIXED).ids) == tokenize(tokenizer, MIXED)
    ids = tokenize(byte_fallback, "the cat 中", special_tokens=False).ids
    assert from_ids(byte_fallback, ids) == tokenize(byte_fallback, "the cat 中", special_tokens=False)


def test_the_text_is_what_the_tokenizer_decodes(
    smollm2_tokenizer: Any, composing: Any, byte_fallback: Any, metaspace: Callable[..., Any]
) -> None:
    for tokenizer in (smollm2_tokenizer, composing, byte_fallback, metaspace()):
        ids = tokenizer("I love the cats, 中文 and 🙂").input_ids
        assert from_ids(tokenizer, ids).text == tokenizer.decode(ids)


def test_wordpiece_numbers_keep_their_words(minilm_tokenizer: Any) -> None:
    ids = minilm_tokenizer("two embeddings").input_ids
    tokens = from_ids(minilm_tokenizer, ids)
    assert tokens.text == "[CLS] two embeddings [SEP]"
    assert tokens.labels == ["[CLS]", "two", "em", "bed", "ding", "s", "[SEP]"]
    assert tokens.find("embeddings").tokens == (2, 3, 4, 5)
    assert [(t.start, t.end) for t in tokens if t.special] == [(0, 5), (21, 26)]
    assert not tokens.special_tokens_added, "they stand in the text"


def test_bytes_that_are_no_text_are_named(smollm2_tokenizer: Any) -> None:
    first, second = smollm2_tokenizer("你", add_special_tokens=False).input_ids
    tokens = from_ids(smollm2_tokenizer, [first, first, second, second])
    assert tokens.text == "\ufffd\ufffd你\ufffd"
    assert tokens.labels == ["⟨0xE4⟩⟨0xBD⟩", "你 1/2", "你 2/2", "⟨0xA0⟩"]
    assert [(t.start, t.end) for t in tokens] == [(0, 2), (2, 3), (2, 3), (3, 4)]


def test_numbers_beyond_the_vocabulary_are_named_by_number(smollm2_tokenizer: Any) -> None:
    tokens = from_ids(smollm2_tokenizer, [504, 10**6])
    assert (tokens.text, tokens.labels) == ("The", ["The", "⟨id 1000000⟩"])


@given(ids=st.lists(st.integers(0, 49151), min_size=1, max_size=30))
def test_any_numbers_have_tokens_in_order(smollm2_tokenizer: Any, ids: list[int]) -> None:
    tokens = from_ids(smollm2_tokenizer, ids)
    assert tokens.ids == ids
    end = 0
    for token in tokens:
        assert token.start is not None
        assert token.end is not None
        assert token.start in (end, end - 1)
        assert token.text == tokens.text[token.start : token.end]
        end = token.end
        assert len(token.label.splitlines()) == 1
        assert "\ufffd" not in token.label
    assert end == len(tokens.text)
    # The tokenizer joins the bytes of one broken character into one sign, where every byte has its own here.
    assert "".join(tokens.text.split("\ufffd")) == "".join(smollm2_tokenizer.decode(ids).split("\ufffd"))


def test_no_numbers_and_negative_ones_are_refused(smollm2_tokenizer: Any) -> None:
    with pytest.raises(EmptyText, match="no token numbers were given"):
        from_ids(smollm2_tokenizer, [])
    with pytest.raises(TextError, match="count from 0, and -1 was given"):
        from_ids(smollm2_tokenizer, [3, -1])
