"""Statistics as a table for other programs: `.csv` for spreadsheets, `.parquet` for data frames."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from heedmap.errors import FileError, MissingExtra
from heedmap.files import write_beside
from heedmap.reading.statistics_summary import Numbers
from heedmap.reading.statistics_table import WHOLE_NUMBERS, Statistics, StatisticsOfTexts, Table

TEXT, POSITION = "text", "position"

_WHOLE = (TEXT, *WHOLE_NUMBERS, POSITION)
"""Columns of whole numbers."""


def save_table(path: str | Path, table: Table) -> None:
    """Write statistics as `.csv` or `.parquet`, by the suffix of the path; the file appears whole or not at all.

    One line a head, with the table's own columns; of several texts one line a text and head, with the number of the
    text before them; where the values at each position were kept, one line a head and position. What is absent is an
    empty cell, or null. A `.parquet` file also names the model.

    Args:
        path: where to.
        table: of one text, or of several.

    Raises:
        FileError: another suffix, or the file cannot be written.
        MissingExtra: `.parquet` without pyarrow.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> columns = {"layer": np.array([0]), "head": np.array([3]), "first": np.array([0.25])}
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "heads.csv"
        ...     save_table(path, Table(model={"name": "smollm2"}, columns=columns))
        ...     print(path.read_text())
        layer,head,first
        0,3,0.25
        <BLANKLINE>
    """
    writer_for(path)(Path(path), table)


def writer_for(path: str | Path) -> Callable[[Path, Table], None]:
    """What writes files of this suffix.

    Raises:
        FileError: nothing does.
    """
    write = WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise FileError(f"cannot write statistics as {Path(path).name}: use {' or '.join(WRITERS)}")
    return write


def _parts(table: Table) -> Iterator[dict[str, Numbers]]:
    """The lines of the file as blocks of columns, so that long tables need not be in memory twice."""
    if isinstance(table, StatisticsOfTexts):
        for number, text in enumerate(table.texts):
            for part in _parts(text):
                yield {TEXT: np.full(len(part["layer"]), number), **part}
    elif isinstance(table, Statistics) and table.by_position is not None:
        for row in range(len(table)):
            places = np.arange(len(table.tokens))
            yield {
                "layer": np.full(len(places), table["layer"][row]),
                "head": np.full(len(places), table["head"][row]),
                POSITION: places,
                **{name: values[row] for name, values in table.by_position.items()},
            }
    else:
        yield table.columns


def _write_csv(path: Path, table: Table) -> None:
    """A table as a spreadsheet shows it; numbers have as many digits as it takes to read the same number back."""
    with write_beside(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for number, part in enumerate(_parts(table)):
            if number == 0:
                writer.writerow(part)
            writer.writerows(zip(*(_cells(name, column) for name, column in part.items()), strict=True))


def _cells(name: str, column: Numbers) -> list[str]:
    """A column as text."""
    if name in _WHOLE:
        return [str(int(value)) for value in column]
    return ["" if np.isnan(value) else str(value) for value in column]


def _write_parquet(path: Path, table: Table) -> None:
    """The same columns with their types, a group of rows a block."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(
            f"writing {path.name} needs the package pyarrow: pip install 'heedmap[parquet]' (or write .csv)"
        ) from None

    def kind(name: str, column: Numbers) -> Any:
        return arrow.int32() if name in _WHOLE else arrow.from_numpy_dtype(column.dtype)

    about = {"heedmap": json.dumps({"model": table.model}, allow_nan=False)}
    writer = None
    with write_beside(path) as beside:
        try:
            for part in _parts(table):
                schema = arrow.schema({name: kind(name, column) for name, column in part.items()}, metadata=about)
                writer = writer or parquet.ParquetWriter(beside, schema)
                arrays = [
                    arrow.array(column, type=field.type, from_pandas=True)
                    for column, field in zip(part.values(), schema, strict=True)
                ]
                writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
        finally:
            if writer is not None:
                writer.close()


WRITERS: dict[str, Callable[[Path, Table], None]] = {".csv": _write_csv, ".parquet": _write_parquet}
