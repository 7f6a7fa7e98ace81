"""Every hard text there is, through both real tokenizers: logs, code, scripts, emoji, broken bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import EmptyText, TextError
from heedmap.text import from_ids, tokenize


@pytest.fixture(scope="module")
def texts(data_folder: Path) -> list[tuple[str, str]]:
    return list(_texts(data_folder / "hard"))


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir()):
        if path.name != "utf16le.txt":
            yield path.name, path.read_bytes().decode(errors="replace")
    yield "utf16le.txt", (folder / "utf16le.txt").read_text(encoding="utf-16")
    for number, text in enumerate(json.loads((folder / "blns.json").read_text(encoding="utf-8"))):
        yield f"blns.json {number}", text


@pytest.mark.parametrize("kind", ["smollm2_tokenizer", "minilm_tokenizer"])
def test_every_hard_text(texts: list[tuple[str, str]], kind: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(kind)
    assert len(texts) > 500
    for name, text in texts:
        try:
            tokens = tokenize(tokenizer, text)
        except EmptyText:
            assert not text or not tokenizer(text, add_special_tokens=False).input_ids, name
            continue
        assert tokens.ids == tokenizer(text).input_ids, name
        for label in tokens.labels:
            assert label == label.strip(), name
            assert len(label.splitlines()) == 1, name
            assert not set(label) & {"\ufffd", "\x1b", "\u202e"}, name
        for word in {word.text: word for word in tokens.words()}.values():
            assert tokens.occurrences(word.text)[word.occurrence - 1] == word, name
        groups = tokens.groups()
        assert sorted(i for group in groups for i in group.tokens) == list(range(len(tokens))), name
        assert from_ids(tokenizer, tokens.ids).ids == tokens.ids, name


def test_bytes_that_are_not_utf8_are_refused_by_their_place(data_folder: Path, smollm2_tokenizer: Any) -> None:
    text = (data_folder / "hard" / "invalid_utf8.bin").read_bytes().decode(errors="surrogateescape")
    with pytest.raises(TextError, match=r"character 3 of the text is half of a surrogate pair \(U\+DCFF\)"):
        tokenize(smollm2_tokenizer, text)
