"""A tiny model that lessons take for smollm2: what they compute of a model is checked in milliseconds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import heedmap
import heedmap.lessons.computations
from heedmap.lessons import live_asked, live_carried, live_look, live_mixed, live_model, live_picked, live_removed
from heedmap.reading.model import Model
from tests.tiny import tiny_model

KEPT: tuple[functools._lru_cache_wrapper[Any], ...] = (
    live_asked.log_odds,
    live_carried.carried,
    live_look._reading,
    live_look.largest_differences,
    live_mixed.moved,
    live_model.holders,
    live_picked.looks_of,
    live_removed.removals,
)
"""What the computations remember of the models that they have asked."""


@pytest.fixture(scope="session")
def tiny_decoder(smollm2_tokenizer: Any) -> Model:
    """Three layers of four random heads (two key-value heads), which read by smollm2's tokenizer."""
    module = tiny_model("llama", vocab_size=len(smollm2_tokenizer), pad_token_id=None)
    return heedmap.wrap(module, smollm2_tokenizer, name="tiny")


@pytest.fixture(scope="session")
def tiny_encoder(minilm_tokenizer: Any) -> Model:
    """The same, looking both ways, by minilm's tokenizer."""
    return heedmap.wrap(tiny_model("bert", vocab_size=len(minilm_tokenizer)), minilm_tokenizer, name="tiny")


@pytest.fixture
def tiny_stands_in(tiny_decoder: Model, tiny_encoder: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """Lessons ask the tiny models instead of smollm2 and minilm, and forget it afterwards."""
    here = {"smollm2": tiny_decoder, "minilm": tiny_encoder}
    monkeypatch.setattr("heedmap.lessons.live_model.load_once", lambda name, **options: here[name])
    forget()
    yield tiny_decoder
    forget()


def forget() -> None:
    """Forget what was computed of models."""
    for cached in KEPT:
        cached.cache_clear()
