"""The frame of the command line: help, versions, exit codes, completion, broken pipes and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import click
import pytest

import heedmap
from heedmap.cli import main as main_module
from heedmap.cli.main import COMMANDS, main


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_every_command_has_help(name: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"] if name is None else [name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage: heedmap")
    # A command to copy stays on one line, however long.
    assert all(len(line) <= 80 for line in out.splitlines() if "heedmap " not in line)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"heedmap, version {heedmap.__version__}\n"


def test_python_m_heedmap() -> None:
    result = subprocess.run([sys.executable, "-m", "heedmap", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"heedmap, version {heedmap.__version__}\n"


def test_a_command_that_does_not_exist_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reed"]) == 2
    assert "No such command 'reed'. Did you mean read?" in capsys.readouterr().err
    assert main(["zzz"]) == 2
    assert "There are: " in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_HEEDMAP_COMPLETE" in capsys.readouterr().out


def test_completion_completes() -> None:
    environment = {**os.environ, "_HEEDMAP_COMPLETE": "bash_complete", "COMP_WORDS": "heedmap re", "COMP_CWORD": "1"}
    command = [sys.executable, "-c", "from heedmap.cli.main import heedmap; heedmap(prog_name='heedmap')"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "read" in result.stdout


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (heedmap.HeedmapError("the word is missing"), 1, "heedmap: the word is missing"),
        (FileNotFoundError(2, "No such file or directory", "x.txt"), 1, "heedmap: No such file or directory: x.txt"),
        (OSError("disk trouble"), 1, "heedmap: OSError"),
        (RuntimeError("of our own\nwith more lines"), 1, "heedmap: unexpected error, please report it"),
        (KeyboardInterrupt(), 130, "heedmap: interrupted"),
        (click.Abort(), 130, "heedmap: interrupted"),
        (click.UsageError("no such option"), 2, "no such option"),
    ],
)
def test_every_error_is_one_line_and_an_exit_code(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.delenv("HEEDMAP_DEBUG", raising=False)
    monkeypatch.setattr(main_module.heedmap, "main", fail)
    assert main([]) == code
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    if code != 2:
        assert len(err.splitlines()) == 1


def test_a_traceback_only_on_demand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HEEDMAP_DEBUG", "1")
    assert main(["read", ""]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_ends_with_130_and_no_traceback() -> None:
    command = [sys.executable, "-m", "heedmap", "read", "-"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)  # it waits for its text by then; earlier, Python itself is still starting
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip() == "heedmap: interrupted"


def test_a_reader_that_has_gone_is_no_traceback() -> None:
    command = f"{sys.executable} -m heedmap compute --example cat | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
