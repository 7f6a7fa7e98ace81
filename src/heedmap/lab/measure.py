"""The loop of a run: batch after batch through the model, and their rows into the row files as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedmap.errors import DataError, HeedmapError
from heedmap.lab.experiment import Item
from heedmap.lab.plan import Part, Shard
from heedmap.lab.row_files import RowFiles
from heedmap.lab.rows import ITEM, Row

if TYPE_CHECKING:
    import pyarrow as arrow

    from heedmap.reading.model import Model
    from heedmap.reading.progress import Progress

Note = Callable[[str], None]
"""Told, in a sentence, what a person should know about the run."""


@dataclass(frozen=True)
class Measured:
    """The rows of one experiment.

    Attributes:
        part: what was measured.
        table: all rows, as an Arrow table.
        skipped: the items that could not be measured, with the reason, where they may be left out.
    """

    part: Part
    table: arrow.Table
    skipped: dict[str, str]


def measure_part(
    model: Model,
    part: Part,
    folder: Path,
    shard: Shard,
    *,
    skip_bad: bool = False,
    progress: Progress | None = None,
    note: Note,
) -> Measured:
    """Measure what is not measured yet, and put the rows into one file.

    Args:
        model: what is measured.
        part: the experiment, its settings and its items.
        folder: of the run, locked.
        shard: which share of the batches.
        skip_bad: leave out items that cannot be measured.
        progress: told how many items are done.
        note: told what was found cut off.

    Raises:
        DataError: an item cannot be measured; it is named.
        FileError: the system refused to write; what was written stays.
    """
    skipped: dict[str, str] = {}
    files = RowFiles(folder, part.name)
    batches = part.of_shard(shard)
    total = sum(map(len, batches))
    waiting = waiting_batches(files, batches, note)
    done = total - sum(map(len, waiting))
    try:
        for batch in waiting:
            if progress is not None:
                progress(done, total, part.name)
            rows = rows_of_batch(model, part, batch, skipped if skip_bad else None)
            if rows:
                files.append(rows)
            done += len(batch)
        if progress is not None:
            progress(done, total, part.name)
        table = files.finish() if waiting or not files.is_finished else files.table()
    finally:
        files.close()
    assert table is not None
    return Measured(part, table, skipped)


def waiting_batches(files: RowFiles, batches: Sequence[Sequence[Item]], note: Note) -> list[Sequence[Item]]:
    """The batches whose rows are not all there.

    Args:
        files: the rows there are.
        batches: all batches.
        note: told which files were cut off.
    """
    done = files.done()
    for path in files.cut:
        note(f"{path} was cut off or damaged: what it lacks is measured again")
    if files.final in files.cut:
        files.final.unlink()
    return [batch for batch in batches if not all(item.id in done for item in batch)]


def rows_of_batch(model: Model, part: Part, batch: Sequence[Item], skipped: dict[str, str] | None) -> list[Row]:
    """The rows of one batch, with the ids of their items; when one fails, each item runs alone.

    Args:
        model: what is measured.
        part: what runs.
        batch: the items.
        skipped: collects the items that cannot be measured; None raises.

    Raises:
        DataError: an item cannot be measured; it is named.
    """
    try:
        return list(_rows(model, part, batch))
    except HeedmapError:
        return [row for item in batch for row in _rows_of_one(model, part, item, skipped)]


def _rows_of_one(model: Model, part: Part, item: Item, skipped: dict[str, str] | None) -> list[Row]:
    """The row of an item that runs alone; none where it cannot be measured and may be left out."""
    try:
        return list(_rows(model, part, [item]))
    except HeedmapError as error:
        if skipped is None:
            raise DataError(f"cannot measure item {item.id!r}: {error}; --skip-bad leaves such items out") from error
        skipped[item.id] = str(error)
        return []


def _rows(model: Model, part: Part, batch: Sequence[Item]) -> Iterator[Row]:
    """What the experiment measures of a batch, each row with its item's id."""
    rows = part.experiment.measure(model, batch, part.settings)
    for item, row in zip(batch, rows, strict=True):
        yield {ITEM: item.id, **row}
