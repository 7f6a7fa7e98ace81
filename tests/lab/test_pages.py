"""The pages that a report links to."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedmap.errors import FileError
from heedmap.lab import pages
from heedmap.lab.registry import experiment
from heedmap.lab.request import Request
from heedmap.lab.run import RunPlace, perform
from heedmap.reading.model import Model


def run(model: Model, name: str, folder: Path, notes: list[str]) -> str:
    """The report of an experiment on two items, as HTML."""
    request = Request(name, {name: experiment(name).Settings(draws=100)}, {"name": model.name}, limit=2)
    perform(RunPlace(request, model, folder, note=notes.append))
    return (folder / "report.html").read_text(encoding="utf-8")


def test_a_report_links_to_the_head_it_found(smollm2: Model, tmp_path: Path) -> None:
    html = run(smollm2, "picture", tmp_path, [])
    assert 'href="pages/picture.html#layer=16&amp;head=3&amp;query=10"' in html
    assert "Look at layer 16 head 3 in “The trophy did not fit" in html
    assert "<html" in (tmp_path / "pages" / "picture.html").read_text(encoding="utf-8")


def test_a_report_is_written_without_a_page_that_cannot_be(
    minilm: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise FileError("the page's program was not built")

    monkeypatch.setattr(pages, "_write", refused)
    notes: list[str] = []
    html = run(minilm, "sink", tmp_path, notes)
    assert "pages/" not in html
    assert notes == ["no page for sink: the page's program was not built"]


def test_an_experiment_without_a_head_has_no_page(minilm: Model, tmp_path: Path) -> None:
    assert "pages/" not in run(minilm, "causal", tmp_path, [])
    assert not (tmp_path / "pages").exists()
