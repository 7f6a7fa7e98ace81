"""A report: every figure of a run, its verdicts, and all that is needed to run it again (`heedmap/report/1`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedmap.errors import FileError
from heedmap.json_form import Every, Maybe, Times, check_form, shown
from heedmap.lab.experiment import Figure, Finding, Table, Value
from heedmap.lab.folder import read_json

SCHEMA = "heedmap/report/1"
REPORT_FILE = "report.json"

_NUMBER = (float, type(None))
_FORM = {
    "figures": Every(
        {
            "value": (float, str, bool, type(None)),
            "interval": Maybe(Times(2, _NUMBER)),
            "n": Maybe(int),
            "says": Maybe(str),
            "searched": Maybe(bool),
        }
    ),
    "findings": Every({"verdict": str}),
    "run": {
        "request": dict,
        "model": {"name": str, "sha256": (str, type(None))},
        "versions": dict,
        "data": {"parts": Every({"settings": dict, "items_sha256": str})},
    },
}
"""What must be there of a report that is read; `Request.from_json` looks closer at the request."""


@dataclass(frozen=True)
class Report:
    """What a run found.

    Attributes:
        name: the experiment, or "all".
        findings: by experiment, in the order they ran.
        run: model, data, settings, versions, seeds, command, and the request to run again.
    """

    name: str
    findings: Mapping[str, Finding]
    run: Mapping[str, Any]

    @property
    def figures(self) -> dict[str, Figure]:
        """All figures by name."""
        return {name: figure for finding in self.findings.values() for name, figure in finding.figures.items()}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each experiment."""
        return {name: finding.verdict for name, finding in self.findings.items()}

    @property
    def verdict(self) -> str:
        """The verdict; of several experiments, each with its name."""
        if len(self.findings) == 1:
            return next(iter(self.verdicts.values()))
        return "; ".join(f"{name}: {verdict}" for name, verdict in self.verdicts.items())

    def to_json(self) -> dict[str, Any]:
        """The report as strict JSON; null for what is not a number."""
        return {
            "schema": SCHEMA,
            "experiment": self.name,
            "verdict": self.verdict,
            "figures": {name: figure_to_json(figure) for name, figure in self.figures.items()},
            "findings": {
                name: {
                    "verdict": finding.verdict,
                    "sentence": finding.sentence,
                    "shows": finding.shows,
                    "does_not_show": finding.does_not_show,
                    "tables": {key: _table_to_json(table) for key, table in finding.tables.items()},
                    "charts": {
                        key: {"title": chart.title, "says": chart.says, "searched": chart.searched}
                        for key, chart in finding.charts.items()
                    },
                }
                for name, finding in self.findings.items()
            },
            "run": dict(self.run),
        }


def figure_to_json(figure: Figure) -> dict[str, Any]:
    """One figure as JSON.

    Example:
        >>> figure_to_json(Figure(0.5, (0.4, float("nan")), 20, "median share"))
        {'value': 0.5, 'interval': [0.4, None], 'n': 20, 'says': 'median share', 'searched': False}
    """
    return {
        "value": plain(figure.value),
        "interval": None if figure.interval is None else [plain(end) for end in figure.interval],
        "n": None if figure.n is None else int(figure.n),
        "says": figure.says,
        "searched": figure.searched,
    }


def figure_from_json(given: Mapping[str, Any]) -> Figure:
    """The figure that `figure_to_json` wrote."""
    interval = given.get("interval")
    ends = None if interval is None else tuple(math.nan if end is None else float(end) for end in interval)
    return Figure(
        given["value"],
        None if ends is None else (ends[0], ends[1]),
        given.get("n"),
        given.get("says") or "",
        bool(given.get("searched")),
    )


def read_report(path: Path) -> tuple[dict[str, Figure], dict[str, str], dict[str, Any]]:
    """Figures, verdicts and run of a `report.json`, or of the folder that holds it.

    Raises:
        FileError: it cannot be read, or is no report.
    """
    path = path / REPORT_FILE if path.is_dir() else path
    found = read_json(path)
    if found.get("schema") != SCHEMA:
        raise FileError(f"{path} is not a report of the lab ({SCHEMA}); its schema is {shown(found.get('schema'))}")
    check_form(found, _FORM, str(path))
    figures = {name: figure_from_json(figure) for name, figure in found["figures"].items()}
    verdicts = {name: finding["verdict"] for name, finding in found["findings"].items()}
    return figures, verdicts, found["run"]


def plain(value: Any) -> Value:
    """A number or word as JSON can hold it: None for what is not a number or infinite.

    Example:
        >>> plain(float("nan")), plain(0.25), plain(True), plain("causal")
        (None, 0.25, True, 'causal')
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a figure is a number, a word or None, not {value!r}")


def _table_to_json(table: Table) -> dict[str, Any]:
    """One table as JSON."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[plain(cell) for cell in row] for row in table.rows],
        "note": table.note,
        "searched": table.searched,
    }
