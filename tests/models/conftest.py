"""Tiny models, GGUF files and wheels made on the spot, an empty cache, and a Hub that answers on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from tests.models.fake_hub import FakeHub
from tests.models.making import save_tiny_model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty caches, Heedmap's and the Hub's, for this test alone; returns Heedmap's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HEEDMAP_CACHE", str(folder))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HEEDMAP_ACCEPT_TERMS"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that pip looks in: a folder for wheels, without the network."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved llama of two layers with its tokenizer; not to be changed by a test."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def fake_hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A server that speaks the Hub's protocol, asked instead of the Hub."""
    with FakeHub() as hub:
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield hub


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    """A model of one's own, in a folder with a space in its name, to be changed at will."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "my model"))
