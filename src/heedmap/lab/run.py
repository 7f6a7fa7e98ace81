"""A run from beginning to end: plan, measure, conclude; and a run put together from shards."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap._version import __version__
from heedmap.errors import OutOfRange
from heedmap.lab.folder import begin, finish_shard, locked
from heedmap.lab.identity import describe, machine, versions
from heedmap.lab.measure import Measured, Note, measure_part
from heedmap.lab.pages import write_pages
from heedmap.lab.plan import Part
from heedmap.lab.report import Report
from heedmap.lab.request import Request
from heedmap.lab.rows import Rows
from heedmap.lab.write import write_report

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.reading.progress import Progress

Engine = Callable[["RunPlace", Part], Measured]
"""Measures one experiment of a run: here, or on other machines."""


@dataclass(frozen=True)
class RunPlace:
    """Where a run happens.

    Attributes:
        request: what was asked for.
        model: what is measured.
        folder: where rows and report go.
        progress: told how far it is.
        note: told what a person should know.
    """

    request: Request
    model: Model
    folder: Path
    progress: Progress | None = None
    note: Note = field(default=lambda text: None)


def run_here(place: RunPlace, part: Part) -> Measured:
    """The engine that is nothing but this process."""
    request = place.request
    return measure_part(
        place.model,
        part,
        place.folder,
        request.shard,
        skip_bad=request.skip_bad,
        progress=place.progress,
        note=place.note,
    )


def perform(
    place: RunPlace, *, resume: bool = False, command: Sequence[str] = (), engine: Engine = run_here
) -> Report | None:
    """Run what was asked for, write rows into the folder as they come, and conclude.

    Args:
        place: what, with which model, and where.
        resume: whether the folder may hold a part of this run already.
        command: the command line, for the report.
        engine: what measures.

    Returns:
        the report, written into the folder; None for a shard, whose rows wait for `merge`.

    Raises:
        OutOfRange: a shard for which there is nothing to measure.
        HeedmapError: the data cannot be read, the folder cannot be used, or an item cannot be measured.
    """
    started = time.time()
    request = place.request
    parts = request.parts()
    _refuse_an_empty_shard(request, parts)
    with locked(place.folder):
        about = describe(place.model)
        plan = {**plan_of(request, parts, about), "run": {"begun": clock(started), "model": about}}
        begin(place.folder, plan, resume=resume)
        _tell_skipped(place, parts)
        measured = [engine(place, part) for part in parts]
        if not request.shard.is_all:
            finish_shard(place.folder, {one.part.name: one.skipped for one in measured})
            return None
        how = {"command": shlex.join(command), "seconds": round(time.time() - started, 1), "started": clock(started)}
        report = conclude(request, measured, about, how)
        write_report(report, place.folder, write_pages(place.model, parts, report.findings, place.folder, place.note))
        return report


def _refuse_an_empty_shard(request: Request, parts: Sequence[Part]) -> None:
    """A shard takes every n-th batch: with more shards than batches some would have none, and no rows to merge."""
    for part in parts:
        if len(part.batches) < request.shard.of:
            raise OutOfRange(
                f"shard {request.shard} of {part.name}: its {len(part.items)} items make fewer batches than there are "
                f"shards ({len(part.batches)}, of at most {request.batch_size} items); give fewer shards, or a smaller "
                "--batch-size"
            )


def _tell_skipped(place: RunPlace, parts: Sequence[Part]) -> None:
    """Say what was left out of the data; the report lists it."""
    for part in parts:
        if part.skipped.count:
            place.note(
                f"{part.name}: {part.skipped.count} bad rows of the data left out, first {part.skipped.first[0]}"
            )


def plan_of(request: Request, parts: Sequence[Part], about: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for rows to belong to one run, and the request that led to it."""
    fixed = ("name", "class", "sha256", "tokenizer", "dtype")
    return {
        "parts": {part.name: part.to_json() for part in parts},
        "model": {name: about[name] for name in fixed},
        "batch_size": request.batch_size,
        "shard": str(request.shard),
        "heedmap": __version__,
        "request": request.to_json(),
    }


def conclude(
    request: Request, measured: Sequence[Measured], about: Mapping[str, Any], how: Mapping[str, Any]
) -> Report:
    """Compute every finding from the rows.

    Args:
        request: what was asked for.
        measured: the rows of each experiment.
        about: what the model is.
        how: command, time and whatever else tells how it ran.
    """
    findings, data = {}, {}
    for one in measured:
        part = one.part
        findings[part.name] = part.experiment.conclude(Rows.from_table(one.table), part.settings)
        data[part.name] = {
            **part.to_json(),
            "rows": one.table.num_rows,
            "skipped_rows": {"count": part.skipped.count, "first": [str(row) for row in part.skipped]},
            "skipped_items": one.skipped,
        }
    run = {
        **how,
        "model": dict(about),
        "data": {"source": "built in" if request.data is None else str(request.data), "parts": data},
        "seeds": {part.name: part.settings.seed for part in (one.part for one in measured)},
        "versions": versions(),
        "machine": machine(),
        "request": request.to_json(),
    }
    return Report(request.name, findings, run)


def clock(seconds: float) -> str:
    """A moment as people and programs read it, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
