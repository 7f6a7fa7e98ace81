"""Progress and kept figures: never half written, never lost to a second terminal, and moved by the environment."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from heedmap.errors import FileError
from heedmap.lessons.blocks import Goal
from heedmap.lessons.figures import Kept, read_figures, write_figures
from heedmap.lessons.goals import goals_of, is_ticked, ticked
from heedmap.lessons.live import Figure
from heedmap.lessons.progress import SOLVED_ENOUGH, Progress, data_folder
from tests.lessons.making import EVERYTHING, lesson


def test_progress_is_kept_by_lesson(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "new" / "folder")
    assert progress.read()["lessons"] == {}
    with progress.changing("one") as kept:
        kept["page"] = 3
    with progress.changing("two") as kept:
        kept["page"] = 1
    assert Progress(progress.folder).lesson("one") == {"page": 3}
    assert progress.read()["last"] == "two"
    progress.forget("one")
    assert progress.lesson("one") == {}
    progress.forget()
    assert not progress.path.exists()


def test_a_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    with progress.changing("one") as kept:
        kept["page"] = 3
    change = progress.changing("one")
    change.__enter__()["page"] = 4
    assert not change.__exit__(RuntimeError, RuntimeError("broke off"), None), "the error goes on"
    assert progress.lesson("one") == {"page": 3}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".heedmap")] == []


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    def count(times: int) -> None:
        for _ in range(times):
            with Progress(tmp_path).changing("one") as kept:
                kept["count"] = kept.get("count", 0) + 1

    threads = [threading.Thread(target=count, args=(10,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Progress(tmp_path).lesson("one") == {"count": 40}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "other/1"}', '{"schema": "heedmap/progress/1"}', "\x00"]
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    progress = Progress(tmp_path)
    progress.path.write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match=r"does not hold a learner's progress.*rename it to begin anew"):
        progress.read()
    with pytest.raises(FileError), progress.changing("one"):
        raise AssertionError("not reached")
    assert progress.path.read_text(encoding="utf-8") == content


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(FileError, match=r"cannot make the folder .*HEEDMAP_LEARN"),
        Progress(tmp_path / "file" / "x").changing("one"),
    ):
        raise AssertionError("not reached")


def test_the_folder_is_moved_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDMAP_LEARN", str(tmp_path / "a"))
    assert data_folder() == tmp_path / "a"
    monkeypatch.delenv("HEEDMAP_LEARN")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "b"))
    assert data_folder() == tmp_path / "b" / "heedmap"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_folder() == Path.home() / ".local" / "share" / "heedmap"


def test_goals_are_ticked_by_doing() -> None:
    made = lesson(EVERYTHING)
    assert ticked(made, {}) == (0, 7)
    everything = {
        "checkpoints": {"first": {"right": True}},
        "predictions": {"second": {"right": False}},
        "breaks": ["No softmax"],
        "quiz": {"third": {"right": True}},
        "exercises": {"attend 1": SOLVED_ENOUGH},
        "explain": "words",
        "code": ["softmax"],
    }
    assert ticked(made, everything) == (7, 7)
    for goal in goals_of(made):
        key = {"exercise": "exercises"}.get(goal.deed[0], goal.deed[0])
        assert not is_ticked(goal, made, {name: value for name, value in everything.items() if name != key})
    assert not is_ticked(Goal(("quiz",), ""), made, {"quiz": {"third": {"right": False}}})
    assert not is_ticked(Goal(("exercise", "attend", "1"), ""), made, {"exercises": {"attend 1": SOLVED_ENOUGH - 1}})
    assert not is_ticked(Goal(("explain",), ""), made, {"explain": " \n"})


def test_figures_are_kept_for_this_version_only(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "figures.json"
    kept = Kept(path, shipped=None)
    kept.add("odds 'a' b", Figure("0.5", 0.5))
    kept.add("tokens 'a'", Figure("a | b"))
    assert Kept(path, shipped=None).figures == {"odds 'a' b": Figure("0.5", 0.5), "tokens 'a'": Figure("a | b")}
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "version": "0.0.0"}), encoding="utf-8")
    assert Kept(path, shipped=None).figures == {}


def test_figures_that_are_none_are_refused_or_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    write_figures(path, {"share 2": Figure("0.5", 0.5)})
    assert read_figures(path) == {"share 2": Figure("0.5", 0.5)}
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(FileError, match="holds no figures"):
        read_figures(path)
    assert Kept(path, shipped=None).figures == {}
    with pytest.raises(FileError, match="cannot read"):
        read_figures(tmp_path / "none.json")
