"""The sentences and pairs that ship: each pair is checked for everything that the experiments rest on."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from heedmap.lab.data import Pair, pairs, questions, sentences
from heedmap.lab.data.difference import difference
from heedmap.lab.data.places import filled, noun_of, noun_place, place_of

PAIRS = list(pairs())
SENTENCES = list(sentences())
each = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.id)
PERSONS = {"she", "he"}


def test_there_is_as_much_as_is_promised() -> None:
    families = Counter(pair.family for pair in PAIRS)
    assert len(SENTENCES) == 20
    assert len({sentence.text for sentence in SENTENCES}) == 20
    assert len(PAIRS) >= 40
    assert len(families) >= 8
    assert min(families.values()) >= 4, "halves are split by family: none may be next to nothing"
    assert len({text for pair in PAIRS for text in pair.texts}) == 2 * len(PAIRS)
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)


def test_the_trophy_is_among_them() -> None:
    trophy = next(pair for pair in PAIRS if pair.id == "size-trophy")
    assert trophy.texts == (
        "The trophy did not fit in the suitcase because it was too big.",
        "The trophy did not fit in the suitcase because it was too small.",
    )
    assert trophy.candidates == ("the trophy", "the suitcase")
    assert trophy.answers == (0, 1)


def test_neither_answer_is_always_that_of_the_first_version() -> None:
    first = Counter(pair.answers[0] for pair in PAIRS)
    assert min(first.values()) >= len(PAIRS) // 10, first


@each
def test_the_word_and_both_nouns_stand_in_every_text_once(pair: Pair) -> None:
    for text in texts_of(pair):
        for word in (pair.word, *map(noun_of, pair.candidates)):
            assert len(re.findall(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)) == 1, f"{word!r} in {text!r}"
        assert place_of(text, pair.word) is not None


@each
def test_one_small_change_after_the_word_flips_the_answer(pair: Pair) -> None:
    assert sorted(pair.answers) == [0, 1]
    for texts in (pair.texts, pair.other_order):
        assert texts is not None
        spans = difference(*texts)
        for text, span in zip(texts, spans, strict=True):
            changed = text[slice(*span)]
            place = place_of(text, pair.word)
            assert place is not None
            assert place[1] <= span[0], "what decides comes after the word"
            assert 1 <= len(changed.split()) <= 2, changed
            assert changed.lower() not in {noun_of(candidate) for candidate in pair.candidates}
            assert text.endswith("."), "a token after what decides is needed, to ask whether it follows"


@each
def test_both_noun_orders_are_there_and_mean_the_same(pair: Pair) -> None:
    swapped = pair.swapped()
    assert swapped is not None
    for given, other in zip(pair.texts, swapped.texts, strict=True):
        orders = [[noun_place(text, candidate) for candidate in pair.candidates] for text in (given, other)]
        assert [sorted(range(2), key=lambda noun, places=places: places[noun]) for places in orders] in (  # type: ignore[misc]
            [[0, 1], [1, 0]],
            [[1, 0], [0, 1]],
        )
        clause = given[given.index(" because ") :]
        assert other.endswith(clause), "the clause that decides is the same, word for word"
    assert swapped.swapped() == pair


@each
def test_every_text_is_a_clean_sentence(pair: Pair) -> None:
    for text in texts_of(pair):
        assert re.fullmatch(r"[A-Z][a-z]+( [A-Za-z]+)*\.", text), text
        for a_or_an, start in re.findall(r"\b(an?) (\w)", text):
            assert (a_or_an == "an") == (start in "aeiou"), text


@each
def test_the_pronoun_fits_the_nouns(pair: Pair) -> None:
    are_names = not pair.candidates[0].startswith("the ")
    assert are_names == (not pair.candidates[1].startswith("the "))
    assert are_names == (pair.word in PERSONS)
    verb = texts_of(pair)[0].partition(f" {pair.word} ")[2].split()[0]
    assert (verb == "were") <= (pair.word == "they")
    assert (verb == "was") <= (pair.word != "they")


@each
def test_a_noun_in_the_place_of_the_word_leaves_a_sentence(pair: Pair) -> None:
    for question in pair.questions:
        for one, candidate in zip(filled(question), pair.candidates, strict=True):
            assert f"because {candidate} " in one.text
            assert one.text[one.rest :].startswith(" ")


def test_questions_are_the_versions_of_the_pairs() -> None:
    assert [question.text for question in questions()] == [text for pair in PAIRS for text in pair.texts]


def test_no_text_is_that_of_a_published_set(data_folder: Path) -> None:
    files = [
        data_folder / "winograd" / "WSCollection.xml",
        data_folder / "winogender" / "all_sentences.tsv",
        *sorted((data_folder / "winobias").glob("*type*")),
    ]
    published = squeeze(" ".join(path.read_text(encoding="latin-1") for path in files))
    assert squeeze("The city councilmen refused the demonstrators a permit") in published
    for pair in PAIRS:
        for text in texts_of(pair):
            before, _, after = squeeze(text).partition(" because ")
            assert before not in published, text
            assert f" because {after}" not in published or len(after.split()) < 6, text
    for sentence in SENTENCES:
        assert squeeze(sentence.text) not in published


def texts_of(pair: Pair) -> list[str]:
    assert pair.other_order is not None
    return [*pair.texts, *pair.other_order]


def squeeze(text: str) -> str:
    return re.sub(r"[\s\[\]]+", " ", text).lower()
