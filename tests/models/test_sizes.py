"""Configurations that are much larger than their weights are refused before anything is built for them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import HeedmapError, MissingWeights, ModelError
from heedmap.models import sizes
from heedmap.models.configuration import find_configuration
from heedmap.models.load import load_model
from tests.models.making import edit_json


@pytest.fixture
def given(tiny_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    shutil.copytree(tiny_folder, folder)
    return folder


@pytest.mark.parametrize("name", ["num_hidden_layers", "n_layer", "num_local_experts"])
def test_more_layers_than_any_model_has(given: Path, name: str) -> None:
    edit_json(given / "config.json", **{name: 2**40})
    with pytest.raises(ModelError, match=rf"config\.json says {name} = 1099511627776: no model has more than 4,096"):
        load_model(given)
    with pytest.raises(ModelError, match="no model has more than"):
        find_configuration(given / "config.json")


@pytest.mark.parametrize(
    "changes",
    [{"hidden_size": 2**16}, {"intermediate_size": 2**30}, {"num_hidden_layers": 4000}, {"vocab_size": 2**40}],
)
def test_a_configuration_of_another_model(given: Path, changes: dict[str, Any]) -> None:
    edit_json(given / "config.json", **changes)
    with pytest.raises(HeedmapError, match=r"describes a model of .* parameters, and its weights hold") as raised:
        load_model(given)
    assert isinstance(raised.value, MissingWeights)


def test_a_sound_model_is_not_built_twice(given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_parameters", lambda folder: pytest.fail("built"))
    load_model(given)
