"""What the documents show is what the code does now: outputs, command reference, picture, Python snippets."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def builder() -> Any:
    """docs/build.py as a module."""
    specification = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def without_rounding(text: str) -> str:
    """Differences of rounding itself (2.1e-07) depend on the number of threads: their size stays, their digits go."""
    return re.sub(r"\b\d\.\d(e-0[5-9])\b", r"#\1", text)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_printed_outputs_are_what_the_commands_print(path: Path, builder: Any) -> None:
    text = path.read_text(encoding="utf-8")
    again = builder.refreshed(text, builder.run_command)
    assert without_rounding(again) == without_rounding(text), "stale: run `make docs`"


def test_the_command_reference_is_the_commands_help(builder: Any) -> None:
    committed = builder.REFERENCE.read_text(encoding="utf-8")
    assert builder.command_reference() == committed, "stale: run `make docs`"


def test_the_picture_is_drawn_by_the_code(builder: Any, tmp_path: Path) -> None:
    builder.draw_picture(tmp_path / "again.png")
    again, committed = imread(tmp_path / "again.png"), imread(builder.PICTURE)
    assert again.shape == committed.shape, "stale: run `make docs`"
    # Another build of the font library may move an edge by a shade; another number moves whole cells.
    assert np.abs(again - committed).mean() < 2e-3, "stale: run `make docs`"


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_python_snippets_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snippets = re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for snippet in snippets:
        if ">>>" not in snippet:  # those are doctests, run as such
            exec(compile(snippet, str(path), "exec"), {})


@pytest.mark.parametrize("path", [*documents(), ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target.replace("\n", "")).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_command_that_is_named_exists(path: Path) -> None:
    from heedmap.cli.main import COMMANDS

    named = re.findall(r"(?:^\$ |^    |`)heedmap ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= set(COMMANDS)


def test_the_makefile_has_the_targets_that_are_named() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"make ([a-z-]+)", path.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
