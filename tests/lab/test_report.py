"""The report folder: strict JSON, an HTML page that needs nothing else, Markdown, charts, rows."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from heedmap.drawing.terminal import to_text
from heedmap.errors import FileError
from heedmap.lab.experiment import Chart, Figure, Finding, Table
from heedmap.lab.report import Report, plain, read_report
from heedmap.lab.show import report_lines
from heedmap.lab.write import write_report
from tests.lab.making import run_toy

HOSTILE = "<script>alert(1)</script> [x](javascript:1) | `a` & \x1b[31m‮"


def drawn(axes: Axes) -> None:
    axes.plot([1, 2, 3])


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """A report with a hostile text everywhere, in a folder with its rows."""
    made = run_toy(tmp_path / "report")
    assert made is not None
    table = Table(HOSTILE, ["item", "share"], [[HOSTILE, 0.25], [None, float("nan")]], HOSTILE, searched=True)
    finding = Finding(
        {"toy.mean": Figure(0.5, (0.25, float("nan")), 40, HOSTILE, searched=True), "toy.word": Figure(HOSTILE)},
        "fine",
        HOSTILE,
        [HOSTILE],
        [HOSTILE],
        {"items": table},
        {"line": Chart(HOSTILE, drawn, HOSTILE, searched=True)},
    )
    return replace(made, findings={"toy": finding})


class Page(HTMLParser):
    """The elements of a page, and what it would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.loads: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_html_needs_nothing_else_and_runs_nothing(report: Report, tmp_path: Path) -> None:
    links = {"toy": [{"address": "pages/toy.html#layer=1", "says": HOSTILE}]}
    write_report(report, tmp_path / "report", links)
    page = Page()
    page.feed((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    assert "script" not in page.elements
    assert page.words.count("<script>alert(1)</script>") >= 6
    assert sorted(page.loads)[1:] == ["pages/toy.html#layer=1"]
    kind, _, content = sorted(page.loads)[0].partition(",")
    assert kind == "data:image/svg+xml;base64"
    drawn = base64.b64decode(content)
    assert drawn == (tmp_path / "report" / "charts" / "toy-line.svg").read_bytes()
    assert b"<script" not in drawn
    assert page.words.count("chosen by searching") >= 3
    assert "heedmap lab rerun report.json" in page.words


def test_markdown_shows_texts_as_they_are(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "\n# " in f"\n{text}"
    assert not re.search(r"(?<!\\)<", text)
    assert not re.search(r"(?<!\\)\[x", text)
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 4
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}


def test_json_is_strict_and_reads_back(report: Report, tmp_path: Path) -> None:
    write_report(report, tmp_path / "report")

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not strict JSON")

    found = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert found["schema"] == "heedmap/report/1"
    assert found["figures"]["toy.mean"] == {
        "value": 0.5,
        "interval": [0.25, None],
        "n": 40,
        "says": HOSTILE,
        "searched": True,
    }
    assert set(found["run"]) >= {"model", "data", "seeds", "versions", "command", "request", "started", "seconds"}
    figures, verdicts, run = read_report(tmp_path / "report")
    assert figures["toy.mean"].value == 0.5
    assert figures["toy.mean"].interval is not None
    assert np.isnan(figures["toy.mean"].interval[1])
    assert verdicts == {"toy": "fine"}
    assert run["seeds"] == {"toy": 0}


def test_every_file_is_there(tmp_path: Path) -> None:
    run_toy(tmp_path / "report")
    names = {one.relative_to(tmp_path / "report").as_posix() for one in (tmp_path / "report").rglob("*")}
    assert names >= {"report.json", "report.html", "report.md", "charts", "rows/toy.parquet", "run.json"}
    assert not [name for name in names if ".part" in name or ".heedmap-" in name]


def test_charts_are_svg_and_png_and_the_same_each_time(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_report(report, folder)
    before = (folder / "charts" / "toy-line.svg").read_bytes()
    assert (folder / "charts" / "toy-line.png").read_bytes().startswith(b"\x89PNG")
    write_report(report, folder)
    assert (folder / "charts" / "toy-line.svg").read_bytes() == before


def test_the_terminal_shows_verdict_figures_and_tables(report: Report) -> None:
    text = to_text(report_lines(report), width=80)
    assert text.startswith("toy: fine\n")
    assert "\x1b" not in text
    for words in ("What it shows", "What it does not show", "toy.mean", "0.500", "chosen by searching"):
        assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_a_report_of_several_experiments_names_each_verdict(report: Report) -> None:
    both = replace(report, name="all", findings={"one": report.findings["toy"], "two": report.findings["toy"]})
    assert both.verdict == "one: fine; two: fine"
    assert both.to_json()["experiment"] == "all"


@pytest.mark.parametrize(("given", "value"), [(np.float32(0.5), 0.5), (np.bool_(True), True), (np.int64(3), 3)])
def test_numbers_of_numpy_are_numbers(given: Any, value: Any) -> None:
    assert plain(given) == value
    assert type(plain(given)) is type(value)


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema": "heedmap/stats/1"}')
    with pytest.raises(FileError, match=r"is not a report of the lab \(heedmap/report/1\); its schema is 'heedmap/st"):
        read_report(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("[1]")
    with pytest.raises(FileError, match="holds no JSON object"):
        read_report(tmp_path / "b.json")
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(FileError, match="is not JSON"):
        read_report(tmp_path / "c.json")
