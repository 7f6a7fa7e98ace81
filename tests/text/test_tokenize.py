"""Tokenizing: places, special tokens, limits; and what must hold for any text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from heedmap.errors import EmptyText, TextError, TextTooLong
from heedmap.text import Tokens, tokenize
from tests.models.making import tiny_tokenizer

# Any Unicode, and what is hard more often than chance would bring it: scripts, marks, glyphs of tokenizers, markers.
HARD = [
    "naïve ",
    "e\u0301",
    " 你好。",
    "ไทย",
    "한국",
    "हिन्दी ",
    "שָׁלוֹם ",
    "👩\u200d👩\u200d👧",
    "🇫🇷",
    "it ",
    "it's ",
    "  ",
    "\r\n",
    "\t",
    "\u00a0",
    "\u200b",
    "\u202e",
    "Ġ",
    "▁",
    "##x",
    "[SEP]",
    "[UNK]",
    "<|im_end|>",
    "<|endoftext|>",
    "\ufffd",
    "\x04",
    "\U00040000",
    "½",
    "ﬁ",
    "İ",
    "@1",
    "#2",
]
TEXTS = st.lists(st.one_of(st.sampled_from(HARD), st.text(max_size=4)), min_size=1, max_size=8).map("".join)
GLYPHS = ["Ġ", "Ċ", "ĉ", "▁", "##", "\ufffd"]


@pytest.fixture(scope="module", params=["smollm2", "minilm", "composing", "byte_fallback", "metaspace"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    real = {"smollm2": "smollm2_tokenizer", "minilm": "minilm_tokenizer"}
    found = request.getfixturevalue(real.get(request.param, request.param))
    return found() if request.param == "metaspace" else found


def tokens_of(tokenizer: Any, text: str) -> Tokens | None:
    try:
        return tokenize(tokenizer, text)
    except EmptyText:
        assert not tokenizer(text, add_special_tokens=False).input_ids
        return None


@given(text=TEXTS)
def test_tokens_are_those_that_run_and_stand_where_they_say(tokenizer: Any, text: str) -> None:
    tokens = tokens_of(tokenizer, text)
    if tokens is None:
        return
    assert tokens.ids == tokenizer(text).input_ids
    assert [token.index for token in tokens] == list(range(len(tokens)))
    for token in tokens:
        if token.start is not None:
            assert token.text == text[token.start : token.end]
        else:
            assert token.special


@given(text=TEXTS)
def test_every_character_that_was_not_dropped_belongs_to_a_token(tokenizer: Any, text: str) -> None:
    tokens = tokens_of(tokenizer, text)
    if tokens is None:
        return
    covered = {i for t in tokens if t.start is not None and t.end is not None for i in range(t.start, t.end)}
    normalizer = tokenizer.backend_tokenizer.normalizer
    for position in set(range(len(text))) - covered:
        character = text[position]
        # Left out are white space, what the tokenizer makes nothing of even alone, and what its normaliser joins to
        # the character before.
        assert (
            character.isspace()
            or not tokenizer(character, add_special_tokens=False).input_ids
            or (normalizer is not None and normalizer.normalize_str(text[: position + 1]) != text[: position + 1])
        )


@given(text=TEXTS)
def test_labels_show_no_glyph_of_a_tokenizer_and_stay_on_one_line(tokenizer: Any, text: str) -> None:
    tokens = tokens_of(tokenizer, text)
    if tokens is None:
        return
    labels = tokens.labels
    assert len(labels) == len(tokens.ids)
    for label in labels:
        assert label
        assert len(label.splitlines()) == 1
        assert label == label.strip()
        assert "\ufffd" not in label
        assert not [glyph for glyph in GLYPHS if glyph in label and glyph not in text]


@given(text=TEXTS)
def test_words_are_found_with_exactly_their_characters(tokenizer: Any, text: str) -> None:
    tokens = tokens_of(tokenizer, text)
    if tokens is None:
        return
    for word in tokens.words():
        assert word.start is not None
        assert word.end is not None
        assert tokens.occurrences(word.text)[word.occurrence - 1] == word
        touching = [
            token.index
            for token in tokens
            if token.start is not None
            and token.end is not None
            and max(token.start, word.start) < min(token.end, word.end)
        ]
        assert list(word.tokens) == touching


@given(text=TEXTS)
def test_groups_are_a_partition_in_order(tokenizer: Any, text: str) -> None:
    tokens = tokens_of(tokenizer, text)
    if tokens is None:
        return
    groups = [group.tokens for group in tokens.groups()]
    assert sorted(position for group in groups for position in group) == list(range(len(tokens)))
    assert groups == sorted(groups)


def test_special_tokens_are_the_tokenizers_own_by_default(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    assert not tokenize(smollm2_tokenizer, "The cat").special_tokens_added
    tokens = tokenize(minilm_tokenizer, "The cat")
    assert tokens.special_tokens_added
    assert [(t.text, t.start, t.special) for t in tokens] == [
        ("[CLS]", None, True),
        ("The", 0, False),
        ("cat", 4, False),
        ("[SEP]", None, True),
    ]
    without = tokenize(minilm_tokenizer, "The cat", special_tokens=False)
    assert without.labels == ["The", "cat"]
    assert not without.special_tokens_added


def test_asked_for_special_tokens_begin_the_text(smollm2_tokenizer: Any, minilm_tokenizer: Any, composing: Any) -> None:
    tokens = tokenize(smollm2_tokenizer, "The cat", special_tokens=True)
    assert tokens.labels == ["<|im_start|>", "The", "cat"]
    assert tokens.special_tokens_added
    typed = tokenize(smollm2_tokenizer, "<|im_start|>The", special_tokens=True)
    assert typed.labels == ["<|im_start|>", "The"]
    assert not typed.special_tokens_added
    assert tokenize(minilm_tokenizer, "The", special_tokens=True).labels == ["[CLS]", "The", "[SEP]"]
    with pytest.raises(TextError, match=r"adds none and has no begin-of-text token: leave --special-tokens"):
        tokenize(composing, "The cat", special_tokens=True)


def test_typed_markers_are_special_and_have_a_place(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    typed = tokenize(smollm2_tokenizer, "cat <|im_end|> dog")
    assert [(t.text, t.start, t.end) for t in typed if t.special] == [("<|im_end|>", 4, 14)]
    assert not typed.special_tokens_added
    end = tokenize(smollm2_tokenizer, "a<|endoftext|>b")[1]
    assert (end.special, end.unknown, end.label) == (True, False, "<|endoftext|>")
    unknown = tokenize(minilm_tokenizer, "界 [UNK]")
    assert [(t.label, t.special, t.unknown) for t in unknown[1:3]] == [
        ("界 [UNK]", False, True),
        ("[UNK]", True, False),
    ]


def test_a_marker_that_takes_the_space_before_it_is_placed_without_it(composing: Any) -> None:
    """RoBERTa's <mask> does."""
    from copy import deepcopy

    from tokenizers import AddedToken

    tokenizer = deepcopy(composing)
    tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True, special=True)})
    mask = next(token for token in tokenize(tokenizer, "I love my <mask>.") if token.special)
    assert (mask.text, mask.start, mask.end) == ("<mask>", 10, 16)


@pytest.mark.parametrize(("limit", "most"), [(512, "1,000,000"), (30_000, "1,920,000"), (None, "16,000,000")])
def test_what_is_too_long_by_far_is_refused_before_it_is_cut(minilm_tokenizer: Any, limit: int, most: str) -> None:
    text = "a" * (int(most.replace(",", "")) + 1)
    with pytest.raises(TextTooLong, match=f"give a part of it, {most} at most"):
        tokenize(minilm_tokenizer, text, limit=limit)


def test_a_book_is_cut_where_that_is_asked_for(minilm_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, "cat " * 260_000, limit=512, truncate=True)
    assert (len(tokens), tokens.cut_off) == (512, 260_002 - 512)


def test_too_long_a_text_says_how_long_and_offers_to_cut(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    with pytest.raises(TextTooLong) as caught:
        tokenize(minilm_tokenizer, "cat " * 600, limit=512)
    assert str(caught.value) == (
        "the text is 602 tokens long and the model has 512 positions: shorten it by 90 tokens, or keep what fits "
        "with --truncate (truncate=True)"
    )
    cut = tokenize(minilm_tokenizer, "cat " * 600, limit=512, truncate=True)
    assert (len(cut), cut.cut_off, cut[-1].label) == (512, 90, "[SEP]")
    cut = tokenize(smollm2_tokenizer, "cat " * 600, limit=100, truncate=True, special_tokens=True)
    assert (len(cut), cut.cut_off, cut[0].label) == (100, 502, "<|im_start|>")
    fits = tokenize(smollm2_tokenizer, "cat dog", limit=2, truncate=True)
    assert (len(fits), fits.cut_off) == (2, 0)
    assert len(tokenize(smollm2_tokenizer, "cat " * 600)) == 601, "a cut text leaves the tokenizer as it was"


def test_a_long_text_is_not_warned_about(minilm_tokenizer: Any, caplog: pytest.LogCaptureFixture) -> None:
    tokenize(minilm_tokenizer, "cat " * 600)
    assert not caplog.records


def test_nothing_to_read_is_an_error(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    with pytest.raises(EmptyText, match=r"^the text is empty: give at least one word$"):
        tokenize(smollm2_tokenizer, "")
    with pytest.raises(EmptyText, match=r"makes no token of '␣⏎': give a text with words"):
        tokenize(minilm_tokenizer, " \n")
    assert tokenize(smollm2_tokenizer, " \n").labels == ["␣⏎"]


def test_what_is_no_text_is_named(smollm2_tokenizer: Any) -> None:
    with pytest.raises(TextError, match=r"one text \(a str\) was expected, not list"):
        tokenize(smollm2_tokenizer, ["a", "b"])  # type: ignore[arg-type]
    with pytest.raises(TextError, match=r"character 2 of the text is half of a surrogate pair \(U\+DCE4\).*UTF-8"):
        tokenize(smollm2_tokenizer, "ab\udce4")


def test_a_tokenizer_whose_places_drift_is_not_believed(minilm_tokenizer: Any) -> None:
    class Drifting(PreTrainedTokenizerFast):
        """Counts the characters of the decomposed text, as some tokenizers did."""

        def __call__(self, *args: Any, **options: Any) -> Any:
            encoded = super().__call__(*args, **options)
            encoded["offset_mapping"] = [(s + (s > 8), e + (s > 8)) for s, e in encoded["offset_mapping"]]
            return encoded

    drifting = Drifting(  # type: ignore[no-untyped-call]
        tokenizer_object=minilm_tokenizer.backend_tokenizer, unk_token="[UNK]"
    )
    with pytest.raises(
        TextError, match=r"misplaces tokens: '␣?allen' is said to stand at characters 10 to 15 \('llenN'\)"
    ):
        tokenize(drifting, "A, naïve AllenNLP sentence. ")


def test_places_are_right_beside_bytes_that_the_tokenizer_drops(smollm2_tokenizer: Any) -> None:
    """SmolLM2 has no token for some control characters, and its own places are wrong beside them."""
    text = "\x04@1 \x06🙂. \x13[it]"
    assert smollm2_tokenizer("\x04@", return_offsets_mapping=True).offset_mapping == [(0, 1)], "no longer needed"
    tokens = tokenize(smollm2_tokenizer, text)
    assert [token.label for token in tokens][:2] == ["@", "1"]
    for word in ("@", "1", "🙂", ".", "[", "it", "]"):
        assert tokens.find(word).start == text.index(word)


def test_a_piece_of_a_sentence_is_words_all_the_same(metaspace: Callable[..., Any]) -> None:
    for split in (True, False):
        tokens = tokenize(metaspace(split=split), "I love my cat")
        assert [word.tokens for word in tokens.words()] == [(0,), (1,), (2,), (3,)]


def test_a_tokenizer_that_fails_is_an_error_of_ours() -> None:
    """As one whose tokenizer_config.json holds "model_max_length": [1000]."""
    tokenizer = tiny_tokenizer()
    tokenizer.model_max_length = [1000]
    with pytest.raises(TextError, match=r"the tokenizer cannot cut the text \('>' not supported"):
        tokenize(tokenizer, "the cat")
