"""What the application keeps of its experiments: how many run at once, and what is deleted."""

from __future__ import annotations

import asyncio
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


async def last_state(run: Run) -> str:
    async for _ in run.watch():
        pass
    return run.state
