"""Shares as tables for other programs."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from heedmap.drawing.span_export import save_rows
from heedmap.errors import FileError, MissingExtra
from tests.drawing.span_making import shares_of

SHARES = shares_of(["=SUM(A1)", "two\nlines", "b"], layers=2)
ROWS = SHARES.rows(per_head=True)


def test_csv_reads_back(tmp_path: Path) -> None:
    save_rows(tmp_path / "a.csv", ROWS, {})
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(ROWS) == 5 * (1 + 2 * (1 + 2))
    for line, row in zip(lines, ROWS, strict=True):
        assert (line["share"] == "" and row["share"] is None) or float(line["share"]) == row["share"]
        assert line["layer"] == ("" if row["layer"] is None else str(row["layer"]))
    assert lines[1]["part"] == "'=SUM(A1)"
    assert lines[2]["part"] == "two⏎lines"


def test_parquet_reads_back(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    save_rows(tmp_path / "a.parquet", ROWS, {"model": {"name": "mine"}})
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == ROWS
    assert json.loads(table.schema.metadata[b"heedmap"]) == {"model": {"name": "mine"}}
    assert str(table.schema.field("layer").type) == "int32"


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"cannot write shares as a\.npy: use \.csv, \.parquet, or \.png"):
        save_rows(tmp_path / "a.npy", ROWS, {})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'heedmap\[parquet\]'"):
        save_rows(tmp_path / "a.parquet", ROWS, {})
    assert list(tmp_path.iterdir()) == []
