"""Running the command line inside the test process, with models that stay loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from heedmap.cli.main import main
from heedmap.reading import loading
from heedmap.reading.model import Model


class Run(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, read as strict JSON."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is not strict JSON")

        return json.loads(self.out, parse_constant=refuse)


CommandLine = Callable[..., Run]


@pytest.fixture
def heedmap_command(
    smollm2: Model, minilm: Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    """`heedmap_command("read", TEXT, ...)`: as from a shell of 80 columns, but without loading a model each time."""
    load = loading.load
    here = {"smollm2": smollm2, "minilm": minilm}

    def loaded(name: str, **options: Any) -> Model:
        plain = options == {"revision": None, "dtype": "auto", "device": "auto", "allow_random": False}
        return here[name] if name in here and plain else load(name, **options)

    monkeypatch.setattr(loading, "load", loaded)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> Run:
        capsys.readouterr()
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run
