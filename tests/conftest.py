"""What all tests share: the two real models, their tokenizers, and the folder of texts that may be given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import settings

import heedmap
from heedmap.reading.model import Model
from tests.layouts import shift_all_calls
from tests.perturbed import Rounded

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Chains of small operations are erratic with two threads on a busy machine; the tests use processes instead.
torch.set_num_threads(int(os.environ.get("HEEDMAP_TEST_THREADS", "1")))

# No deadline: a shared machine pauses at random. The same examples every run, so that a failure can be had again;
# HYPOTHESIS_PROFILE=search draws new ones (`make test-all`), seeded those of --hypothesis-seed (`make test-machines`).
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=400)
settings.register_profile("seeded", deadline=None, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

if os.environ.get("HEEDMAP_TEST_LAYOUT") == "shifted":
    shift_all_calls()
if os.environ.get("HEEDMAP_TEST_LAYOUT") == "rounded":
    Rounded().__enter__()  # type: ignore[no-untyped-call]

TROPHY = "The trophy did not fit in the suitcase because it was too big."

ROUNDING = 2e-5
"""How far two ways to a weight, or to the sum of a row, may be apart. Float32 keeps 24 bits of a score, and every
processor, and every layout of the same numbers, has its own order of adding up: a row of smollm2 that is computed alone
is up to 5e-6 away from that of the whole map."""


@pytest.fixture(scope="session")
def smollm2() -> Model:
    """The default model: a causal decoder of 30 layers, 9 query heads and 3 key-value heads."""
    return heedmap.load("smollm2")


@pytest.fixture(scope="session")
def minilm() -> Model:
    """An encoder of 6 layers and 12 heads."""
    return heedmap.load("minilm")


@pytest.fixture(scope="session")
def smollm2_tokenizer(smollm2: Model) -> Any:
    """A byte-level tokenizer that adds no special tokens."""
    return smollm2.tokenizer


@pytest.fixture(scope="session")
def minilm_tokenizer(minilm: Model) -> Any:
    """A lower-casing word-piece tokenizer that adds [CLS] and [SEP]."""
    return minilm.tokenizer


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder named by HEEDMAP_DATA: long texts, hard texts, data sets of pronouns."""
    folder = os.environ.get("HEEDMAP_DATA")
    if not folder:
        pytest.skip("HEEDMAP_DATA does not name the folder of texts and data sets")
    if not Path(folder).is_dir():
        pytest.fail(f"HEEDMAP_DATA names {folder}, which is not a folder")
    return Path(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Real Chromium, without a window."""
    from tests.browser import chromium

    with chromium() as started:
        yield started
