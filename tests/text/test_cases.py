"""What people who read attention weights have tripped over, with the right answers; each stands for its kind.

SmolLM2's tokenizer cuts bytes, MiniLM's word pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from heedmap.text import merge, tokenize

FAMILY = "👩\u200d👩\u200d👧"


def places(tokenizer: Any, text: str) -> list[tuple[str, int | None, int | None]]:
    return [(token.label, token.start, token.end) for token in tokenize(tokenizer, text)]


def test_byte_glyphs_are_never_shown(smollm2_tokenizer: Any) -> None:
    """Readers took Ġ, Ã´ and Ø³ for faults."""
    assert tokenize(smollm2_tokenizer, "naïve café").labels == ["na", "ïve", "café"]
    arabic = tokenize(smollm2_tokenizer, "مرحبا بالعالم").labels
    assert arabic == ["م", "ر", "ح", "ب", "ا", "ب", "ال", "ع", "ال", "م"]


def test_pieces_of_a_character_show_the_character(smollm2_tokenizer: Any) -> None:
    """Alone each of them decodes to a replacement character."""
    tokens = tokenize(smollm2_tokenizer, "你好世界")
    assert tokens.labels == [
        *("你 1/2", "你 2/2", "好 1/2", "好 2/2", "世 1/2", "世 2/2"),
        *("界 1/3", "界 2/3", "界 3/3"),
    ]
    assert [tokens.find(character).tokens for character in "你好世界"] == [(0, 1), (2, 3), (4, 5), (6, 7, 8)]
    family = tokenize(smollm2_tokenizer, f"{FAMILY} ok")
    assert family.labels == [*(f"{FAMILY} {part}/13" for part in range(1, 14)), "ok"]
    assert family.find(FAMILY).tokens == tuple(range(13))


def test_unknown_tokens_show_the_source_and_that_they_are_unknown(minilm_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, f"你好世界 {FAMILY}", special_tokens=False)
    assert tokens.labels == ["你 [UNK]", "好 [UNK]", "世", "界 [UNK]", f"{FAMILY} [UNK]"]
    assert [token.unknown for token in tokens] == [True, True, False, True, True]
    assert tokens.find("界").tokens == (3,)


def test_places_do_not_drift_after_an_accent_or_a_marker(minilm_tokenizer: Any) -> None:
    text = "A, naïve [MASK] AllenNLP sentence."
    found = places(minilm_tokenizer, text)
    assert found[3:8] == [("naïve", 3, 8), ("[MASK]", 9, 15), ("Allen", 16, 21), ("NL", 21, 23), ("P", 23, 24)]
    for word in ("naïve", "AllenNLP", "sentence"):
        span = tokenize(minilm_tokenizer, text).find(word)
        assert text[span.start : span.end] == word


def test_a_lone_start_mark_is_no_part_of_a_word(metaspace: Callable[..., Any]) -> None:
    tokens = tokenize(metaspace(), "中文")
    assert [(token.label, token.text, token.start, token.end) for token in tokens] == [
        ("⟨start⟩", "", 0, 0),
        ("中文", "中文", 0, 2),
    ]
    assert tokens.find("中").tokens == (1,)
    assert tokens.find("中文").tokens == (1,)


def test_a_first_word_keeps_its_characters(smollm2_tokenizer: Any) -> None:
    assert places(smollm2_tokenizer, " lead") == [("␣lead", 0, 5)]
    assert tokenize(smollm2_tokenizer, " lead").find("lead").start == 1


def test_words_do_not_depend_on_the_tokenizers_grouping(
    metaspace: Callable[..., Any], smollm2_tokenizer: Any, byte_fallback: Any
) -> None:
    """`word_ids` puts a whole sentence in one word where there is no pre-tokeniser."""
    for tokenizer in (metaspace(split=False), byte_fallback):
        assert set(tokenizer("I love my cat").word_ids()) - {None} == {0}
        words = tokenize(tokenizer, "I love my cat").words()
        assert [word.text for word in words] == ["I", "love", "my", "cat"]
        assert len({word.tokens for word in words}) == 4
    assert [word.text for word in tokenize(smollm2_tokenizer, "你好世界").words()] == ["你", "好", "世", "界"]


def test_words_are_what_white_space_makes_them(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    for tokenizer, count in ((smollm2_tokenizer, (3, 3)), (minilm_tokenizer, (1, 3))):
        tokens = tokenize(tokenizer, "18th two-week alias'-1")
        assert [word.text for word in tokens.words()] == ["18th", "two-week", "alias'-1"]
        assert tuple(len(word.tokens) for word in tokens.words())[:2] == count


def test_typed_markers_are_read_as_special_and_said_to_be(minilm_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, "the effect of [SEP] what")
    typed = [(token.text, token.start, token.end) for token in tokens if token.special and token.start is not None]
    assert typed == [("[SEP]", 14, 19)]


def test_words_merge_by_sums_over_keys_and_means_over_queries(minilm_tokenizer: Any) -> None:
    tokens = tokenize(minilm_tokenizer, "The embeddings of embeddings matter")
    groups = tokens.groups()
    assert len(tokens) == 13
    assert [group.text for group in groups] == ["[CLS]", "The", "embeddings", "of", "embeddings", "matter", "[SEP]"]
    assert [word.name for word in tokens.words()] == ["The", "embeddings#1", "of", "embeddings#2", "matter"]
    weights = np.random.default_rng(0).dirichlet(np.ones(13), size=(12, 13))
    merged = merge(weights, [g.tokens for g in groups], [g.tokens for g in groups])
    assert merged.shape == (12, 7, 7)
    # float64 sums of 13 numbers below 1
    np.testing.assert_allclose(merged.sum(-1), 1.0, atol=1e-14)
    np.testing.assert_allclose(merged[3, 2, 4], weights[3, 2:6, 7:11].sum(-1).mean(), atol=1e-14)


def test_white_space_is_seen(smollm2_tokenizer: Any) -> None:
    assert tokenize(smollm2_tokenizer, "a  b\n\n\tc").labels == ["a", "␣", "␣b", "⏎⏎", "⇥", "c"]


def test_right_to_left_text_keeps_the_order_of_the_model(smollm2_tokenizer: Any) -> None:
    tokens = tokenize(smollm2_tokenizer, "שלום עולם")
    assert len(tokens) == 11
    assert tokens.labels == ["ש", "ל", "ו", "ם 1/2", "ם 2/2", "ע 1/2", "ע 2/2", "ו", "ל", "ם 1/2", "ם 2/2"]
    starts = [token.start for token in tokens if token.start is not None]
    assert starts == sorted(starts)
    assert [word.text for word in tokens.words()] == ["שלום", "עולם"]


def test_labels_come_from_the_numbers_that_ran(smollm2_tokenizer: Any, minilm_tokenizer: Any) -> None:
    """A viewer that splits the text again shows other tokens than the model had."""
    text = "Don't re-split [MASK] naïve <|im_end|> 你好!"
    for tokenizer in (smollm2_tokenizer, minilm_tokenizer):
        tokens = tokenize(tokenizer, text)
        assert tokens.ids == tokenizer(text).input_ids
        assert len(tokens.labels) == len(tokens.ids)
