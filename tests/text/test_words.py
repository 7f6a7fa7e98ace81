"""Finding words, against an oracle that tries every place."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.text.clusters import cluster_starts, clusters, is_border
from heedmap.text.words import TextIndex

# Few characters, so that words come up more than once; every kind of border, composed and decomposed.
LETTERS = ["a", "A", "b", "é", "e\u0301", "E\u0301", "ß", "你", "好", "ไ", "ท", "한", "한", "1", "_", "א"]
SIGNS = [" ", " ", "\n", ".", "'", "-", "。", "🙂", "❤\ufe0f", "\u200d", "\u0301", "\u0600"]
TEXTS = st.lists(st.sampled_from([*LETTERS, *SIGNS]), max_size=24).map("".join)
QUERIES = st.lists(st.sampled_from([*LETTERS, *SIGNS]), min_size=1, max_size=3).map("".join)


def folded(text: str, ignore_case: bool) -> list[str]:
    if ignore_case:
        cut = [unicodedata.normalize("NFD", cluster).casefold() for cluster in clusters(text)]
    else:
        cut = clusters(text)
    return [unicodedata.normalize("NFC", cluster) for cluster in cut]


def everywhere(text: str, query: str, ignore_case: bool, whole: bool) -> list[tuple[int, int]]:
    """All places, from left to right without overlaps, by comparing every stretch of characters."""
    starts, parts = list(cluster_starts(text)), clusters(text)
    wanted = folded(query.strip(), ignore_case)
    found: list[tuple[int, int]] = []
    for first in range(len(parts) - len(wanted) + 1):
        last = first + len(wanted)
        edges = [edge for edge in (first, last) if 0 < edge < len(parts)]
        if (
            wanted
            and "".join(folded("".join(parts[first:last]), ignore_case)) == "".join(wanted)
            and (not whole or all(is_border(parts[edge - 1], parts[edge]) for edge in edges))
            and (not found or starts[first] >= found[-1][1])
        ):
            found.append((starts[first], starts[last]))
    return found


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@given(text=TEXTS, query=QUERIES.filter(lambda query: len(query.split()) == 1))
def test_every_place_of_a_word_is_found(text: str, query: str, ignore_case: bool, whole: bool) -> None:
    found = TextIndex(text).find(query, ignore_case=ignore_case, whole=whole)
    assert found == everywhere(text, query, ignore_case, whole)


def test_white_space_in_a_phrase_stands_for_any_white_space() -> None:
    assert TextIndex("so the\n  trophy and the trophy").find("the trophy") == [(3, 15), (20, 30)]
    assert TextIndex("- a - b").find("- b") == [(4, 7)]


def test_composed_and_decomposed_spellings_are_the_same_word() -> None:
    decomposed = unicodedata.normalize("NFD", "café 한국 Việt")
    index = TextIndex(decomposed)
    for word in ("café", "한국", "Việt"):
        ((start, end),) = index.find(word)
        assert unicodedata.normalize("NFC", decomposed[start:end]) == word
    assert TextIndex("Ångström").find("Ångström") == [(0, 8)], "the ångström sign is Å"


def test_case_is_ignored_beyond_english() -> None:
    for text, query in [("STRASSE", "straße"), ("ΟΔΟΣ", "οδος"), ("ЁЖ", "ёж"), ("İZMİR", "i̇zmi̇r")]:
        assert TextIndex(text).find(query, ignore_case=True) == [(0, len(text))]


@given(TEXTS)
def test_words_are_what_stands_between_white_space(text: str) -> None:
    spans = TextIndex(text).words()
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(text[start:end].split() == [text[start:end]] for start, end in spans)
    borders = set(cluster_starts(text))
    assert {edge for span in spans for edge in span} <= borders
    covered = {position for start, end in spans for position in range(start, end)}
    for position in set(range(len(text))) - covered:
        # Left out is white space, and what one character joins to it (an accent on a space, say).
        cluster = next(
            c for s, c in zip(cluster_starts(text), clusters(text), strict=False) if s <= position < s + len(c)
        )
        assert any(character.isspace() for character in cluster)


@given(TEXTS)
def test_every_word_is_found_where_it_stands(text: str) -> None:
    index = TextIndex(text)
    for start, end in index.words():
        assert (start, end) in index.find(text[start:end])


def test_a_sentence_without_spaces_is_not_one_word() -> None:
    def words(text: str) -> list[str]:
        return [text[start:end] for start, end in TextIndex(text).words()]

    assert words("你好，世界。") == ["你", "好，", "世", "界。"]
    assert words("AI時代の話") == ["AI", "時", "代", "の", "話"]
    assert words("คนไทย") == ["ค", "น", "ไ", "ท", "ย"]
    assert words("철수는 책을") == ["철수는", "책을"], "Korean writes spaces"
    assert words("18th two-week alias'-1 naïve.") == ["18th", "two-week", "alias'-1", "naïve."]


def test_markers_are_no_words_and_end_words() -> None:
    text = "cat<|end|>dog [SEP] x"
    spans = TextIndex(text, [(3, 10), (14, 19)]).words()
    assert [text[start:end] for start, end in spans] == ["cat", "dog", "x"]
    assert TextIndex("aXb", [(1, 2)]).find("a") == [(0, 1)]
