"""A map as a table for other programs: NumPy, spreadsheets, parquet.

What a row may not look at is absent: an empty cell in `.csv`, null in `.parquet`. The `.npy` format has no absent
value, so there it is NaN; a weight that was NaN to begin with cannot be told from it there, but in the others it can.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from heedmap.drawing.labels import visible
from heedmap.drawing.shapes import Flags, Weights, check_map
from heedmap.errors import FileError, MissingExtra
from heedmap.files import write_beside

CORNER = "from (query) \\ to (key)"
FORMULA_STARTS = ("=", "+", "-", "@")
CELLS_AT_ONCE = 1 << 20


def save_map(
    path: str | Path,
    weights: Weights,
    allowed: Flags,
    labels_query: Sequence[str],
    labels_key: Sequence[str],
) -> None:
    r"""Write a map as `.npy`, `.csv` or `.parquet`, by the suffix of the path; the file appears whole or not at all.

    - `.npy`: the array [query, key] as it is; forbidden places are NaN (the format has no absent value).
    - `.csv`: UTF-8, one line a query token; the first line holds the key labels, the first column the query labels;
      forbidden cells are empty. Numbers have as many digits as it takes to read the same number back. A label that
      a spreadsheet would run as a formula (it begins with =, +, - or @) has an apostrophe before it.
    - `.parquet`: one line a cell with the columns query, query_token, key, key_token and weight; forbidden ones are
      null. Needs pyarrow.

    Args:
        path: where to.
        weights: [query, key] shares; what stands at forbidden places is not written.
        allowed: [query, key] whether the row may look there.
        labels_query: one a row.
        labels_key: one a column.

    Raises:
        NumbersError: labels and numbers do not fit together.
        FileError: another suffix, or the file cannot be written.
        MissingExtra: `.parquet` without pyarrow.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> weights, allowed = np.array([[1.0, 0.0], [0.75, 0.25]]), np.tri(2, dtype=bool)
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "map.csv"
        ...     save_map(path, weights, allowed, ["The", "cat"], ["The", "cat"])
        ...     print(path.read_text())
        from (query) \ to (key),The,cat
        The,1.0,
        cat,0.75,0.25
        <BLANKLINE>
    """
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise FileError(
            f"cannot write numbers as {path.name}: use {', '.join(WRITERS)} (or .png, .svg, .pdf for a picture)"
        )
    check_map(weights, allowed, labels_query, labels_key)
    names = [visible(label) for label in labels_query], [visible(label) for label in labels_key]
    writer(path, weights, allowed, *names)


def _write_npy(path: Path, weights: Weights, allowed: Flags, labels_query: list[str], labels_key: list[str]) -> None:
    """The array alone."""
    with write_beside(path) as beside, beside.open("wb") as file:
        np.save(file, np.where(allowed, weights, np.array(np.nan, dtype=weights.dtype)), allow_pickle=False)


def _write_csv(path: Path, weights: Weights, allowed: Flags, labels_query: list[str], labels_key: list[str]) -> None:
    """A table as a spreadsheet shows it."""
    with write_beside(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([CORNER, *map(_no_formula, labels_key)])
        for label, row, seen in zip(labels_query, weights, allowed, strict=True):
            cells = np.full(len(row), "", dtype=object)
            cells[seen] = row[seen].astype(np.str_)  # NumPy writes the shortest digits that read back
            table.writerow([_no_formula(label), *cells])


def _no_formula(label: str) -> str:
    """The label, with an apostrophe where a spreadsheet would take it for a formula.

    Example:
        >>> _no_formula("=1+1"), _no_formula("it")
        ("'=1+1", 'it')
    """
    return f"'{label}" if label.startswith(FORMULA_STARTS) else label


def _write_parquet(
    path: Path, weights: Weights, allowed: Flags, labels_query: list[str], labels_key: list[str]
) -> None:
    """A long table, written some rows at a time so that memory does not grow with the map."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(
            f"writing {path.name} needs the package pyarrow: pip install 'heedmap[parquet]' (or write .csv or .npy)"
        ) from None

    keys = weights.shape[1]
    token = arrow.dictionary(arrow.int32(), arrow.string())
    kinds = {
        "query": arrow.int32(),
        "query_token": token,
        "key": arrow.int32(),
        "key_token": token,
        "weight": arrow.from_numpy_dtype(weights.dtype),
    }
    names_query, names_key = arrow.array(labels_query, arrow.string()), arrow.array(labels_key, arrow.string())
    schema = arrow.schema(kinds)
    with write_beside(path) as beside, parquet.ParquetWriter(beside, schema) as writer:
        step = max(1, CELLS_AT_ONCE // keys)
        for start in range(0, len(weights), step):
            some, seen = weights[start : start + step], allowed[start : start + step]
            query = np.repeat(np.arange(start, start + len(some), dtype=np.int32), keys)
            key = np.tile(np.arange(keys, dtype=np.int32), len(some))
            columns = [
                arrow.array(query),
                arrow.DictionaryArray.from_arrays(query, names_query),
                arrow.array(key),
                arrow.DictionaryArray.from_arrays(key, names_key),
                arrow.array(some.ravel(), mask=~seen.ravel()),
            ]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


WRITERS: dict[str, Callable[[Path, Weights, Flags, list[str], list[str]], None]] = {
    ".npy": _write_npy,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
