"""The progress bar: on a terminal alone, only for long work, and gone afterwards."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import time
from contextlib import redirect_stderr

import pytest

from heedmap.cli import progress
from heedmap.cli.progress import progress_bar


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def wait_for(terminal: Terminal, text: str) -> None:
    for _ in range(500):
        if text in terminal.getvalue():
            return
        time.sleep(0.01)
    pytest.fail(f"{text!r} was never drawn: {terminal.getvalue()!r}")


def test_long_work_is_drawn_with_its_name_and_count(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with redirect_stderr(terminal), progress_bar() as tell:
        assert tell is not None
        tell(3, 30, "reading [bold]layers[/bold]")  # names are shown as they are
        wait_for(terminal, "reading [bold]layers[/bold]")
        wait_for(terminal, "3/30")
        tell(29, 30, "reading layers")
        wait_for(terminal, "29/30")
    assert terminal.getvalue().endswith("\x1b[2K") or "\x1b[?25h" in terminal.getvalue()[-40:]


def test_work_that_says_nothing_is_still_drawn(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with redirect_stderr(terminal), progress_bar():
        wait_for(terminal, "working")


def test_short_work_draws_nothing(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress_bar() as tell:
        assert tell is not None
        for done in range(31):
            tell(done, 30, "reading layers")
    time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_the_bar_goes_after_an_error(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)

    def work() -> None:
        with redirect_stderr(terminal), progress_bar() as tell:
            assert tell is not None
            tell(1, 2, "dividing")
            wait_for(terminal, "dividing")
            1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        work()
    after = len(terminal.getvalue())
    time.sleep(0.3)
    assert len(terminal.getvalue()) == after


@pytest.mark.parametrize("terminal_name", ["dumb", "unknown"])
def test_a_dumb_terminal_gets_no_bar(terminal: Terminal, terminal_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", terminal_name)
    with redirect_stderr(terminal), progress_bar() as tell:
        assert tell is None


def test_no_terminal_gets_no_bar() -> None:
    with redirect_stderr(io.StringIO()), progress_bar() as tell:
        assert tell is None


def test_on_a_real_terminal_stdout_stays_clean() -> None:
    code = (
        "import time\nfrom heedmap.cli import progress\nprogress.PATIENCE = 0.01\n"
        "with progress.progress_bar() as tell:\n"
        "    tell(1, 2, 'half done')\n"
        "    while tell.__self__._drawn is None: time.sleep(0.01)  # rich takes its time to import on a busy machine\n"
        "    tell(2, 2, 'half done')\n"
        "print('data')\n"
    )
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        check=True,
    )
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.stdout == b"data\n"
    assert "half done" in shown
