"""Characters as people see them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heedmap.text.clusters import cluster_at, cluster_starts, clusters, is_border, is_invisible

FAMILY = "👩\u200d👩\u200d👧"


@given(st.text())
def test_clusters_joined_are_the_text_and_their_starts_agree(text: str) -> None:
    parts = clusters(text)
    assert "".join(parts) == text
    starts = list(cluster_starts(text))
    assert starts == [sum(map(len, parts[:number])) for number in range(len(parts) + 1)]
    for position in range(len(text)):
        number = cluster_at(starts, position)
        assert starts[number] <= position < starts[number + 1]


def test_what_people_count_as_one_character_is_one_cluster() -> None:
    assert clusters(f"e\u0301{FAMILY}🇫🇷🇩🇪1️⃣한한") == ["e\u0301", FAMILY, "🇫🇷", "🇩🇪", "1️⃣", "한", "한"]
    assert clusters("a\r\nb") == ["a", "\r", "\n", "b"], "carriage return and line feed are counted apart"


def test_words_end_where_letters_do_in_scripts_with_spaces() -> None:
    assert not any(is_border(*pair) for pair in ["it", "ёж", "한국", "مر", "रम", "a1", "a_"])
    assert not is_border("e\u0301", "t"), "an accent does not end a word"
    assert all(is_border(before, after) for before, after in [("t", "."), ("t", "'"), ("🙂", "a"), (" ", "a")])


def test_every_letter_is_a_border_in_scripts_without_spaces() -> None:
    pairs = [("日", "本"), ("カ", "ー"), ("ไ", "ท"), ("က", "မ"), ("ខ", "្មែ"), ("ꀀ", "ꀁ"), ("AI", "は"), ("は", "A")]
    assert all(is_border(before, after) for before, after in pairs)


def test_what_leaves_no_ink_is_invisible() -> None:
    assert all(map(is_invisible, ["\u200b", "\u200d", "\u202e", "\xad", "\x00", "\x1b", "\u2028", "\ufeff", "\u3000"]))
    assert not any(map(is_invisible, ["a", "é", FAMILY, "。", "ـ", "می\u200c"]))
