"""Every hard text there is, through both real tokenizers: logs, code, scripts, emoji, broken bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import EmptyText, TextError
from heedmap.text import from_ids, tokenize

KINDS = ["smollm2_tokenizer", "minilm_tokenizer"]


@pytest.fixture(scope="module")
def files(data_folder: Path) -> dict[str, str]:
    found = {path.name: path.read_bytes().decode(errors="replace") for path in (data_folder / "hard").iterdir()}
    return found | {"utf16le.txt": (data_folder / "hard" / "utf16le.txt").read_text(encoding="utf-16")}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_hard_text(files: dict[str, str], kind: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(kind)
    naughty = json.loads(files["blns.json"])
    assert len(naughty) > 500
    for text in [*files.values(), *naughty]:
        try:
            tokens = tokenize(tokenizer, text)
        except EmptyText:
            assert not text or not tokenizer(text, add_special_tokens=False).input_ids, text
            continue
        assert tokens.ids == tokenizer(text).input_ids, text
        for label in tokens.labels:
            assert label == label.strip(), text
            assert len(label.splitlines()) == 1, text
            assert not set(label) & {"\ufffd", "\x1b", "\u202e"}, text


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_every_hard_file(files: dict[str, str], kind: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(kind)
    for name, text in files.items():
        if name == "empty.txt":
            continue
        tokens = tokenize(tokenizer, text)
        words = tokens.words()
        for word in {word.text: word for word in words}.values():
            assert tokens.occurrences(word.text)[word.occurrence - 1] == word, name
        groups = tokens.groups()
        assert sorted(i for group in groups for i in group.tokens) == list(range(len(tokens))), name
        assert from_ids(tokenizer, tokens.ids).ids == tokens.ids, name


def test_bytes_that_are_not_utf8_are_refused_by_their_place(data_folder: Path, smollm2_tokenizer: Any) -> None:
    text = (data_folder / "hard" / "invalid_utf8.bin").read_bytes().decode(errors="surrogateescape")
    with pytest.raises(TextError, match=r"character 3 of the text is half of a surrogate pair \(U\+DCFF\)"):
        tokenize(smollm2_tokenizer, text)
