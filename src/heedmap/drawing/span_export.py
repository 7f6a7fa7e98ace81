"""The shares of named parts as a table for other programs: `.csv` for spreadsheets, `.parquet` for data frames."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heedmap.drawing.export import FORMULA_STARTS
from heedmap.drawing.labels import visible
from heedmap.errors import FileError, MissingExtra
from heedmap.files import write_beside

Rows = Sequence[dict[str, Any]]
"""Lines of a table: the same columns in each, numbers, names or None."""

_WHOLE = ("layer", "head", "run", "place")
"""Columns of whole numbers."""


def save_rows(path: str | Path, rows: Rows, about: dict[str, Any]) -> None:
    """Write rows as `.csv` or `.parquet`, by the suffix of the path; the file appears whole or not at all.

    What is absent is an empty cell, or null. A name that a spreadsheet would run as a formula (it begins with =, +,
    - or @) has an apostrophe before it in `.csv`.

    Args:
        path: where to.
        rows: the lines.
        about: what the numbers were measured on, kept in the metadata of `.parquet`.

    Raises:
        FileError: another suffix, or the file cannot be written.
        MissingExtra: `.parquet` without pyarrow.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "parts.csv"
        ...     save_rows(path, [{"layer": 0, "part": "=doc", "share": 0.25}, {"layer": 1, "part": "b", "share": None}], {})
        ...     print(path.read_text())
        layer,part,share
        0,'=doc,0.25
        1,b,
        <BLANKLINE>
    """  # noqa: E501 - the example is one line
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise FileError(f"cannot write shares as {path.name}: use {', '.join(_WRITERS)}, or .png, .svg, .pdf")
    write(path, rows, about)


def _write_csv(path: Path, rows: Rows, about: dict[str, Any]) -> None:
    """A table as a spreadsheet shows it."""
    with write_beside(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_cell(value) for value in row.values()] for row in rows)


def _cell(value: Any) -> Any:
    """A value for a spreadsheet."""
    if not isinstance(value, str):
        return "" if value is None else value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def _write_parquet(path: Path, rows: Rows, about: dict[str, Any]) -> None:
    """The same columns with their types."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(
            f"writing {path.name} needs the package pyarrow: pip install 'heedmap[parquet]' (or write .csv)"
        ) from None

    def kind(name: str) -> Any:
        if name in _WHOLE:
            return arrow.int32()
        return arrow.string() if any(isinstance(row[name], str) for row in rows) else arrow.float64()

    schema = arrow.schema(
        {name: kind(name) for name in rows[0]}, metadata={"heedmap": json.dumps(about, allow_nan=False)}
    )
    with write_beside(path) as beside:
        parquet.write_table(arrow.Table.from_pylist(list(rows), schema=schema), beside)


_WRITERS: dict[str, Callable[[Path, Rows, dict[str, Any]], None]] = {".csv": _write_csv, ".parquet": _write_parquet}
