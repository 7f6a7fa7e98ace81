"""Texts and words through both real tokenizers and tiny models: right rows that can be shown, or a clear refusal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import heedmap
from heedmap.drawing.bars import row_bars
from heedmap.drawing.readings import row_picture
from heedmap.drawing.terminal import console
from heedmap.errors import EmptyText
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import find_copy
from heedmap.reading.model import Model
from heedmap.reading.spans import parts_of_text
from heedmap.text import from_ids
from heedmap.text.asking import asking
from tests.fuzz.mutations import texts
from tests.fuzz.target import Target, about
from tests.tiny import tiny_model

POSITIONS = 256


def real_tokenizer(name: str) -> Any:
    """The tokenizer of a catalogue model that is in the cache."""
    from transformers import AutoTokenizer

    entry = find_entry(name)
    copy = None if entry is None else find_copy(entry)
    if copy is None:
        raise SystemExit(f"fetch it first: heedmap models get {name}")
    return AutoTokenizer.from_pretrained(copy.folder)


def tiny_models() -> list[Model]:
    """A decoder with a byte-level tokenizer, and an encoder with word pieces."""
    both = (("llama", "smollm2"), ("bert", "minilm"))
    made = []
    for family, name in both:
        tokenizer = real_tokenizer(name)
        module = tiny_model(family, vocab_size=len(tokenizer), max_position_embeddings=POSITIONS)
        made.append(heedmap.wrap(module, tokenizer, name=f"tiny {family}"))
    return made


def check_text(model: Model, text: str) -> None:
    """Read a text: the ids are the tokenizer's own, rows sum to 1, and all of it can be shown and written."""
    try:
        reading = model.read(text, layers=1)
    except EmptyText:
        assert not text.strip() or not model.tokenizer(text, add_special_tokens=False).input_ids
        raise
    tokens = reading.tokens
    assert tokens.ids == model.tokenizer(text).input_ids
    assert sorted(i for group in tokens.groups() for i in group.tokens) == list(range(len(tokens)))
    assert from_ids(model.tokenizer, tokens.ids).ids == tokens.ids
    for label in tokens.labels:
        assert len(label.splitlines()) == 1, repr(label)
        assert not set(label) & {"\ufffd", "\x1b", "\u202e"}, repr(label)
    row = reading.row("@-1", 1)
    np.testing.assert_allclose(row.weights.sum(), 1, atol=1e-5)  # of float32 weights, so about 1e-7 a token
    json.dumps(row.to_json(), allow_nan=False, ensure_ascii=False).encode()
    terminal = console()
    with terminal.capture() as shown:
        terminal.print(row_bars(row_picture(row)))
    assert "\x1b[31m" not in shown.get()
    for word in tokens.words()[:20]:
        with about(word):
            assert tokens.occurrences(word.text)[word.occurrence - 1] == word


def text_cases() -> tuple[SearchStrategy[Any], Any]:
    """Texts, each for one of the models."""
    models = tiny_models()
    return st.tuples(st.integers(0, len(models) - 1), texts()), lambda case: check_text(models[case[0]], case[1])


_READ = (
    "The trophy did not fit in the suitcase because it was too big.",
    "It is late, and it rains; it pours on it: \"IT\" <it> it's 'it' it#2.",
    "Zoë’s naïve café — 漢字かな e\u0301e\u0301 👩🏽‍🚀👩🏽‍🚀 שלום עולם\n\n### it\r\n\tit",
)
_WORDS = (
    "it",
    "IT",
    "it#2",
    "it#0",
    "it#99999999999",
    "@0",
    "@-1",
    "@99",
    "@",
    "#",
    "e\u0301",
    "漢字",
    "👩🏽‍🚀",
    "last",
    "all",
)
_RANGES = (
    "0:4",
    ":",
    "3:",
    ":7",
    "tok:0:2",
    "tok::",
    "4:0",
    "-1:3",
    "0:99999999999999999999",
    "tok:1:1",
    "0:0",
    "½:²",
    "１:２",
)


def word_cases() -> tuple[SearchStrategy[Any], Any]:
    """Words, layers, heads, ranges and rules for texts that were read before."""
    readings = [model.read(text) for model in tiny_models() for text in _READ]
    numbers = st.none() | st.integers(-4, 4) | st.sampled_from((2**31, -(2**63), 10**30))
    words = st.sampled_from(_WORDS) | texts() | st.sampled_from(_READ).flatmap(_pieces)
    ranges = st.sampled_from(_RANGES) | texts() | st.tuples(st.integers(), st.integers())
    asked = (
        lambda reading, word, where, numbers: _check_row(reading, word, *numbers),
        lambda reading, word, where, numbers: asking(reading.tokens, word),
        lambda reading, word, where, numbers: parts_of_text(reading.tokens, {"part": where, word: (0, 1)}),
        lambda reading, word, where, numbers: parts_of_text(reading.tokens, {"part": where}),
        lambda reading, word, where, numbers: parts_of_text(reading.tokens, None, word),
        lambda reading, word, where, numbers: parts_of_text(reading.tokens, {"part": where}, word),
    )
    cases = st.tuples(
        st.sampled_from(range(len(asked))),
        st.integers(0, len(readings) - 1),
        st.tuples(words, ranges, st.tuples(numbers, numbers)),
    )
    return cases, lambda case: asked[case[0]](readings[case[1]], *case[2])


def _check_row(reading: heedmap.Reading, word: str, layer: int | None, head: int | None) -> None:
    row = reading.row(word, layer, head)
    np.testing.assert_allclose(row.weights.sum(), 1, atol=1e-5)


@st.composite
def _pieces(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text) - 1))
    return text[start : start + draw(st.integers(1, 12))]


TARGETS = (
    Target("texts", "texts of every kind, read whole", text_cases, few=25, many=4000),
    Target("words", "words, layers, heads, ranges and rules in texts that were read", word_cases, few=60, many=10_000),
)
