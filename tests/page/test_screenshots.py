"""The pictures of the page in the documents: shown there, and what the page looks like now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from docs.screenshots import IMAGES, SHOTS, take
from matplotlib.image import imread
from playwright.sync_api import Browser

DOCUMENTS = [IMAGES.parent / "page.md", IMAGES.parents[1] / "README.md"]


@pytest.mark.parametrize("name", [shot.name for shot in SHOTS])
def test_every_picture_is_there_and_shown(name: str) -> None:
    assert imread(IMAGES / f"{name}.png").shape[1] == 1280
    assert any(f"images/{name}.png" in path.read_text(encoding="utf-8") for path in DOCUMENTS)


@pytest.mark.slow
def test_the_pictures_are_what_the_page_looks_like(browser: Browser, folder: Path, tmp_path: Path) -> None:
    """Taken again, few pixels differ: another build of a font moves edges, another number or colour whole areas."""
    for path in take(browser, tmp_path):
        again, committed = (imread(one)[..., :3] for one in (path, IMAGES / path.name))
        assert again.shape == committed.shape, "stale: run `make docs`"
        assert np.abs(again - committed).mean() < 0.02, f"{path.name} is stale: run `make docs`"
