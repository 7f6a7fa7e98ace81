"""Wrong places are noticed, right ones are let through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import TextError
from heedmap.text.offsets import check_offsets

TEXT = "A, naïve AllenNLP sentence."
SPANS = [(0, 1), (1, 2), (3, 8), (9, 14), (14, 16), (16, 17), (18, 26), (26, 27)]
SPELLED: list[bytes | None] = [b"a", b",", b"naive", b"allen", b"nl", b"p", b"sentence", b"."]


def test_right_places_pass() -> None:
    check_offsets(TEXT, SPANS, SPELLED)


@given(shift=st.sampled_from([-2, -1, 1, 2]), first=st.integers(3, 5))
def test_a_drift_is_named(shift: int, first: int) -> None:
    text = f"{TEXT}  "
    drifted = [(s + shift, e + shift) if n >= first else (s, e) for n, (s, e) in enumerate(SPANS)]
    with pytest.raises(TextError, match=r"misplaces tokens: '\w+' is said to stand at .*, but stands at \d+ to \d+"):
        check_offsets(text, drifted, SPELLED)


def test_the_message_names_the_first_token_and_what_to_do() -> None:
    drifted = [(s + 1, e + 1) if n > 2 else (s, e) for n, (s, e) in enumerate(SPANS[:-1])]
    message = (
        "the tokenizer misplaces tokens: 'allen' is said to stand at characters 10 to 15 ('llenN'), but stands at 9 "
        "to 14; words would get their neighbours' weights, so it is not used: load the model's own fast tokenizer, or "
        "update the tokenizers package"
    )
    with pytest.raises(TextError) as caught:
        check_offsets(TEXT, drifted, SPELLED[:-1])
    assert str(caught.value) == message


def test_places_that_are_all_the_same_are_refused() -> None:
    with pytest.raises(TextError, match="misplaces tokens"):
        check_offsets(TEXT, [(0, 0)] * len(SPANS), SPELLED)


def test_places_outside_the_text_or_out_of_order_are_refused() -> None:
    with pytest.raises(TextError, match=r"at characters 26 to 28 of a text of 27"):
        check_offsets(TEXT, [*SPANS[:-1], (26, 28)], SPELLED)
    with pytest.raises(TextError, match=r"at character 0 after one at 3: its offsets are out of order"):
        check_offsets(TEXT, [(3, 8), (0, 1)], [b"naive", b"a"])


@pytest.mark.parametrize(
    ("text", "spans", "spelled"),
    [
        ("한", [(0, 1)] * 3, ["ᄒ", "ᅡ", "ᆫ"]),
        ("½", [(0, 1)] * 3, ["1", "⁄", "2"]),
        ("ﬁx", [(0, 1), (0, 1), (1, 2)], ["f", "i", "x"]),
        ("STRASSE Straße", [(0, 7), (8, 14)], ["strasse", "straße"]),
        ("e\u0301 x", [(0, 1), (3, 4)], ["é", "x"]),
        ("İ ı", [(0, 1), (2, 3)], ["i", "ı"]),
        ("ＡＢ", [(0, 2)], ["ab"]),
        ("▁it ▁is", [(0, 3), (4, 7)], [" it", " is"]),
    ],
)
def test_what_normalisers_change_is_not_a_drift(text: str, spans: list[tuple[int, int]], spelled: list[str]) -> None:
    check_offsets(text, spans, [piece.encode() for piece in spelled])


def test_a_normaliser_of_its_own_is_asked() -> None:
    spans = [(0, 1), (1, 3), (3, 4)]
    spelled: list[bytes | None] = [b'"', b"hi", b'"']
    with pytest.raises(TextError):
        check_offsets("“hi”", spans, spelled)
    check_offsets("“hi”", spans, spelled, lambda text: text.replace("“", '"').replace("”", '"'))


def test_parts_of_characters_and_unknown_tokens_say_nothing() -> None:
    check_offsets("你 zz", [(0, 1), (0, 1), (2, 4)], [b"\xe4\xbd", b"\xa0", None])


def test_real_texts_pass(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    from heedmap.text import tokenize

    for tokenizer in (smollm2_tokenizer, minilm_tokenizer):
        assert len(tokenize(tokenizer, "“Ünïcode” … ½ ﬁ ＡＢＣ １２３ ① ㈱ İı ß ǆ — 한국 हिन्दी")) > 10
