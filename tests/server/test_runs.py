"""What the application keeps of its experiments: how many run at once, and what is deleted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heedmap.errors import FileError, ServerError
from heedmap.server.runs import MOST_RUNNING, Run, Runs

FAILS_AT_ONCE = {"name": "causal", "model": {"name": "smollm2"}}
"""Read without torch, and refused: it lacks the settings."""


def run_apart(work: Coroutine[None, None, None]) -> None:
    """Run in a thread of its own: that of the tests may hold the loop of a browser."""
    with ThreadPoolExecutor() as pool:
        pool.submit(asyncio.run, work).result()


async def started(runs: Runs, number: int) -> list[Run]:
    return [await runs.begin(FAILS_AT_ONCE) for _ in range(number)]


def test_no_more_run_at_once_than_may(tmp_path: Path) -> None:
    async def too_many() -> None:
        runs = Runs(tmp_path)
        first, *_ = await started(runs, MOST_RUNNING)
        with pytest.raises(ServerError, match=r"2 experiments run already: wait until one is finished, or stop one"):
            await runs.begin(FAILS_AT_ONCE)
        assert len(list(tmp_path.iterdir())) == MOST_RUNNING, "a refused run leaves no folder"
        await runs.stop(first)
        assert await last_state(first) in ("stopped", "failed")
        again = await runs.begin(FAILS_AT_ONCE)
        with pytest.raises(ServerError, match="experiments run already"):
            await runs.go_on(first)
        assert again.state == "running"
        await runs.close()

    run_apart(too_many())


def test_a_run_is_deleted_when_it_does_not_run(tmp_path: Path) -> None:
    async def deleted() -> None:
        runs = Runs(tmp_path)
        run, other = await started(runs, 2)
        with pytest.raises(ServerError, match=f"the run {run.identity} is running: stop it first, then delete it"):
            runs.remove(run)
        assert await last_state(run) == "failed"
        assert run.says == "the request: 'settings' is missing"
        runs.remove(run)
        assert [one.name for one in tmp_path.iterdir()] == [other.identity]
        with pytest.raises(FileError, match="there is no run"):
            runs.get(run.identity)
        await runs.close()

    run_apart(deleted())
    assert [run.state for run in Runs(tmp_path).all()] == ["stopped"], "what is left is found by the next application"


SAYS = """
import sys
{says}
"""


@pytest.mark.parametrize(
    ("says", "state", "noted"),
    [
        ("print('a library greets')\nprint('{\"finished\": true}')", "finished", ""),
        ("print('x' * 10_000_000)\nprint('{\"finished\": true}')", "finished", ""),
        ("sys.stdout.buffer.write(b'\\xff\\n[1]\\n{}\\n7\\n')\nprint('{\"finished\": true}')", "finished", ""),
        ('print(\'{"progress": 3}\\n{"failed": 4}\\n{"progress": [1, 2]}\')\nsys.exit(3)', "stopped", "exit status 3"),
        ("print('x' * 10_000_000, end='')", "stopped", "exit status 0"),
        ("print('{\"finished\": true}', end='')", "finished", ""),
    ],
    ids=["no JSON", "a long line", "no object", "other forms", "only a long line", "no last line break"],
)
def test_whatever_a_process_writes_its_run_ends(
    says: str, state: str, noted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library may print what it likes to the process's stdout."""
    (tmp_path / "python").write_text(f"#!{sys.executable}\n{SAYS.format(says=says)}", encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    async def run() -> None:
        runs = Runs(tmp_path / "runs")
        one = await runs.begin(FAILS_AT_ONCE)
        assert await asyncio.wait_for(last_state(one), 30) == state
        assert noted in one.says
        assert one.process is None
        await runs.close()

    run_apart(run())


def test_a_run_whose_process_cannot_be_started_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    async def run() -> None:
        runs = Runs(tmp_path / "runs")
        with pytest.raises(ServerError, match="cannot start the run's process"):
            await runs.begin(FAILS_AT_ONCE)
        assert [one.state for one in runs.all()] == ["stopped"]
        await runs.close()

    run_apart(run())


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": 3}', '{"name": "causal", "model": 1}'])
def test_a_folder_whose_request_cannot_be_read_is_left_alone(content: str, tmp_path: Path) -> None:
    folder = tmp_path / "causal-20260101-000000-abcd"
    folder.mkdir()
    (folder / "asked.json").write_text(content, encoding="utf-8")
    assert Runs(tmp_path).all() == []
    assert folder.exists()


async def last_state(run: Run) -> str:
    async for _ in run.watch():
        pass
    return run.state
