"""The table of commands has all of them."""

from __future__ import annotations

from benchmarks.startup import COMMANDS

from heedmap.cli import main

NO_MODEL_FOR_IT = {"picture"}


def test_every_command_is_measured() -> None:
    assert {arguments[0] for arguments in COMMANDS.values()} - {"--help"} == set(main.COMMANDS) - NO_MODEL_FOR_IT
