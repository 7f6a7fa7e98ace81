"""The catalogue: what every entry must hold, and names that may have been meant."""

from __future__ import annotations

import re

import pytest

from heedmap.models.catalogue import CATALOGUE, DEFAULT_MODEL, CatalogueModel, catalogue_names, find_entry, near_names


def test_names_are_unique_and_the_default_is_among_them() -> None:
    assert len(set(catalogue_names())) == len(CATALOGUE)
    assert DEFAULT_MODEL in catalogue_names()


@pytest.mark.parametrize("entry", CATALOGUE, ids=catalogue_names())
def test_an_entry_says_where_it_is_and_pins_what_it_is(entry: CatalogueModel) -> None:
    assert entry.wheels or entry.hub_id
    hashes = [wheel.sha256 for wheel in entry.wheels]
    if entry.wheels:
        assert entry.sha256 is not None
        assert entry.download_size == sum(wheel.size for wheel in entry.wheels)
        hashes += [entry.sha256] + ([entry.gguf.sha256] if entry.gguf else [])
    assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in hashes)
    assert len(entry.title) <= 76  # one line of the list


def test_only_gemma_has_terms() -> None:
    assert [entry.name for entry in CATALOGUE if entry.terms_url] == ["gemma3"]


def test_find_entry_knows_exact_names_only() -> None:
    assert find_entry("smollm2") is CATALOGUE[0]
    assert find_entry("SmolLM2") is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("smolm2", "smollm2"),
        ("SmolLM2", "smollm2"),
        ("gemma-3", "gemma3"),
        ("mini-lm", "minilm"),
        ("qwen2.5", "qwen2.5-0.5b"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct-GGUF", "smollm2-full"),
        ("someone/distilbert-base-cased", "distilbert"),
    ],
)
def test_near_names(given: str, meant: str) -> None:
    assert near_names(given)[0] == meant


def test_nothing_is_near_to_something_else() -> None:
    assert near_names("gpt-neox-20b") == []
