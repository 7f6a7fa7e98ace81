"""Tokens as a sequence, words and groups."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.text import Token, Tokens, Word, tokenize

SUITCASE = Tokens(
    "The suitcase.",
    (
        Token(0, 101, "[CLS]", None, None, special=True),
        Token(1, 11, "The", 0, 3),
        Token(2, 12, " suit", 3, 8),
        Token(3, 13, "case", 8, 12),
        Token(4, 14, ".", 12, 13, unknown=True),
    ),
)


def test_tokens_are_a_sequence_in_the_order_of_the_model() -> None:
    assert len(SUITCASE) == 5
    assert SUITCASE[3].text == "case"
    assert SUITCASE[-1] is SUITCASE.tokens[4]
    assert SUITCASE[1:3] == SUITCASE.tokens[1:3]
    assert list(SUITCASE) == list(SUITCASE.tokens)
    assert SUITCASE.ids == [101, 11, 12, 13, 14]
    assert SUITCASE.labels == ["[CLS]", "The", "␣suit", "case", "."]
    assert SUITCASE.special_tokens_added
    assert not Tokens("The", SUITCASE[1:2]).special_tokens_added


def test_json_has_the_published_keys_and_is_strict() -> None:
    rows = SUITCASE.to_json()
    assert [list(row) for row in rows[:-1]] == [["index", "text", "start", "end", "special"]] * 4
    assert rows[0] == {"index": 0, "text": "[CLS]", "start": None, "end": None, "special": True}
    assert rows[-1] == {"index": 4, "text": ".", "start": 12, "end": 13, "special": False, "unknown": True}
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_words_have_their_tokens() -> None:
    assert SUITCASE.words() == [Word("The", 0, 3, (1,)), Word("suitcase.", 4, 13, (2, 3, 4))]


def test_words_that_stand_several_times_are_numbered_as_find_does(smollm2_tokenizer: Any) -> None:
    tokens = tokenize(smollm2_tokenizer, "it's it and it.")
    words = {(word.start, word.name) for word in tokens.words()}
    assert (5, "it#2") in words
    assert tokens.find("it#2").start == 5


def test_groups_hold_every_token_once(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    tokens = tokenize(smollm2_tokenizer, "a  suitcase\n<|im_end|>x")
    groups = tokens.groups()
    assert [group.text for group in groups] == ["a", " ", "suitcase", "\n", "<|im_end|>", "x"]
    assert [position for group in groups for position in group.tokens] == list(range(len(tokens)))
    tokens = tokenize(minilm_tokenizer, "one [SEP] two")
    assert [group.text for group in tokens.groups()] == ["[CLS]", "one", "[SEP]", "two", "[SEP]"]


def test_words_that_share_a_token_are_one_group() -> None:
    tokens = Tokens("of the cat", (Token(0, 1, "of the", 0, 6), Token(1, 2, " cat", 6, 10)))
    assert [word.tokens for word in tokens.words()] == [(0,), (0,), (1,)]
    assert [(group.text, group.tokens) for group in tokens.groups()] == [("of the", (0,)), ("cat", (1,))]


@given(st.data())
def test_covering_agrees_with_looking_at_every_token(data: st.DataObject) -> None:
    """Also where tokens overlap, and where one reaches further than the next."""
    starts = sorted(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=8)))
    ends = [start + data.draw(st.integers(0, 5)) for start in starts]
    text = "x" * 20
    tokens = Tokens(
        text, tuple(Token(i, i, text[s:e], s, e) for i, (s, e) in enumerate(zip(starts, ends, strict=True)))
    )
    start = data.draw(st.integers(0, 19))
    end = data.draw(st.integers(start + 1, 20))
    wanted = [i for i, (s, e) in enumerate(zip(starts, ends, strict=True)) if s < end and e > start and s < e]
    assert list(tokens.covering(start, end)) == wanted


@pytest.mark.parametrize("module", ["heedmap.text", "heedmap.text.tokenize"])
def test_importing_the_room_loads_no_model_library(module: str) -> None:
    heavy = {"torch", "transformers", "tokenizers", "matplotlib"}
    code = f"import sys, {module}; print(sorted({heavy} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    meta = subprocess.run(
        [sys.executable, "-c", f"import tokenizers; {code}"], capture_output=True, text=True, check=True
    )
    assert meta.stdout.strip() == "['tokenizers']", "this test can fail"
