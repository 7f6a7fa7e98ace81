"""The folder of a report: `report.json`, `report.html`, `report.md` and the charts; the rows stand there already."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedmap.files import write_beside
from heedmap.lab.experiment import Chart, Finding, Table, Value
from heedmap.lab.folder import write_json
from heedmap.lab.markdown import report_markdown
from heedmap.lab.registry import EXPERIMENTS
from heedmap.lab.report import REPORT_FILE, Report
from heedmap.lab.words import SEARCHED, interval_words, says_words, value_words

CHARTS = "charts"


def write_report(report: Report, folder: Path, links: Mapping[str, list[dict[str, str]]] | None = None) -> None:
    """Write all files of a report; the JSON comes last, so that where it stands the others do too.

    Args:
        report: what was found.
        folder: the folder of its run.
        links: pages that go with an experiment: their address from the folder, and what they show.

    Raises:
        FileError: the system refused to write.
    """
    context = context_of(report)
    (folder / CHARTS).mkdir(exist_ok=True)
    for shown, (name, finding) in zip(context["findings"], report.findings.items(), strict=True):
        shown["links"] = (links or {}).get(name, [])
        shown["charts"] = [
            _write_chart(chart, folder, f"{name}-{key}", report.run["model"]["name"])
            for key, chart in finding.charts.items()
        ]
    for name, content in (("report.html", report_html(context)), ("report.md", report_markdown(context))):
        with write_beside(folder / name) as beside:
            beside.write_text(content, encoding="utf-8")
    write_json(folder / REPORT_FILE, report.to_json())


def report_html(context: Mapping[str, Any]) -> str:
    """The report that `context_of` has put into words as a page that needs nothing else; texts are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("heedmap.lab"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("report.html").render(context)


def context_of(report: Report) -> dict[str, Any]:
    """The report as words, ready for a template; charts are added when they are drawn."""
    model = report.run["model"]
    about = f"{model['name']} ({model['class']}, {model['layers']} layers, {model['heads']} heads, {model['dtype']})"
    return {
        "title": f"Heedmap lab: {report.name} on {model['name']}",
        "about": f"Measured on {about}, {report.run['started']}.",
        "searched": SEARCHED,
        "findings": [_finding(name, finding) for name, finding in report.findings.items()],
        "run": [(name, words) for name, words in run_words(report.run)],
    }


def _finding(name: str, finding: Finding) -> dict[str, Any]:
    """One finding as words."""
    return {
        "name": name,
        "purpose": EXPERIMENTS[name][1] if name in EXPERIMENTS else "",
        "verdict": finding.verdict,
        "sentence": finding.sentence,
        "shows": finding.shows,
        "does_not_show": finding.does_not_show,
        "charts": [],
        "links": [],
        "tables": [_table(table) for table in finding.tables.values()],
        "figures": [
            {
                "name": key,
                "value": value_words(figure.value),
                "interval": interval_words(figure),
                "n": "" if figure.n is None else figure.n,
                "says": says_words(figure),
            }
            for key, figure in finding.figures.items()
        ],
    }


def _table(table: Table) -> dict[str, Any]:
    """One table as words."""

    def cell(value: Value) -> dict[str, Any]:
        return {"text": value_words(value), "number": isinstance(value, int | float)}

    return {
        "title": table.title,
        "columns": table.columns,
        "rows": [[cell(value) for value in row] for row in table.rows],
        "note": table.note,
        "searched": table.searched,
    }


def run_words(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How it was measured, a line each."""
    model, data = run["model"], run["data"]
    lines = [
        ("model", f"{model['name']}, {model['kind']}, revision {model['revision'] or '–'}"),
        ("weights (SHA-256)", model["sha256"]),
        ("tokenizer (SHA-256)", model["tokenizer"] or "–"),
        ("dtype and device", f"{model['dtype']} on {model['device']}"),
        ("data", data["source"]),
    ]
    for name, part in data["parts"].items():
        lines.append((f"items of {name}", f"{part['rows']} of {part['items']} (SHA-256 {part['items_sha256']})"))
        skipped = part["skipped_rows"]
        if skipped["count"]:
            lines.append((f"bad rows of {name}", f"{skipped['count']} skipped: {'; '.join(skipped['first'])}"))
        lines += [(f"item {item} of {name}", f"skipped: {reason}") for item, reason in part["skipped_items"].items()]
        settings = ", ".join(f"{key} {value_or_list(value)}" for key, value in part["settings"].items())
        lines.append((f"settings of {name}", settings))
    lines += [
        ("versions", ", ".join(f"{name} {number}" for name, number in run["versions"].items())),
        ("command", run["command"] or "–"),
        ("time", f"{run['seconds']} s, begun {run['started']}"),
    ]
    return lines


def value_or_list(value: Any) -> str:
    """A setting in words."""
    return " ".join(map(str, value)) if isinstance(value, list) else "–" if value is None else str(value)


def _write_chart(chart: Chart, folder: Path, name: str, model: str) -> dict[str, Any]:
    """Draw a chart, write it as SVG and PNG, and hand it back as the templates take it."""
    from heedmap.drawing.canvas import fit_paper, new_axes, quiet_frame, save_figure
    from heedmap.drawing.figure_text import write_title

    axes = new_axes(*chart.size)
    quiet_frame(axes)
    axes.spines[["top", "right"]].set_visible(False)
    chart.draw(axes)
    write_title(axes, chart.title, [f"{model}; {SEARCHED}" if chart.searched else model], claims_room=False)
    fit_paper(axes)
    for suffix in (".png", ".svg"):
        save_figure(axes.get_figure(root=True), folder / CHARTS / f"{name}{suffix}")  # type: ignore[arg-type]
    drawn = (folder / CHARTS / f"{name}.svg").read_bytes()
    return {
        "source": f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode()}",
        "file": f"{CHARTS}/{name}.svg",
        "says": chart.says,
        "searched": chart.searched,
    }
