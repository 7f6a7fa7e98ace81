"""`heedmap lab rerun`, `check` and `merge`: what can be done with a report and with shards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, show
from heedmap.cli.lab_run import CLAIM_NOT_MET, ENGINES, check_claims, claim_option, run_request, tell
from heedmap.cli.options import json_option

if TYPE_CHECKING:
    from heedmap.lab.agreement import Line

COMPARISON_SCHEMA = "heedmap/comparison/1"
MOST_LINES = 20

report_argument = click.argument("report", type=click.Path(path_type=Path, exists=True), metavar="REPORT.JSON")


@click.command("rerun")
@report_argument
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Where; by default beside it.")
@click.option("--resume", is_flag=True, help="Go on with a rerun that was interrupted (with -o).")
@click.option("--engine", type=click.Choice(ENGINES), default="here", show_default=True, help="Where it runs.")
@json_option
def rerun(report: Path, output: Path | None, resume: bool, engine: str, as_json: bool) -> int:
    """Run a report again beside the old one, and say figure by figure whether it is the same.

    The same model, data, settings and seeds. Exit code 0 when all figures are the same (within the rounding of another
    machine at most, or turned by it: a near tie), 3 when one differs.
    """
    from heedmap.lab.agreement import compare
    from heedmap.lab.near_ties import settle
    from heedmap.lab.report import read_report
    from heedmap.lab.request import Request
    from heedmap.lab.rounding import rounding_of
    from heedmap.lab.row_files import read_rows

    before, _, run = read_report(report)
    folder = output or _beside(report if report.is_dir() else report.resolve().parent)
    request = Request.from_json(run["request"])
    again = run_request(request, folder, resume=resume, engine=engine)
    assert again is not None, "a report is of a whole run"
    for line in _what_changed(run, dict(again.run)):
        note(line)
    note(f"wrote {folder / 'report.html'}")
    within = rounding_of(again.run["model"]["dtype"])
    rows = {name: read_rows(folder, name) for name in request.settings}
    return _say(settle(compare(before, again.figures, within), before, rows, request.settings, within), as_json)


def _beside(folder: Path) -> Path:
    """A new folder beside the old one: `report-2`, `report-3` ..."""
    number = 2
    while (beside := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return beside


def _what_changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is not as it was: weights, data, versions."""
    from heedmap.lab.plan import differences

    return [f"not as it was: {line}" for line in differences(_identity(before), _identity(now))]


def _identity(run: dict[str, Any]) -> dict[str, Any]:
    """What the figures of a run depend on, beside settings and seeds."""
    return {
        "model": {name: run["model"].get(name) for name in ("sha256", "tokenizer", "dtype", "device")},
        "versions": run["versions"],
        "data": {name: part["items_sha256"] for name, part in run["data"]["parts"].items()},
    }


@click.command("check")
@report_argument
@click.option(
    "--expect",
    type=click.Path(path_type=Path),
    metavar="FIGURES.JSON",
    help="Expected figures: a file, or the name of one that is shipped (smollm2, minilm, qwen2.5-0.5b).",
)
@click.option("--other-weights", is_flag=True, help="Compare although the weights' hash is another.")
@claim_option
@json_option
def check(report: Path, expect: Path | None, other_weights: bool, claims: tuple[Any, ...], as_json: bool) -> int:
    """Compare a report with expected figures, each within its stated tolerance, or with claims.

    Exit code 0 when all agree, 3 when one does not.
    """
    from heedmap.lab.agreement import check as check_figures
    from heedmap.lab.expectations import parts_for, read_expectations
    from heedmap.lab.report import read_report

    if expect is None and not claims:
        raise click.UsageError("give --expect FIGURES.JSON or --claim")
    figures, verdicts, run = read_report(report)
    code = check_claims(figures, verdicts, claims)
    if expect is not None:
        lines: list[Line] = []
        for part in parts_for(read_expectations(expect), run, other_weights=other_weights):
            note(f"{part.experiment}: {part.title}")
            lines += check_figures(part.figures, figures)
        code = max(code, _say(lines, as_json, most=None))
    return code


@click.command("merge")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="A new folder.")
@claim_option
@json_option
def merge(folders: Sequence[Path], output: Path, claims: tuple[Any, ...], as_json: bool) -> int:
    """Put the shards of a run (`--shard 1/4` and so on) together into one report.

    The report has the figures that one machine alone would have given: everything is computed from the rows.
    """
    from heedmap.lab.merge import merge_shards

    report = merge_shards(folders, output, command=["heedmap", *sys.argv[1:]])
    note(f"wrote {output / 'report.html'}, report.json, report.md, charts and rows")
    tell(report, as_json=as_json)
    return check_claims(report.figures, report.verdicts, claims)


def _say(lines: Sequence[Line], as_json: bool, most: int | None = MOST_LINES) -> int:
    """Show a comparison; the exit code."""
    from heedmap.lab.agreement import TURNED
    from heedmap.lab.report import plain
    from heedmap.lab.words import SEARCHED

    apart = [line for line in lines if not line.agrees]
    if as_json:
        listed = [
            {"figure": line.name, "before": plain(line.before), "now": plain(line.now), "judgement": line.judgement}
            for line in lines
        ]
        print_json({"schema": COMPARISON_SCHEMA, "same": not apart, "figures": listed})
    else:
        shown = sorted(lines, key=lambda line: (line.agrees, line.judgement != TURNED))
        for line in shown[:most]:
            show(f"{line}{f' ({SEARCHED})' if line.searched else ''}")
        if most is not None and len(shown) > most:
            show(f"... and {len(shown) - most} more; --json has all")
    note(f"{len(lines) - len(apart)} of {len(lines)} figures are the same")
    return CLAIM_NOT_MET if apart else 0
