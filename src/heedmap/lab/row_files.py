"""The row files of a run: appended batch by batch while it runs, one parquet file once it is over.

While a run is under way its rows stand in `rows/NAME.part/00000.arrows` and so on, Arrow streams of whole batches.
A run that goes on after its end (an item that failed may be measured now) adds parts beside the parquet file.
A stream that was cut off (kill -9, full disk) is read up to its last whole batch; what was cut off runs again.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap.errors import FileError
from heedmap.files import write_beside
from heedmap.lab.arrow import pyarrow, to_table
from heedmap.lab.rows import ITEM, Row, Rows

if TYPE_CHECKING:
    import pyarrow as arrow


class RowFiles:
    """The rows of one experiment in the folder of a run.

    Args:
        folder: of the run.
        name: of the experiment.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.final = folder / "rows" / f"{name}.parquet"
        self._parts = folder / "rows" / f"{name}.part"
        self._writer: Any = None
        self._file: Any = None
        self.cut: list[Path] = []

    def table(self) -> arrow.Table | None:
        """All whole rows there are, each item once; None where there are none.

        Files that were cut off are named in `cut`.
        """
        self.cut = []
        tables = []
        if self.final.exists():
            try:
                tables.append(_read_parquet(self.final))
            except FileError:
                self.cut.append(self.final)
        tables += [table for path in self._part_files() if (table := self._read_part(path)) is not None]
        return together(tables) if tables else None

    @property
    def is_finished(self) -> bool:
        """Whether all rows there are stand in the one parquet file."""
        return self.final.exists() and not self._parts.exists()

    def done(self) -> set[str]:
        """The ids of the items whose rows are there."""
        table = self.table()
        return set() if table is None else set(table.column(ITEM).to_pylist())

    def append(self, rows: Sequence[Row]) -> None:
        """Add the rows of one batch: all of them or none.

        Raises:
            FileError: the system refused to write.
        """
        self.append_table(to_table(rows))

    def append_table(self, table: arrow.Table) -> None:
        """Add rows that are a table already; as `append`."""
        try:
            if self._writer is None or not self._schema.equals(table.schema):
                self._open(table)
            for batch in table.combine_chunks().to_batches():
                self._writer.write_batch(batch)
            self._file.flush()
        except OSError as error:
            self._writer = None
            raise FileError(f"cannot write {self._parts}: {error.strerror or error}; go on with --resume") from error

    def content(self) -> bytes:
        """All rows as one row file, to be sent to whoever puts a run together; empty where there are none."""
        self.close()
        table = self.table()
        if table is None:
            return b""
        library = pyarrow()
        sink = library.BufferOutputStream()
        with library.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    def adopt(self, content: bytes) -> None:
        """Take in the rows of a row file that `content` made elsewhere; as `append`."""
        if content:
            self.append_table(pyarrow().ipc.open_stream(content).read_all())

    def close(self) -> None:
        """Close what is open, whatever the disk says: rows that are whole stay."""
        for one in (self._writer, self._file):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.close()
        self._writer = self._file = None

    def finish(self) -> arrow.Table:
        """Put all rows into one parquet file, sorted by item, and remove the parts.

        Raises:
            FileError: the system refused to write, or there are no rows.
        """
        self.close()
        table = self.table()
        if table is None:
            raise FileError(f"there are no rows in {self._parts}: nothing was measured")
        self.final.parent.mkdir(parents=True, exist_ok=True)
        with write_beside(self.final) as beside:
            write_parquet(table.sort_by(ITEM), beside)
        shutil.rmtree(self._parts, ignore_errors=True)
        return table

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob("*.arrows"))

    def _open(self, table: arrow.Table) -> None:
        """Begin a new part: an earlier one may be cut off, or have other columns."""
        self.close()
        self._parts.mkdir(parents=True, exist_ok=True)
        taken = [int(path.stem) for path in self._part_files()]
        path = self._parts / f"{max(taken, default=-1) + 1:05}.arrows"
        self._file = path.open("xb")
        self._schema = table.schema
        self._writer = pyarrow().ipc.new_stream(self._file, table.schema)

    def _read_part(self, path: Path) -> arrow.Table | None:
        """The whole batches of one part, None where there are none."""
        library = pyarrow()
        batches = []
        with path.open("rb") as file:
            try:
                reader = library.ipc.open_stream(file)
                while True:
                    batches.append(reader.read_next_batch())
            except StopIteration:
                pass
            except (OSError, library.ArrowInvalid):
                self.cut.append(path)
        return library.Table.from_batches(batches) if batches else None


def read_rows(folder: Path, name: str) -> Rows:
    """The rows of an experiment in the folder of a run that is over."""
    table = RowFiles(folder, name).table()
    assert table is not None, "a run that is over has rows"
    return Rows.from_table(table)


def together(tables: Sequence[arrow.Table]) -> arrow.Table:
    """Several tables as one, each item once: the last row counts, which was measured with the item's whole batch."""
    library = pyarrow()
    whole = library.concat_tables(tables, promote_options="permissive").combine_chunks()
    ids = whole.column(ITEM).to_pylist()
    last = {item: number for number, item in enumerate(ids)}
    return whole if len(last) == len(ids) else whole.take(sorted(last.values()))


def write_parquet(table: arrow.Table, path: Path) -> None:
    """Write rows with checksums over their pages."""
    pyarrow()
    import pyarrow.parquet as parquet

    parquet.write_table(table, path, compression="zstd", write_page_checksum=True)


def _read_parquet(path: Path) -> arrow.Table:
    """Read rows, and check them.

    Raises:
        FileError: the file is cut off or damaged.
    """
    library = pyarrow()
    import pyarrow.parquet as parquet

    try:
        return parquet.read_table(path, page_checksum_verification=True)
    except (OSError, library.ArrowInvalid) as error:
        raise FileError(
            f"{path} is cut off or damaged ({str(error).splitlines()[0]}): delete it and go on with --resume"
        ) from None
