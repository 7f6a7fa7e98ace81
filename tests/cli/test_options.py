"""What commands that read say before a run that is long or large, and how one that cannot fit ends."""

from __future__ import annotations

import pytest

from heedmap.reading import cost, memory
from tests.cli.conftest import CommandLine


def test_the_cost_of_a_long_run_is_said_before_it_starts(
    heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "_SLOWEST", 0.0)
    monkeypatch.setattr(cost, "_rates", lambda *_: (1e7, 1e7))
    run = heedmap_command("read", "The cat sat on the mat", "--word", "mat", "--json")
    assert run.code == 0
    assert run.json["schema"] == "heedmap/row/1"
    assert run.err.startswith("6 tokens: about 1.3 giga operations, 2.2 minutes and ")


def test_a_short_run_says_nothing_of_its_cost(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", "The cat sat on the mat", "--word", "mat")
    assert "operations" not in run.err


def test_a_run_that_cannot_fit_ends_in_one_line(heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda _: 1000)
    run = heedmap_command("read", "The cat sat on the mat", "--word", "mat")
    assert (run.code, run.out) == (1, "")
    assert "heedmap: reading 6 tokens and keeping 1 layer needs about" in run.err
    assert "and 1000 bytes are free: read a shorter text, or take a smaller dtype" in run.err
    assert "Traceback" not in run.err
