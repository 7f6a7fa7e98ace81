"""From what somebody typed to the tokens they mean, and what they read when it is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from heedmap.errors import AmbiguousWord, OutOfRange, WordNotFound
from heedmap.text import Tokens, Word, tokenize

TROPHY = "The trophy did not fit in the suitcase because it was too big."
TWICE = "It fits: the trophy is in it, and it is small."


@pytest.fixture(scope="module")
def read(smollm2_tokenizer: Any) -> Callable[[str], Tokens]:
    return lambda text: tokenize(smollm2_tokenizer, text)


@pytest.fixture(scope="module")
def trophy(read: Callable[[str], Tokens]) -> Tokens:
    return read(TROPHY)


@pytest.mark.parametrize(
    ("word", "text", "tokens"),
    [
        ("it", "it", (10,)),
        ("suitcase", "suitcase", (7, 8)),
        ("the", "the", (6,)),
        ("The", "The", (0,)),
        ("TROPHY", "trophy", (1,)),
        ("the suitcase", "the suitcase", (6, 7, 8)),
        ("  not   fit ", "not fit", (3, 4)),
        (".", ".", (14,)),
        ("case", "case", (8,)),
        ("@5", "in", (5,)),
        ("@-1", ".", (14,)),
        (5, "in", (5,)),
        ("it#1", "it", (10,)),
    ],
)
def test_find(trophy: Tokens, word: str | int, text: str, tokens: tuple[int, ...]) -> None:
    found = trophy.find(word)
    assert (found.text, found.tokens, found.occurrence, found.of) == (text, tokens, 1, 1)
    assert found.start is not None
    assert trophy.text[found.start : found.end] == text
    assert trophy.find(found) is found


def test_occurrences_are_numbered_and_case_counts(read: Callable[[str], Tokens]) -> None:
    tokens = read(TWICE)
    assert [(word.start, word.name) for word in tokens.occurrences("it")] == [(26, "it#1"), (34, "it#2")]
    assert tokens.find("it#2").start == 34
    assert tokens.find("It").start == 0
    assert [word.start for word in tokens.occurrences("IT")] == [0, 26, 34]
    assert tokens.find("IT#3").start == 34
    assert tokens.occurrences("zebra") == []


def test_a_word_is_whole_in_any_script(read: Callable[[str], Tokens]) -> None:
    for text, word, start in [
        ("It suits it's owner", "it", 9),
        ("не нет, не", "нет", 3),
        ("قال أحمد لعلي إنه متعب", "أحمد", 4),
        ("דן אמר ליוסי", "אמר", 3),
        ("राम ने श्याम को बताया", "श्याम", 7),
        ("彼は彼女を散歩に誘った", "散歩", 5),
        ("คนไทยเขียนติดกัน", "ไทย", 2),
        ("한국 사람", "사람", 3),
        ("Tie\u0302\u0301ng Vie\u0323\u0302t", "Việt", 8),
        ("a👩‍🚀b", "👩‍🚀", 1),
    ]:
        found = read(text).find(word)
        assert found.start == start, word
        assert found.tokens == read(text).covering(start, found.end or 0)


def test_a_word_with_its_particle_is_found_where_tokens_end_between_them(read: Callable[[str], Tokens]) -> None:
    """Korean joins particles to words; by whole words alone 철수 would not be there."""
    assert read("철수는 영희에게 책을 돌려주었다.").find("철수").start == 0


def test_special_tokens_go_by_their_name(minilm_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, "the effect of [SEP] what")
    assert tokens.find("[CLS]") == Word("[CLS]", None, None, (0,))
    assert [word.tokens for word in tokens.occurrences("[SEP]")] == [(4,), (6,)]
    assert tokens.find("[SEP]#1").start == 14
    with pytest.raises(AmbiguousWord, match=r"'\[SEP\]' stands 2 times .*\[SEP\]#2 \(token 6\)"):
        tokens.find("[SEP]")


def test_labels_of_pictures_are_understood(read: Callable[[str], Tokens]) -> None:
    tokens = read("a\n你")
    assert tokens.find("⏎").tokens == (1,)
    assert tokens.find("你 2/2").tokens == (3,)


def test_what_stands_literally_in_the_text_goes_before_signs_of_ours(read: Callable[[str], Tokens]) -> None:
    tokens = read("see issue#2 and issue by @5")
    assert tokens.find("issue#2").text == "issue#2"
    assert tokens.find("issue#1").start == 4
    assert tokens.find("@5#1").text == "@5"
    assert tokens.find("@5").tokens == (5,)


def message(kind: type[Exception], tokens: Tokens, word: str | int) -> str:
    with pytest.raises(kind) as caught:
        tokens.find(word)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_several_places_are_listed_with_what_stands_around(read: Callable[[str], Tokens]) -> None:
    assert message(AmbiguousWord, read(TWICE), "it") == (
        "'it' stands 2 times in the text: it#1 (token 7: …is in it, and it is…), it#2 (token 10: …in it, and it "
        "is small.); name one of them, such as it#2"
    )
    many = message(AmbiguousWord, read("la " * 50), "la")
    assert many.count("la#") == 9
    assert ", and 42 more; name one" in many


def test_nearest_words_are_named(read: Callable[[str], Tokens], trophy: Tokens) -> None:
    assert message(WordNotFound, trophy, "trophi") == (
        "'trophi' does not stand in the text; nearest: trophy; its words are: The, trophy, did, not, fit, in, the, "
        "suitcase, because, it, was, too, big; @0 to @14 name a token by its place"
    )
    long_text = read(" ".join(f"word{number}x" for number in range(40)))
    assert message(WordNotFound, long_text, "Word17").startswith("'Word17' is only a part of 'word17x': ")
    far = message(WordNotFound, long_text, "Wird17x")
    assert far.startswith("'Wird17x' does not stand in the text; nearest: word17x, ")
    assert "its words are" not in far
    assert "nearest: отправился;" in message(WordNotFound, read("он отправился домой"), "отправилась")


def test_a_part_of_a_word_names_the_word(trophy: Tokens) -> None:
    assert message(WordNotFound, trophy, "cas") == (
        "'cas' is only a part of 'suitcase': name the whole word, or what holds it by its place, @8 (case)"
    )


def test_too_large_a_number_says_how_many_there_are(read: Callable[[str], Tokens], trophy: Tokens) -> None:
    tokens = read(TWICE)
    assert message(WordNotFound, tokens, "it#3") == "there is no it#3: 'it' stands 2 times in the text (it#1 to it#2)"
    assert message(WordNotFound, tokens, "it#0") == "there is no it#0: 'it' stands 2 times in the text (it#1 to it#2)"
    assert message(WordNotFound, trophy, "it#2") == "there is no it#2: 'it' stands once in the text (it#1)"
    assert message(WordNotFound, trophy, "zebra#2").startswith("'zebra' does not stand in the text")
    assert message(OutOfRange, trophy, "@15") == "there is no token @15: the text has 15 tokens, @0 to @14"
    assert message(OutOfRange, trophy, -16) == "there is no token @-16: the text has 15 tokens, @0 to @14"


def test_nothing_is_not_a_word(trophy: Tokens) -> None:
    for word, shown in [("", "''"), (" ", "'␣'"), ("\n", "'⏎'")]:
        assert message(WordNotFound, trophy, word) == (
            f"a word was expected, not {shown}; name a token by its place, @0 to @14"
        )


def test_hostile_words_are_shown_harmless(trophy: Tokens) -> None:
    assert message(WordNotFound, trophy, "\x1b[31m\nx").startswith("'⟨ESC⟩[31m⏎x' does not stand")


def test_a_text_of_signs_has_no_words(read: Callable[[str], Tokens]) -> None:
    assert "it has no words, only signs" in message(WordNotFound, read("!?"), "zebra")


def test_what_the_model_did_not_see_is_said(minilm_tokenizer: Any, smollm2_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, "one two three four", limit=4, truncate=True)
    assert message(WordNotFound, tokens, "four") == (
        "'four' stands in the text, but the model did not see it: the last 2 tokens were cut off to fit its "
        "positions; shorten the text before it"
    )
    assert [word.text for word in tokens.words()] == ["one", "two"]
    cut_in_two = tokenize(smollm2_tokenizer, TROPHY, limit=8, truncate=True)
    assert "did not see it" in message(WordNotFound, cut_in_two, "suitcase")
    assert [word.text for word in cut_in_two.words()][-1] == "the"
    dropped = tokenize(smollm2_tokenizer, "a \x04 b")
    assert message(WordNotFound, dropped, "\x04") == (
        "'⟨U+0004⟩' stands in the text, but the tokenizer drops these characters, so the model did not see it"
    )
