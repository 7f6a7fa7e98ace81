"""Maps written as tables come back as they were."""

from __future__ import annotations

import builtins
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from heedmap.drawing.export import save_map
from heedmap.errors import FileError, MissingExtra, NumbersError
from tests.drawing.making import HARD, causal, naughty_strings

KINDS: list[type[np.floating[Any]]] = [np.float16, np.float32, np.float64]


def a_map(kind: type[np.floating[Any]], tokens: int = 31) -> tuple[NDArray[np.floating[Any]], NDArray[np.bool_]]:
    """A causal map with a window, one broken weight and nonsense at the forbidden places."""
    weights, allowed = causal(tokens)
    allowed &= ~np.tri(tokens, k=-20, dtype=bool)
    weights[5, 3] = np.nan
    weights[~allowed] = 7.0
    return weights.astype(kind), allowed


def same(written: NDArray[Any], weights: NDArray[Any], allowed: NDArray[np.bool_]) -> bool:
    """Bit for bit the same numbers at the allowed places."""
    return bool(np.array_equal(written[allowed], weights[allowed], equal_nan=True))


@pytest.mark.parametrize("kind", KINDS)
def test_npy_keeps_the_kind_of_number_and_has_nan_for_forbidden(tmp_path: Path, kind: type[np.floating[Any]]) -> None:
    weights, allowed = a_map(kind)
    save_map(tmp_path / "map.npy", weights, allowed, HARD, HARD)
    written = np.load(tmp_path / "map.npy", allow_pickle=False)
    assert written.dtype == kind
    assert same(written, weights, allowed)
    assert np.isnan(written[~allowed]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_csv_reads_back_to_the_last_digit(tmp_path: Path, kind: type[np.floating[Any]]) -> None:
    weights, allowed = a_map(kind)
    save_map(tmp_path / "map.csv", weights, allowed, HARD, HARD)
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[0] == "from (query) \\ to (key)"
    assert [row[0] for row in rows] == head[1:]
    cells = np.array([row[1:] for row in rows])
    assert (cells[~allowed] == "").all()
    assert (cells[allowed] != "").all()
    assert same(np.where(allowed, cells, "0").astype(kind), weights, allowed)
    assert cells[5, 3] == "nan"


@pytest.mark.parametrize("kind", KINDS)
def test_parquet_has_one_line_a_cell_and_null_for_forbidden(tmp_path: Path, kind: type[np.floating[Any]]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    weights, allowed = a_map(kind)
    labels = [f"token {number % 7}" for number in range(31)]
    save_map(tmp_path / "map.parquet", weights, allowed, labels, labels)
    table = parquet.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["query", "query_token", "key", "key_token", "weight"]
    assert table.schema.field("weight").type == {2: "halffloat", 4: "float", 8: "double"}[np.dtype(kind).itemsize]
    lines = table.to_pylist()
    assert len(lines) == 31 * 31
    for line, query, key in zip(lines, np.repeat(np.arange(31), 31), np.tile(np.arange(31), 31), strict=True):
        assert (line["query"], line["key"]) == (query, key)
        assert (line["query_token"], line["key_token"]) == (labels[query], labels[key])
        if not allowed[query, key]:
            assert line["weight"] is None
        else:
            assert line["weight"] == pytest.approx(float(weights[query, key]), abs=0, nan_ok=True)


def test_a_parquet_file_written_in_parts_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    monkeypatch.setattr("heedmap.drawing.export.CELLS_AT_ONCE", 100)
    weights, allowed = a_map(np.float32)
    save_map(tmp_path / "map.parquet", weights, allowed, HARD, HARD)
    file = parquet.ParquetFile(tmp_path / "map.parquet")
    assert file.num_row_groups == 11
    written = file.read()["weight"].to_numpy().reshape(31, 31)
    assert same(written, weights, allowed)


def test_without_pyarrow_the_pip_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pyarrow(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(MissingExtra, match=r"writing map\.parquet needs .*: pip install 'heedmap\[parquet\]'"):
        save_map(tmp_path / "map.parquet", *a_map(np.float32), HARD, HARD)
    assert not list(tmp_path.iterdir())


def test_labels_cannot_run_in_a_spreadsheet_or_break_a_line(tmp_path: Path, data_folder: Path) -> None:
    labels = ["=1+1", "+1", "-1", "@SUM(A1)", 'say "hi", you', "a\nb", "\x00", "\ud800", *naughty_strings(data_folder)]
    weights, allowed = causal(len(labels))
    save_map(tmp_path / "map.csv", weights, allowed, labels, labels)
    text = (tmp_path / "map.csv").read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(labels) + 1
    rows = list(csv.reader(text.splitlines()))
    names = [row[0] for row in rows[1:]]
    assert names == rows[0][1:]
    assert names[:5] == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", 'say "hi", you']
    assert not [name for name in names if name.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_other_suffixes_are_refused_by_name(tmp_path: Path) -> None:
    message = r"cannot write numbers as map\.xlsx: use \.npy, \.csv, \.parquet \(or \.png, \.svg, \.pdf for a picture\)"
    with pytest.raises(FileError, match=message):
        save_map(tmp_path / "map.xlsx", *causal(2), ["a", "b"], ["a", "b"])


def test_labels_and_numbers_must_fit(tmp_path: Path) -> None:
    with pytest.raises(NumbersError, match=r"2 query labels and 3 key labels need weights of shape \(2, 3\)"):
        save_map(tmp_path / "map.csv", *causal(2), ["a", "b"], ["a", "b", "c"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    target = tmp_path / f"map{suffix}"
    target.write_bytes(b"old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match="No space left on device"):
        save_map(target, *causal(3), list("abc"), list("abc"))
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
