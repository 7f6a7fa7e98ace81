"""What README and pages say is what the code does now: outputs, command reference, picture, links, targets."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from docs.build import PICTURE, REFERENCE, all_pages, command_reference, draw_picture
from docs.running import models_stay_loaded
from matplotlib.image import imread

ROOT = Path(__file__).parents[1]


def test_the_command_reference_is_the_commands_help() -> None:
    committed = REFERENCE.read_text(encoding="utf-8")
    assert command_reference() == committed, "stale: run `make docs`"


def test_the_picture_is_drawn_by_the_code(tmp_path: Path) -> None:
    with models_stay_loaded():
        draw_picture(tmp_path / "again.png")
    again, committed = imread(tmp_path / "again.png"), imread(PICTURE)
    assert again.shape == committed.shape, "stale: run `make docs`"
    # Another build of the font library may move an edge by a shade; another number moves whole cells.
    assert np.abs(again - committed).mean() < 2e-3, "stale: run `make docs`"


@pytest.mark.parametrize("path", [*all_pages(), ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target.replace("\n", "")).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", all_pages(), ids=lambda path: path.name)
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
