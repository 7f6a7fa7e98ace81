"""Cutting a text by rule, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import TextError
from heedmap.text.ranges import NamedSpan
from heedmap.text.split import number_roles, split


def pieces(text: str, rule: str) -> list[str]:
    return [text[start:end] for span in split(text, rule) for start, end in span.ranges]


def names(text: str, rule: str) -> list[str]:
    return [span.name for span in split(text, rule)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. The cat sat.", ["It rains.", "The cat sat."]),
        ("Really?! Yes… No", ["Really?!", "Yes…", "No"]),
        ("Version 3.5 is approx. here. Buy it!", ["Version 3.5 is approx. here.", "Buy it!"]),
        ("He said “go.” She (perhaps) went.) Then", ["He said “go.”", "She (perhaps) went.)", "Then"]),
        ("今日は雨です。「そうですか？」彼は言った。", ["今日は雨です。", "「そうですか？」", "彼は言った。"]),
        ("你好！我很好。", ["你好！", "我很好。"]),
        ("مرحبا؟ نعم.", ["مرحبا؟", "نعم."]),
        ("मैं हूँ। तुम हो।", ["मैं हूँ।", "तुम हो।"]),
        ("መጣ። ሄደ።", ["መጣ።", "ሄደ።"]),
        ("Ողջույն։ Այո։", ["Ողջույն։", "Այո։"]),
        ("မင်္ဂလာပါ။ဟုတ်ကဲ့။", ["မင်္ဂလာပါ။", "ဟုတ်ကဲ့။"]),
        ("one line\nwithout an end\n\nanother", ["one line\nwithout an end", "another"]),
        ("no end at all", ["no end at all"]),
        ("... then it was over.", ["... then it was over."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert pieces(text, "sentences") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", ["one\ntwo", "three"]),
        ("  one  \n \t\n\n\n two \n", ["one", "two"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
        ("one\u2029two", ["one", "two"]),
        ("one", ["one"]),
    ],
)
def test_paragraphs(text: str, expected: list[str]) -> None:
    assert pieces(text, "paragraphs") == expected


def test_a_marker_begins_each_part_and_names_it_by_its_line() -> None:
    text = "Read these.\n### Document 7: Tax law\nPay.\n### Document 9: Bread\nKnead.\n"
    assert pieces(text, "### Document") == ["### Document 7: Tax law\nPay.", "### Document 9: Bread\nKnead."]
    assert names(text, "### Document") == ["Document 7: Tax law", "Document 9: Bread"]


def test_parts_of_one_name_are_numbered() -> None:
    assert names("### Document\na\n### Document\nb", "### Document") == ["Document 1", "Document 2"]
    assert names("--- one --- two", "---") == ["one", "two"]
    assert names("--- same\n--- same\n", "---") == ["same 1", "same 2"]


def test_names_are_short_and_their_own() -> None:
    text = "The quick brown fox jumps over the lazy dog.\n\nThe quick brown fox sleeps.\n\n" + "長い" * 40
    assert names(text, "paragraphs") == ["1 The quick brown fox…", "2 The quick brown fox…", "3 " + "長い" * 11 + "長…"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User: hi\nhow are you\nBob Smith: see http://x.y\nUser: ok", [
            ("User 1", "hi\nhow are you"), ("Bob Smith 1", "see http://x.y"), ("User 2", "ok"),
        ]),
        ("note to self: she was all talking together: no\nAnn B. Lee: so", [("Ann B. Lee 1", "so")]),
        ("用户：你好\n助手：你好！", [("用户 1", "你好"), ("助手 1", "你好！")]),
        ("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", [
            ("system", "Be brief."), ("user 1", "Hi"),
        ]),
    ],
)  # fmt: skip
def test_turns(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(span.name, text[slice(*span.ranges[0])]) for span in split(text, "turns")] == expected


def test_the_only_system_turn_has_no_number() -> None:
    assert number_roles(["system", "user", "system"]) == ["system 1", "user 1", "system 2"]


def test_other_spans_are_cut_out() -> None:
    text = "### Doc A one. ### Doc B two. Question: what?"
    question = text.index("Question")
    assert split(text, "### Doc", outside=[(question, len(text))]) == [
        NamedSpan("Doc A one.", ((0, 14),)),
        NamedSpan("Doc B two.", ((15, 29),)),
    ]
    middle = split("one two three", "paragraphs", outside=[(4, 7)])
    assert middle == [NamedSpan("1 one", ((0, 3), (8, 13)))]


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("one", "### Doc", "the marker '###␣Doc' does not stand in the text: split at paragraphs, sentences, turns"),
        ("one", " ", "the marker to split at is empty"),
        ("It rains.", "turns", "the text has no turns: begin each with a name and a colon"),
    ],
)
def test_what_cannot_be_split(text: str, rule: str, message: str) -> None:
    with pytest.raises(TextError, match=message.replace("␣", ".")):
        split(text, rule)
    with pytest.raises(TextError, match="leaves no part that was read, outside named spans"):
        split("one", "paragraphs", outside=[(0, 3)])


@given(st.text(alphabet='ab .?!。\n\r؟「」"', max_size=60), st.sampled_from(["paragraphs", "sentences", "b"]))
def test_parts_follow_each_other_and_leave_only_white_space(text: str, rule: str) -> None:
    try:
        spans = [one for span in split(text, rule) for one in span.ranges]
    except TextError:
        assert not text.strip() or rule == "b"
        return
    assert spans == sorted(spans)
    covered: set[int] = set()
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
        assert covered.isdisjoint(range(start, end))
        covered |= set(range(start, end))
    begin = spans[0][0] if rule == "b" else 0
    assert all(text[place].isspace() for place in range(begin, len(text)) if place not in covered)
    assert len({span.name for span in split(text, rule)}) == len(split(text, rule))
