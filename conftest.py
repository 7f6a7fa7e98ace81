"""For all that is run: its guard. For the examples in docstrings: models stay loaded from one to the next."""

from __future__ import annotations

import functools

import pytest

import heedmap
from heedmap.reading.loading import load

pytest_plugins = ["tests.guard"]

_load_once = functools.cache(load)

# Programs that run when they are imported: a lesson shows one, and a test starts the other where Ray is installed.
collect_ignore = ["src/heedmap/lessons/scripts/twenty_lines.py", "tests/lab/ray_run.py"]


@pytest.fixture(autouse=True)
def _models_stay_loaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr(heedmap, "load", _load_once)
