"""Shards put together: their rows into one folder, and the report that one machine alone would have given."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap.errors import FileError
from heedmap.lab.folder import begin, locked, read_run
from heedmap.lab.measure import Measured
from heedmap.lab.plan import ALL, Part, Shard, differences
from heedmap.lab.report import Report
from heedmap.lab.request import Request
from heedmap.lab.row_files import RowFiles, together
from heedmap.lab.rows import ITEM
from heedmap.lab.run import conclude
from heedmap.lab.write import write_report

if TYPE_CHECKING:
    import pyarrow as arrow

_FIXED = ("parts", "model", "batch_size", "heedmap")
"""What must be the same in all shards."""


def merge_shards(folders: Sequence[Path], output: Path, *, command: Sequence[str] = ()) -> Report:
    """Build the report of a whole run from the folders of its shards.

    Args:
        folders: one a shard, in any order.
        output: a new folder for the report.
        command: the command line, for the report.

    Raises:
        FileError: a shard is missing, twice there, of another run, or its rows are not whole; the message says which
            to run again.
    """
    plans = {folder: read_run(folder) for folder in folders}
    first = next(iter(plans.values()))
    _check_shards(plans)
    request = replace(Request.from_json(first["request"]), shard=ALL)
    started = time.time()
    with locked(output):
        begin(output, {**first, "shard": str(ALL), "request": request.to_json()}, resume=False)
        parts = request.parts()
        found = differences({"parts": first["parts"]}, {"parts": {part.name: part.to_json() for part in parts}})
        if found:
            raise FileError(f"the data here are not those of the shards: {found[0]}")
        measured = [_measured(part, plans, output) for part in parts]
        how = {
            "command": shlex.join(command),
            "started": first["run"]["begun"],
            "seconds": round(time.time() - started, 1),
            "merged": [str(plan["shard"]) for plan in plans.values()],
        }
        report = conclude(request, measured, first["run"]["model"], how)
        write_report(report, output)
    return report


def _check_shards(plans: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse shards that do not make up one run."""
    first_folder, first = next(iter(plans.items()))
    for folder, plan in plans.items():
        kept = [{name: value for name, value in one.items() if name in _FIXED} for one in (first, plan)]
        found = differences(*kept)
        if found:
            raise FileError(f"{folder} is of another run than {first_folder}: {'; '.join(found[:3])}")
    shards = [Shard.parse(plan["shard"]) for plan in plans.values()]
    of = shards[0].of
    numbers = [shard.number for shard in shards]
    missing = sorted(set(range(1, of + 1)) - set(numbers))
    if any(shard.of != of for shard in shards) or len(set(numbers)) < len(numbers):
        raise FileError(f"these are no shards of one run: {', '.join(map(str, shards))}; each must be there once")
    if missing:
        raise FileError(f"shard {missing[0]}/{of} is missing: run it with --shard {missing[0]}/{of}")


def _measured(part: Part, plans: Mapping[Path, Mapping[str, Any]], output: Path) -> Measured:
    """The rows of one experiment from all shards, put into the new folder."""
    tables: list[arrow.Table] = []
    skipped: dict[str, str] = {}
    for folder, plan in plans.items():
        files = RowFiles(folder, part.name)
        table = files.table() if files.final.exists() else None
        if table is None or files.cut:
            raise FileError(
                f"the rows of {part.name} in {folder} are not whole: run that shard again with "
                f"--shard {plan['shard']} --resume -o {folder}"
            )
        tables.append(table)
        skipped |= (plan["run"].get("skipped_items") or {}).get(part.name, {})
    whole = together(tables)
    lacking = sorted({item.id for item in part.items} - set(whole.column(ITEM).to_pylist()) - set(skipped))
    if lacking:
        raise FileError(f"{len(lacking)} items of {part.name} are in no shard ({lacking[0]} ...): run the shards again")
    files = RowFiles(output, part.name)
    files.append_table(whole)
    return Measured(part, files.finish(), skipped)
