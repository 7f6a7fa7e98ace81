"""Texts and words through both real tokenizers and tiny models: right rows that can be shown, or a clear refusal."""

from __future__ import annotations

import functools
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
from tests.fuzz.mutations import texts, with_sound
from tests.fuzz.target import Target, about, answers
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


FAMILIES = {"llama": "smollm2", "bert": "minilm"}
"""A decoder with a byte-level tokenizer, and an encoder with word pieces."""


def _module(family: str, tokenizer: Any, implementation: str = "sdpa") -> Any:
    """A tiny model for a real tokenizer; the same one at each call."""
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": POSITIONS}
    return tiny_model(family, implementation=implementation, **sizes)


def tiny_models() -> list[Model]:
    """A tiny model of each family."""
    tokenizers = {family: real_tokenizer(name) for family, name in FAMILIES.items()}
    return [heedmap.wrap(_module(family, one), one, name=family) for family, one in tokenizers.items()]


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
    maps = {id(reading): eager_maps(reading) for reading in readings}
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
    which = st.integers(0, len(readings) - 1)
    anything = st.tuples(st.tuples(words, ranges, st.tuples(numbers, numbers)), st.sampled_from(asked), which)
    sound = st.tuples(
        st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 2), st.none() | st.integers(0, 3)),
        st.sampled_from([functools.partial(_check_sound_row, maps), _check_sound_range]),
        which,
    )
    return with_sound(sound, anything), lambda case: case[1](readings[case[2]], *case[0])


def eager_maps(reading: heedmap.Reading) -> list[Any]:
    """All maps of a text as transformers' own slow attention gives them, by layer: [head, query, key]."""
    import torch

    family = reading.model["name"]
    module = _module(family, real_tokenizer(FAMILIES[family]), "eager")
    with torch.no_grad():
        found = module(torch.tensor([reading.tokens.ids]), output_attentions=True).attentions
    return [one[0].double().numpy() for one in found]


def _check_row(reading: heedmap.Reading, word: str, layer: int | None, head: int | None) -> None:
    row = reading.row(word, layer, head)
    np.testing.assert_allclose(row.weights.sum(), 1, atol=1e-5)


def _shown(reading: heedmap.Reading, start: int, end: int) -> list[list[bool]]:
    """For each token, which of its characters lie in a range, white space left aside."""
    text, places = reading.tokens.text, [(token.start or 0, token.end or 0) for token in reading.tokens]
    return [[start <= at < end for at in range(*place) if not text[at].isspace()] for place in places]


def _check_sound_row(maps: Any, reading: heedmap.Reading, number: int, rule: int, layer: int, head: int | None) -> None:
    """A word that is there, in a layer and head that are there: the same as in transformers' whole maps."""
    words = reading.tokens.words()
    word, chosen = words[number % len(words)], ("mean", "last")[rule % 2]
    own = [index for index, inside in enumerate(_shown(reading, word.start or 0, word.end or 0)) if any(inside)]
    name = f"{word.text}#{word.occurrence}"
    if name in reading.tokens.text:  # "it#2" stands there itself, and is found before the second "it", of one token
        name = f"@{own[0]}"
    with answers(sound=True):
        row = reading.row(name, layer, head, query_rule=chosen)
    whole = maps[id(reading)][layer]
    rows = (whole.mean(0) if head is None else whole[head])[own if chosen == "mean" else own[-1:]]
    np.testing.assert_allclose(row.weights, rows.mean(0), atol=1e-5)  # as all weights are compared with eager ones


def _check_sound_range(reading: heedmap.Reading, first: int, last: int, *_: Any) -> None:
    """From one word to another: the tokens of which most characters lie between, of a half that begins there too."""
    words = reading.tokens.words()
    first, last = sorted((first % len(words), last % len(words)))
    start, end = words[first].start or 0, words[last].end or 0
    inside = _shown(reading, start, end)
    expected = [index for index, one in enumerate(inside) if one and sum(one) + one[0] * 0.5 > len(one) / 2]
    with answers(sound=True):
        found = asking(reading.tokens, f"{start}:{end}").tokens
        counted = asking(reading.tokens, f"tok:{expected[0]}:{expected[-1] + 1}").tokens
    assert [index for index in found if inside[index]] == expected  # of spaces alone it asks something else
    assert counted == tuple(range(expected[0], expected[-1] + 1))


@st.composite
def _pieces(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text) - 1))
    return text[start : start + draw(st.integers(1, 12))]


TARGETS = (
    Target("texts", "texts of every kind, read whole", text_cases, few=25, many=4000),
    Target("words", "words, layers, heads, ranges and rules in texts that were read", word_cases, few=60, many=10_000),
)
