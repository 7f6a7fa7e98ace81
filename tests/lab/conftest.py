"""The made-up experiment is among those of the lab while its tests run, and every finding keeps to declared names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from heedmap.lab.experiment import Finding
from heedmap.lab.registry import EXPERIMENTS, experiment
from tests.lab.making import TOY


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "toy", TOY)


@pytest.fixture(autouse=True)
def _figures_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are checked against the declared names before a run: what a run gives must be among them."""
    make = Finding.__init__

    def checked(self: Finding, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        for figure in self.figures:
            of, _, name = figure.partition(".")
            if of in EXPERIMENTS:
                assert any(fnmatchcase(name, one) for one in experiment(of).figures), f"{figure} is not declared"

    monkeypatch.setattr(Finding, "__init__", checked)
