"""`heedmap next`: the odds of the next token, and the row of the last word beside them."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import CommandLine

CAPITAL = "The capital of France is"


def test_the_capital_of_france(heedmap_command: CommandLine) -> None:
    run = heedmap_command("next", CAPITAL, "--top", "3")
    assert run.code == 0
    assert re.search(r"Paris +0\.773", run.out)
    assert re.search(r"together 0\.8[45]\d of all that the model holds possible", run.out)
    assert "where “is” looks: layer 15, mean over heads of smollm2" in run.out


def test_the_json(heedmap_command: CommandLine) -> None:
    data = heedmap_command("next", CAPITAL, "--json", "--layer", "3").json
    assert data["schema"] == "heedmap/next/1"
    assert len(data["next"]) == 10
    assert data["next"][0]["probability"] == pytest.approx(0.773, abs=5e-4)
    assert (data["row"]["schema"], data["row"]["query"], data["row"]["layer"]) == ("heedmap/row/1", [4], 3)


def test_errors(heedmap_command: CommandLine) -> None:
    assert heedmap_command("next", CAPITAL, "--top", "0").code == 2
    run = heedmap_command("next", CAPITAL, "--top", "500")
    assert (run.code, run.out) == (1, "")
    assert "500 next tokens were asked for: take 1 to 100" in run.err
    run = heedmap_command("next", CAPITAL, "--model", "minilm")
    assert (run.code, run.out) == (1, "")
    assert "minilm does not predict a next token" in run.err
