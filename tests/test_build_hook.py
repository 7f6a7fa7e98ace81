"""No wheel goes out without the page's program, or with one made from other sources; editable installs need no npm."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import hatch_build
import pytest
from hatch_build import BUNDLE, FILES, SOURCES, ViewerHook, is_fresh, make_fresh, source_hash

ROOT = Path(hatch_build.__file__).parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with sources and a program that was made from them."""
    (tmp_path / "viewer/src/data").mkdir(parents=True)
    (tmp_path / "viewer/src/main.tsx").write_text("one", encoding="utf-8")
    (tmp_path / "viewer/src/data/worker.ts").write_text("two", encoding="utf-8")
    for name in SOURCES[1:]:
        (tmp_path / "viewer" / name).write_text(name, encoding="utf-8")
    (tmp_path / BUNDLE).mkdir(parents=True)
    for name in FILES:
        (tmp_path / BUNDLE / name).touch()
    stamp(tmp_path)
    return tmp_path


def stamp(root: Path) -> None:
    (root / BUNDLE / "sources.sha256").write_text(source_hash(root / "viewer") + "\n", encoding="utf-8")


def test_a_fresh_program_is_left_as_it_is(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: pytest.fail("npm is not needed"))
    make_fresh(checkout)


@pytest.mark.parametrize(
    "change", ["viewer/src/data/worker.ts", "viewer/package-lock.json", f"{BUNDLE}/sources.sha256"]
)
def test_a_change_makes_it_stale(checkout: Path, change: str) -> None:
    (checkout / change).write_text("changed", encoding="utf-8")
    assert not is_fresh(checkout)


@pytest.mark.parametrize("lost", FILES)
def test_a_missing_part_makes_it_stale(checkout: Path, lost: str) -> None:
    (checkout / BUNDLE / lost).unlink()
    assert not is_fresh(checkout)


def test_without_npm_nothing_is_packed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / BUNDLE / "page.js").unlink()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match=r"npm is not here: install Node 20\.19 or newer"):
        make_fresh(checkout)


def test_a_build_of_other_sources_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "viewer/src/main.tsx").write_text("newer", encoding="utf-8")
    monkeypatch.setattr(shutil, "which", lambda _: "npm")
    ran: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    with pytest.raises(RuntimeError, match="but not from the sources in viewer/"):
        make_fresh(checkout)
    assert [command[1] for command in ran] == ["ci", "run"]


def test_an_editable_install_needs_no_npm(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / BUNDLE / "page.js").unlink()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    hook = ViewerHook.__new__(ViewerHook)
    monkeypatch.setattr(ViewerHook, "root", str(checkout))
    hook.initialize("editable", {})
    with pytest.raises(RuntimeError, match="npm is not here"):
        hook.initialize("standard", {})


def test_the_program_here_says_what_it_was_made_from() -> None:
    """Vite writes the hash and Python compares it: both must work it out alike."""
    built = ROOT / BUNDLE / "sources.sha256"
    sources = [ROOT / "viewer" / name for name in SOURCES[1:]] + list((ROOT / "viewer" / "src").rglob("*"))
    if not built.is_file() or any(source.stat().st_mtime > built.stat().st_mtime for source in sources):
        pytest.skip("the page's program is missing here, or older than its sources: make viewer")
    assert is_fresh(ROOT)
