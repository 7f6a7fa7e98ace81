"""Row files: whole batches or nothing, wherever a file is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from heedmap.errors import FileError
from heedmap.lab.row_files import RowFiles, together


def batch(number: int, size: int = 3) -> list[dict[str, Any]]:
    """Rows of one batch."""
    return [{"item": f"{number}-{one}", "share": np.full((2, one + 1), number / 7)} for one in range(size)]


def written(folder: Path, batches: int) -> RowFiles:
    """Row files with some batches, closed."""
    files = RowFiles(folder, "toy")
    for number in range(batches):
        files.append(batch(number))
    files.close()
    return files


def part(folder: Path, number: int = 0) -> Path:
    return folder / "rows" / "toy.part" / f"{number:05}.arrows"


def test_rows_are_there_as_soon_as_they_are_appended(tmp_path: Path) -> None:
    files = RowFiles(tmp_path, "toy")
    assert files.table() is None
    for number in range(3):
        files.append(batch(number))
        assert len(RowFiles(tmp_path, "toy").done()) == 3 * (number + 1)
    files.close()


@settings(max_examples=40)
@given(some.data())
def test_wherever_a_file_is_cut_whole_batches_are_left(
    tmp_path_factory: pytest.TempPathFactory, data: some.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    sizes = [part(folder).stat().st_size for number in range(1, 5) if written_once(folder, number)]
    whole = part(folder).read_bytes()
    cut = data.draw(some.integers(0, len(whole)))
    part(folder).write_bytes(whole[:cut])
    files = RowFiles(folder, "toy")
    left = sum(size <= cut for size in sizes)
    assert len(files.done()) == 3 * left
    if cut not in (*sizes, len(whole)) and cut > sizes[0]:
        assert files.cut == [part(folder)]


def written_once(folder: Path, batches: int) -> bool:
    """Write some batches anew, without the end of a file that was closed."""
    part(folder).unlink(missing_ok=True)
    files = RowFiles(folder, "toy")
    for number in range(batches):
        files.append(batch(number))
    files._file.close()  # as a killed process leaves it
    files._writer = files._file = None
    return True


def test_a_resumed_run_writes_another_part(tmp_path: Path) -> None:
    written_once(tmp_path, 2)
    part(tmp_path).write_bytes(part(tmp_path).read_bytes()[:-7])
    files = RowFiles(tmp_path, "toy")
    assert files.done() == {"0-0", "0-1", "0-2"}
    files.append(batch(1))
    assert part(tmp_path, 1).exists()
    table = files.finish()
    assert sorted(table.column("item").to_pylist()) == ["0-0", "0-1", "0-2", "1-0", "1-1", "1-2"]
    assert not part(tmp_path).parent.exists()
    assert RowFiles(tmp_path, "toy").done() == set(table.column("item").to_pylist())


def test_rows_that_come_after_the_end_are_added(tmp_path: Path) -> None:
    written(tmp_path, 2).finish()
    files = RowFiles(tmp_path, "toy")
    files.append(batch(1))  # these are there already, and count once
    files.append(batch(9, 1))
    assert files.done() == {*(f"{number}-{place}" for number in (0, 1) for place in range(3)), "9-0"}
    table = files.finish()
    assert len(table) == 7
    again = RowFiles(tmp_path, "toy")
    assert again.is_finished
    assert sorted(again.table().column("item").to_pylist()) == sorted(table.column("item").to_pylist())  # type: ignore[union-attr]


def test_parts_beside_the_file_are_not_the_end(tmp_path: Path) -> None:
    """A run that was killed between its last batch and its end."""
    written(tmp_path, 2).finish()
    files = RowFiles(tmp_path, "toy")
    files.append(batch(9, 1))
    files.close()
    assert not RowFiles(tmp_path, "toy").is_finished


def test_columns_may_change_on_the_way(tmp_path: Path) -> None:
    files = RowFiles(tmp_path, "toy")
    files.append([{"item": "a", "share": None, "count": 1}])
    files.append([{"item": "b", "share": 0.5, "count": 2}])
    table = files.finish()
    assert table.column("share").to_pylist() == [None, 0.5]


def test_an_item_counts_once(tmp_path: Path) -> None:
    tables = [arrow.table({"item": ["a", "b"], "x": [1, 2]}), arrow.table({"item": ["b", "c"], "x": [9, 3]})]
    assert together(tables).to_pylist() == [{"item": "a", "x": 1}, {"item": "b", "x": 9}, {"item": "c", "x": 3}]


@pytest.mark.parametrize("kept", [0, 3, 0.5, -1])
def test_a_parquet_file_that_was_cut_is_noticed_and_its_rows_are_missing(tmp_path: Path, kept: float) -> None:
    files = written(tmp_path, 4)
    files.finish()
    content = files.final.read_bytes()
    files.final.write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else int(kept)])
    again = RowFiles(tmp_path, "toy")
    assert again.done() == set()
    assert again.cut == [again.final]


@settings(max_examples=40)
@given(some.data())
def test_a_wrong_bit_in_a_parquet_file_is_noticed_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: some.DataObject
) -> None:
    files = written(tmp_path_factory.mktemp("bit"), 4)
    before = files.finish().sort_by("item")
    content = bytearray(files.final.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little")  # its own damage is that of the file, not of the rows
    content[data.draw(some.integers(4, len(content) - footer - 9))] ^= 1 << data.draw(some.integers(0, 7))
    files.final.write_bytes(content)
    after = files.table()
    assert after is None or after.equals(before)


def test_nothing_measured_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nothing was measured"):
        RowFiles(tmp_path, "toy").finish()


def test_rows_go_to_others_and_come_back(tmp_path: Path) -> None:
    content = written(tmp_path / "there", 2).content()
    here = RowFiles(tmp_path / "here", "toy")
    here.adopt(content)
    here.adopt(RowFiles(tmp_path / "nothing", "toy").content())
    assert len(here.done()) == 6
    here.close()
