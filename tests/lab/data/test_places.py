"""Where words and nouns stand, and texts in which one stands in the place of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.lab.data import Question
from heedmap.lab.data.difference import difference
from heedmap.lab.data.places import exchanged, filled, name_at, noun_place, phrases, place_of

words = st.lists(st.sampled_from(["it", "It", "the", "cat", "sat", "suitcase", "Ä", "它"]), min_size=1, max_size=8)


def ask(text: str, word: str, candidates: tuple[str, str], *, blank: bool = False) -> list[str]:
    return [one.text for one in filled(Question("1", "f", text, word, candidates, 0, "1", blank))]


@given(words)
def test_a_named_place_is_found_again(parts: list[str]) -> None:
    text, reached = " ".join(parts), 0
    for part in parts:
        span = (reached, reached + len(part))
        assert place_of(text, name_at(text, span)) == span
        reached = span[1] + 1


@pytest.mark.parametrize(
    ("text", "word", "candidates", "expected"),
    [
        ("The cat bit Ann as she ran.", "she", ("Ann", "the cat"), "The cat bit Ann as Ann ran."),
        ("The cats left. They ran.", "They", ("the cats", "the dogs"), "The cats left. The cats ran."),
        ("Ann lost his book.", "his", ("Bob", "Ann"), "Ann lost Bob's book."),
        ("They ate their food.", "their", ("the cats", "Ann"), "They ate the cats' food."),
        ("Ann saw her run to her mother.", "her#2", ("Eve", "Ann"), "Ann saw her run to Eve's mother."),
        ("Ann told her about it.", "her", ("Eve", "Ann"), "Ann told Eve about it."),
        ("Ann likes her.", "her", ("Eve", "Ann"), "Ann likes Eve."),
        ("Ann's mother left her home.", "her", ("Ann's", "Eve"), "Ann's mother left Ann's home."),
        ("Bob saw my dad as he ran.", "he", ("My dad", "Bob"), "Bob saw my dad as my dad ran."),
        ("A cup is in the bag as it is big.", "it", ("cup", "bag"), "A cup is in the bag as the cup is big."),
        (
            "Lemons hung in the trees; they shone.",
            "they",
            ("lemons", "trees"),
            "Lemons hung in the trees; lemons shone.",
        ),
    ],
)
def test_a_noun_takes_the_form_of_the_place(text: str, word: str, candidates: tuple[str, str], expected: str) -> None:
    assert ask(text, word, candidates)[0] == expected


def test_a_blank_is_filled_with_the_noun_as_it_is() -> None:
    assert ask("The _ is big.", "_", ("His cup", "bag"), blank=True) == ["The His cup is big.", "The bag is big."]


def test_the_part_after_the_noun_begins_right_after_it() -> None:
    one, other = filled(Question("1", "f", "Ann saw Eve as she ran.", "she", ("Ann", "Eve"), 0, "1"))
    assert [text.text[text.rest :] for text in (one, other)] == [" ran.", " ran."]


def test_a_word_that_stands_twice_has_no_place_without_its_number() -> None:
    assert place_of("It is late, and it rains; it pours.", "it") is None
    assert place_of("It is late, and it rains; it pours.", "it#3") is None
    assert place_of("He said it.", "IT") == (8, 10)


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("The cat saw the cat and the dog.", ("the cat", "the dog")),
        ("The cat sat.", ("the cat", "the dog")),
        ("The lemon tree fell.", ("the lemon", "the lemon tree")),
    ],
)
def test_nouns_are_not_exchanged_where_they_do_not_stand_once_and_apart(text: str, candidates: tuple[str, str]) -> None:
    assert exchanged(text, candidates) is None


@given(st.permutations(["the cat", "Ann", "an owl", "my dog"]))
def test_exchanging_nouns_twice_changes_nothing(nouns: list[str]) -> None:
    text = f"So {nouns[0]} met {nouns[1]} as it ran."
    both = (nouns[0], nouns[1])
    once = exchanged(text, both)
    assert once is not None
    assert once != text
    assert exchanged(once, both) == text


def test_nouns_are_found_without_their_article_and_in_any_case() -> None:
    assert noun_place("The trophies and the Trophy.", "the trophy") == (21, 27)
    assert noun_place("Nothing here.", "the trophy") is None
    assert phrases("", ("The cat", "ANN")) == ("the cat", "ANN")


@given(words, words, words, words)
def test_what_differs_is_all_that_differs(
    before: list[str], first: list[str], second: list[str], after: list[str]
) -> None:
    texts = [" ".join([*before, *middle, *after]) for middle in (first, second)]
    spans = difference(texts[0], texts[1])
    assert texts[0][: spans[0][0]].split() == texts[1][: spans[1][0]].split()
    assert texts[0][spans[0][1] :].split() == texts[1][spans[1][1] :].split()
    if texts[0] == texts[1]:
        assert all(start == stop for start, stop in spans)
    longest = max(len(first), len(second))
    assert max(len(text[slice(*span)].split()) for text, span in zip(texts, spans, strict=True)) <= longest


def test_a_full_stop_is_no_part_of_the_word_before_it() -> None:
    one, other = "It was too big.", "It was too small!"
    assert [text[slice(*span)] for text, span in zip((one, other), difference(one, other), strict=True)] == [
        "big.",
        "small!",
    ]
