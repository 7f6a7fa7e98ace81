"""`heedmap map`: the grid in the terminal, pictures, and the numbers as files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.conftest import ROUNDING, TROPHY

CALL = ("map", TROPHY, "--layer", "16", "--head", "3")


def test_a_grid_that_fits_80_columns(heedmap_command: CommandLine) -> None:
    run = heedmap_command(*CALL)
    assert run.code == 0
    assert "layer 16, head 3" in run.out
    assert all(label in run.out for label in ("trophy", "because", "from", "to"))
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())


def test_a_long_text_still_fits(heedmap_command: CommandLine) -> None:
    run = heedmap_command("map", "one two three four five. " * 40, "--layer", "3")
    assert run.code == 0
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures(suffix: str, heedmap_command: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / f"map{suffix}"
    run = heedmap_command(*CALL, "-o", str(path))
    assert (run.code, run.out) == (0, "")
    assert f"wrote {path}" in run.err
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_the_numbers_as_files(heedmap_command: CommandLine, smollm2: Model, tmp_path: Path) -> None:
    expected = np.asarray(smollm2.read(TROPHY).map(16, 3))
    later = np.triu(np.ones((15, 15), dtype=bool), 1)
    assert heedmap_command(*CALL, "-o", str(tmp_path / "map.npy")).code == 0
    array = np.load(tmp_path / "map.npy")
    np.testing.assert_allclose(array[~later], expected[~later], atol=ROUNDING)
    assert np.isnan(array[later]).all()
    assert heedmap_command(*CALL, "-o", str(tmp_path / "map.csv")).code == 0
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][1:3] == ["The", "trophy"]
    assert float(rows[11][2]) == pytest.approx(expected[10, 1], abs=ROUNDING)
    assert rows[1][2] == ""
    assert heedmap_command(*CALL, "-o", str(tmp_path / "map.parquet")).code == 0
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(tmp_path / "map.parquet").num_rows in (120, 225)


def test_errors(heedmap_command: CommandLine, tmp_path: Path) -> None:
    run = heedmap_command(*CALL, "-o", str(tmp_path / "map.gif"))
    assert run.code == 1
    assert ".png" in run.err
    assert ".svg" in run.err
    run = heedmap_command(*CALL, "-o", str(tmp_path / "missing" / "map.png"))
    assert run.code == 1
    assert "there is no folder" in run.err
    assert list(tmp_path.iterdir()) == []
