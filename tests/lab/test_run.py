"""Runs: resumed, sharded, merged and refused, with the figures of one that ran through."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from heedmap.errors import DataError, FileError, OutOfRange
from heedmap.lab.experiment import Item
from heedmap.lab.folder import LOCK_FILE, read_json
from heedmap.lab.merge import merge_shards
from heedmap.lab.plan import Shard
from heedmap.lab.report import REPORT_FILE
from heedmap.lab.row_files import RowFiles
from tests.lab.making import FakeModel, Toy, measured_part, run_toy


class Stop(Exception):  # noqa: N818
    """What ends a run in the middle."""


def stopping_after(items: int) -> Any:
    """Progress that ends the run once so many items are done."""

    def progress(done: int, total: int, what: str, /) -> None:
        if done >= items:
            raise Stop

    return progress


def test_a_resumed_run_measures_the_rest_and_gives_the_same_report(tmp_path: Path) -> None:
    whole = run_toy(tmp_path / "whole")
    model = FakeModel()
    for stop in (8, 20, 32):
        with pytest.raises(Stop):
            run_toy(tmp_path / "parts", model=model, resume=True, progress=stopping_after(stop))
    report = run_toy(tmp_path / "parts", model=model, resume=True)
    assert sorted(model.measured) == [f"i{number:03}" for number in range(40)]
    assert measured_part(report) == measured_part(whole)
    assert RowFiles(tmp_path / "parts", "toy").table().equals(RowFiles(tmp_path / "whole", "toy").table())  # type: ignore[union-attr]


def test_the_report_of_another_batch_size_differs(tmp_path: Path) -> None:
    """The made-up numbers depend on the batch: what the tests above compare can differ."""
    one, other = (run_toy(tmp_path / str(size), batch_size=size) for size in (4, 5))
    assert measured_part(one)["figures"]["toy.together"] != measured_part(other)["figures"]["toy.together"]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_merged_shards_give_the_report_of_one_machine(tmp_path: Path, shards: int) -> None:
    folders = []
    for number in range(1, shards + 1):
        folder = tmp_path / f"shard{number}"
        report = run_toy(folder, shard=Shard(number, shards))
        assert (report is None) == (shards > 1)
        assert (folder / REPORT_FILE).exists() == (shards == 1)
        folders.append(folder)
    merged = merge_shards(folders[::-1], tmp_path / "merged")
    assert measured_part(merged) == measured_part(run_toy(tmp_path / "whole"))
    assert read_json(tmp_path / "merged" / REPORT_FILE)["figures"] == merged.to_json()["figures"]


def shards_of(folder: Path, **options: Any) -> list[Path]:
    """Three shards that are done."""
    for number in (1, 2, 3):
        run_toy(folder / str(number), shard=Shard(number, 3), **options)
    return [folder / str(number) for number in (1, 2, 3)]


def test_a_shard_whose_rows_are_cut_is_named_and_runs_again(tmp_path: Path) -> None:
    folders = shards_of(tmp_path)
    rows = folders[1] / "rows" / "toy.parquet"
    rows.write_bytes(rows.read_bytes()[:-100])
    with pytest.raises(FileError, match=r"are not whole: run that shard again with --shard 2/3 --resume -o .*/2$"):
        merge_shards(folders, tmp_path / "merged")
    model, notes = FakeModel(), list[str]()
    run_toy(folders[1], model=model, shard=Shard(2, 3), resume=True, notes=notes)
    assert len(model.measured) > 0
    assert notes == [f"{rows} was cut off or damaged: what it lacks is measured again"]
    merged = merge_shards(folders, tmp_path / "merged2")
    assert measured_part(merged) == measured_part(run_toy(tmp_path / "whole"))


def test_more_shards_than_batches_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """The last of them would measure nothing, and what it left could not be merged."""
    with pytest.raises(OutOfRange, match=r"shard 2/3 of toy: its 2 items .*smaller --batch-size"):
        run_toy(tmp_path / "shard", items=2, shard=Shard(2, 3))
    assert not (tmp_path / "shard").exists()


def test_shards_that_are_no_whole_run_are_refused(tmp_path: Path) -> None:
    folders = shards_of(tmp_path)
    with pytest.raises(FileError, match="shard 2/3 is missing: run it with --shard 2/3"):
        merge_shards([folders[0], folders[2]], tmp_path / "a")
    with pytest.raises(FileError, match="each must be there once"):
        merge_shards([*folders, shutil.copytree(folders[0], tmp_path / "4")], tmp_path / "b")
    other = tmp_path / "other"
    run_toy(other, shard=Shard(1, 3), items=30)
    with pytest.raises(FileError, match=r"is of another run than .*items was 30 and is 40"):
        merge_shards([other, *folders[1:]], tmp_path / "c")
    run_toy(tmp_path / "weights", shard=Shard(1, 3), model=FakeModel(sha256="0" * 64))
    with pytest.raises(FileError, match=r"model\.sha256 was"):
        merge_shards([tmp_path / "weights", *folders[1:]], tmp_path / "d")


def test_a_folder_is_for_one_run(tmp_path: Path) -> None:
    run_toy(tmp_path / "one")
    with pytest.raises(FileError, match="holds a run already: go on with it by --resume, or give another folder"):
        run_toy(tmp_path / "one")
    with pytest.raises(FileError, match=r"holds another run \(.*seed was 0 and is 1.*\): give another folder"):
        run_toy(tmp_path / "one", seed=1, resume=True)
    with pytest.raises(FileError, match=r"model\.sha256 was"):
        run_toy(tmp_path / "one", model=FakeModel(sha256="0" * 64), resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    with pytest.raises(FileError, match=r"is not empty \(letter.txt ...\) and holds no run: give a new folder"):
        run_toy(tmp_path / "mine", resume=True)
    assert [one.name for one in (tmp_path / "mine").iterdir() if one.name != LOCK_FILE] == ["letter.txt"]


def test_two_runs_into_one_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    with (
        FileLock(tmp_path / "report" / LOCK_FILE),
        pytest.raises(FileError, match=r"another run is writing into .*: wait for its end, or give another folder"),
    ):
        run_toy(tmp_path / "report")
    run_toy(tmp_path / "report")  # once it is over


def test_a_second_process_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.lab.toy_run", str(tmp_path / "report"), "40", "0.3"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    try:
        assert first.stdout is not None
        first.stdout.readline()
        while not (tmp_path / "report" / "run.json").exists():
            assert first.poll() is None
        with pytest.raises(FileError, match="another run is writing into"):
            run_toy(tmp_path / "report", resume=True)
    finally:
        first.kill()
        first.communicate()


def test_a_bad_item_ends_the_run_or_is_left_out_and_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot measure item 'i007': text 7 cannot be read; --skip-bad leaves such"):
        run_toy(tmp_path / "one", bad="i007")
    report = run_toy(tmp_path / "two", bad="i007", skip_bad=True)
    assert report is not None
    assert report.figures["toy.mean"].n == 39
    assert report.run["data"]["parts"]["toy"]["skipped_items"] == {"i007": "text 7 cannot be read"}
    assert "text 7 cannot be read" in (tmp_path / "two" / "report.html").read_text()
    again = run_toy(tmp_path / "two", bad="i007", skip_bad=True, resume=True)
    assert measured_part(again) == measured_part(report)


def test_an_item_that_failed_before_is_measured_by_a_resumed_run(tmp_path: Path) -> None:
    """What could not be measured may be now: a newer package, more memory."""
    run_toy(tmp_path / "one", model=FakeModel(fails="i007"), skip_bad=True)
    report = run_toy(tmp_path / "one", skip_bad=True, resume=True)
    whole = run_toy(tmp_path / "whole", skip_bad=True)
    assert report is not None
    assert report.run["data"]["parts"]["toy"]["skipped_items"] == {}
    assert measured_part(report) == measured_part(whole)
    model = FakeModel()
    again = run_toy(tmp_path / "one", model=model, skip_bad=True, resume=True)
    assert model.measured == []
    assert measured_part(again) == measured_part(whole)


def test_a_resumed_run_that_is_stopped_keeps_the_rows_of_the_run_before_and_its_own(tmp_path: Path) -> None:
    run_toy(tmp_path / "one", model=FakeModel(fails="i007"), skip_bad=True)
    final = RowFiles(tmp_path / "one", "toy").final
    table = pq.read_table(final)
    pq.write_table(table.slice(0, 20), final)
    model = FakeModel()
    with pytest.raises(Stop):
        run_toy(tmp_path / "one", model=model, skip_bad=True, resume=True, progress=stopping_after(32))
    assert RowFiles(tmp_path / "one", "toy").done() == {*table.column("item").to_pylist()[:20], *model.measured}
    report = run_toy(tmp_path / "one", model=model, skip_bad=True, resume=True)
    assert len(model.measured) == len(set(model.measured))
    assert measured_part(report)["data"] == measured_part(run_toy(tmp_path / "two", skip_bad=True))["data"]


def test_bad_items_of_shards_are_in_the_merged_report(tmp_path: Path) -> None:
    folders = shards_of(tmp_path, bad="i007", skip_bad=True)
    merged = merge_shards(folders, tmp_path / "merged")
    assert measured_part(merged) == measured_part(run_toy(tmp_path / "whole", bad="i007", skip_bad=True))


def test_a_limit_takes_the_first_items(tmp_path: Path) -> None:
    report = run_toy(tmp_path / "one", limit=5)
    assert report is not None
    assert RowFiles(tmp_path / "one", "toy").done() == {f"i{number:03}" for number in range(5)}


def test_an_experiment_that_forgets_a_row_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Toy.measure

    def forgetful(self: Toy, model: Any, items: list[Item], settings: Any) -> Any:
        return list(measure(self, model, items, settings))[:-1]

    monkeypatch.setattr(Toy, "measure", forgetful)
    with pytest.raises(ValueError, match="shorter"):
        run_toy(tmp_path / "one")


def test_progress_counts_items(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    run_toy(tmp_path / "one", progress=lambda *state: told.append(state))
    assert told[0] == (0, 40, "toy")
    assert told[-1] == (40, 40, "toy")
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)


def test_the_plan_says_everything_that_a_rerun_needs(tmp_path: Path) -> None:
    run_toy(tmp_path / "one", seed=3)
    plan = json.loads((tmp_path / "one" / "run.json").read_text())
    assert plan["schema"] == "heedmap/run/1"
    assert plan["parts"]["toy"]["settings"]["seed"] == 3
    assert plan["model"]["sha256"] == "f" * 64
    assert set(plan) == {"schema", "parts", "model", "batch_size", "shard", "heedmap", "request", "run"}


@pytest.mark.parametrize("given", [None, {}, {"toy": {}}])
def test_a_plan_without_skipped_items_is_merged(tmp_path: Path, given: Any) -> None:
    folders = shards_of(tmp_path)
    _set_skipped(folders[0], given)
    assert merge_shards(folders, tmp_path / "merged").verdict == "fine"


@pytest.mark.parametrize("given", [[[]], {"toy": [[]]}, {"toy": {"i007": 1}}, "i007"])
def test_a_plan_whose_skipped_items_are_no_texts_is_refused(tmp_path: Path, given: Any) -> None:
    folders = shards_of(tmp_path)
    _set_skipped(folders[0], given)
    with pytest.raises(FileError, match=r"run.skipped_items"):
        merge_shards(folders, tmp_path / "merged")


def _set_skipped(folder: Path, given: Any) -> None:
    """Write something as a shard's skipped items."""
    plan = read_json(folder / "run.json")
    plan["run"]["skipped_items"] = given
    (folder / "run.json").write_text(json.dumps(plan))
