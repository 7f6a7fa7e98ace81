"""What token numbers spell, against the tokenizers' own decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tokenizers.pre_tokenizers import ByteLevel
from transformers import ByT5Tokenizer

from heedmap.errors import TokenizerMissing
from heedmap.text.pieces import Pieces, byte_alphabet


def test_the_byte_alphabet_is_the_tokenizers_own() -> None:
    alphabet = byte_alphabet()
    assert set(alphabet) == set(ByteLevel.alphabet())
    assert sorted(alphabet.values()) == list(range(256))
    spelled = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str("é 你\n\x04🙂ÿ")
    assert bytes(alphabet[letter] for letter in spelled[0][0]).decode() == "é 你\n\x04🙂ÿ"


def test_every_kind_of_tokenizer_is_spelled_as_it_decodes(
    smollm2_tokenizer: Any, composing: Any, byte_fallback: Any, metaspace: Callable[..., Any]
) -> None:
    for tokenizer in (smollm2_tokenizer, composing, byte_fallback, metaspace()):
        ids = tokenizer("the cats — 中文, naïve 🙂", add_special_tokens=False).input_ids
        spelled = b"".join(piece or b"" for piece in Pieces(tokenizer).spell(ids)).decode()
        assert spelled.removeprefix(" ") == tokenizer.decode(ids)


def test_wordpiece_continues_words(minilm_tokenizer: Any) -> None:
    ids = minilm_tokenizer("two embeddings").input_ids
    spelled = [b" [CLS]", b" two", b" em", b"bed", b"ding", b"s", b" [SEP]"]
    assert Pieces(minilm_tokenizer).spell(ids) == spelled


def test_a_number_beyond_the_vocabulary_spells_nothing(smollm2_tokenizer: Any) -> None:
    assert Pieces(smollm2_tokenizer).spell([504, 10**6, 504]) == [b"The", None, b"The"]


def test_names_of_special_tokens_lose_the_mark_for_a_space(composing: Any) -> None:
    pieces = Pieces(composing)
    pieces.special[7] = "<｜begin▁of▁sentence｜>"
    assert pieces.label_special(7) == "<｜begin_of_sentence｜>"


def test_no_tokenizer_and_slow_ones_are_refused() -> None:
    with pytest.raises(TokenizerMissing, match=r"there is no tokenizer: give the model's own, .*AutoTokenizer"):
        Pieces(None)  # type: ignore[arg-type]
    with pytest.raises(TokenizerMissing, match=r"ByT5Tokenizer does not say where in the text .*; a fast tokenizer"):
        Pieces(ByT5Tokenizer())
