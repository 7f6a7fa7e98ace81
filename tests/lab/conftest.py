"""The made-up experiment is among those of the lab while its tests run."""

from __future__ import annotations

import pytest

from heedmap.lab.registry import EXPERIMENTS
from tests.lab.making import TOY


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "toy", TOY)
