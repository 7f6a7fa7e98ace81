"""Text from anybody's files cannot steer the terminal, whether it is printed as data, as a note or as an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.lab.registry import EXPERIMENTS
from tests.fuzz.command_line import NotMet
from tests.fuzz.command_line import run as run_command
from tests.lab.making import TOY, run_toy

STEERS = "\x1b]0;title\x07\x1b[31m\u009b32m\u202e"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report whose figures, verdict and texts are called so, and what is expected of it."""
    monkeypatch.setitem(EXPERIMENTS, "toy", TOY)
    run_toy(tmp_path / "report", items=4)
    path = tmp_path / "report" / "report.json"
    report: dict[str, Any] = json.loads(path.read_text())
    report["figures"] = {STEERS + name: figure for name, figure in report["figures"].items()}
    report["findings"]["toy"] |= {"verdict": STEERS}
    path.write_text(json.dumps(report))
    part = {"title": STEERS, "experiment": "toy", "figures": {STEERS + "toy.mean": {"value": 1.0}}}
    model = {"name": STEERS, "sha256": None}
    expected = {"schema": "heedmap/expectations/1", "title": STEERS, "model": model, "parts": [part]}
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    return tmp_path


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_report_of_somebody_else(hostile: Path, more: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    from heedmap.cli.main import main

    code = main(["lab", "check", str(hostile / "report"), "--expect", str(hostile / "expected.json"), *more])
    assert code == 3
    printed, said = capfd.readouterr()
    assert "toy.mean" in printed
    assert not set(printed + said) & set(STEERS) - set("0;title]0[31m2m")
    if more:
        assert json.loads(printed)["figures"][0]["figure"] == STEERS + "toy.mean"


def test_a_claim_that_is_not_met(hostile: Path) -> None:
    with pytest.raises(NotMet) as caught:
        run_command(["lab", "check", str(hostile / "report"), "--claim", "fine"])
    assert not set(str(caught.value)) & {"\x1b", "\x07", "\u009b", "\u202e"}
