"""The lab's runs that the application started: each in a process and a folder of its own, stopped and gone on with."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedmap.errors import FileError, ServerError
from heedmap.files import write_beside
from heedmap.json_form import Maybe, check_form
from heedmap.json_text import parse_json

MOST_RUNNING = 2
"""Runs at once: each holds a model of its own."""

_IDENTITY = re.compile(r"[a-z]+-\d{8}-\d{6}-[0-9a-f]{4}")
_REQUEST_FILE = "asked.json"

_LONGEST_LINE = 1 << 20
"""Bytes of a line that a run's process writes: ours are far shorter."""


@dataclass(slots=True)
class Run:
    """One run.

    Attributes:
        identity: its name here, and that of its folder.
        folder: where rows and report lie.
        request: what was asked for, see `heedmap.lab.request.Request`.
        state: "running", "stopped", "failed" or "finished".
        progress: done, total and what, as last told.
        says: why it failed, or what it noted last.
        process: while it runs.
        stopping: whether its process was asked to end.
        changes: counts what happened, so that whoever watches can wait for the next.
    """

    identity: str
    folder: Path
    request: dict[str, Any]
    state: str = "stopped"
    progress: tuple[int, int, str] = (0, 0, "")
    says: str = ""
    process: asyncio.subprocess.Process | None = None
    stopping: bool = False
    changes: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def to_json(self) -> dict[str, Any]:
        """What the page is told."""
        done, total, what = self.progress
        return {
            "run": self.identity,
            "experiment": self.request["name"],
            "model": self.request["model"].get("title", self.request["model"]["name"]),
            "state": self.state,
            "done": done,
            "total": total,
            "what": what,
            "says": self.says,
            "report": (self.folder / "report" / "report.html").is_file(),
        }

    async def tell(self) -> None:
        """Wake all who watch."""
        async with self.changed:
            self.changes += 1
            self.changed.notify_all()

    async def watch(self) -> AsyncIterator[dict[str, Any]]:
        """The run as it is now, and again after each change, until it no longer runs."""
        seen = -1
        while True:
            async with self.changed:
                while self.changes == seen and self.state == "running":
                    await self.changed.wait()
                seen = self.changes
            yield self.to_json()
            if self.state != "running":
                return


class Runs:
    """All runs in one folder; those of an earlier application are found there again.

    Args:
        folder: where each run has its own folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: dict[str, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        for one in sorted(folder.glob(f"*/{_REQUEST_FILE}")):
            if _IDENTITY.fullmatch(one.parent.name):
                # Whatever somebody put there must not keep the application from starting.
                with contextlib.suppress(OSError, ValueError):
                    self._runs[one.parent.name] = _found(one.parent)

    def all(self) -> list[Run]:
        """The runs, the newest first."""
        return sorted(self._runs.values(), key=lambda run: run.identity.split("-", 1)[1], reverse=True)

    def get(self, identity: str) -> Run:
        """The run of a name.

        Raises:
            FileError: there is none.
        """
        if identity not in self._runs:
            raise FileError(f"there is no run {identity[:80]!r}")
        return self._runs[identity]

    async def begin(self, request: dict[str, Any]) -> Run:
        """Start a new run.

        Args:
            request: as `heedmap.lab.request.Request.to_json` gives it.

        Raises:
            FileError: its folder cannot be made.
            ServerError: as many run as may, or the application is ending.
        """
        self._check_room()
        identity = f"{request['name']}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        run = Run(identity, self._folder / identity, request)
        try:
            run.folder.mkdir(parents=True)
        except OSError as error:
            raise FileError(f"cannot make the run's folder {run.folder}: {error.strerror}") from None
        with write_beside(run.folder / _REQUEST_FILE) as beside:
            beside.write_text(json.dumps(request), encoding="utf-8")
        self._runs[identity] = run
        await self.go_on(run)
        return run

    async def go_on(self, run: Run) -> None:
        """Start the process of a run, which takes up what its folder holds; nothing happens while it runs.

        Raises:
            ServerError: as many run as may, the application is ending, or no process can be started.
        """
        if run.state == "running" or run.state == "finished":
            return
        self._check_room()
        run.state, run.says, run.progress, run.stopping = "running", "", (0, 0, "starting"), False
        try:
            run.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "heedmap.server.lab_process", str(run.folder / "report")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            run.state, run.says = "stopped", f"cannot start the run's process: {error.strerror}"
            raise ServerError(run.says) from None
        assert run.process.stdin is not None
        run.process.stdin.write(json.dumps(run.request).encode())
        run.process.stdin.close()
        await run.tell()
        task = asyncio.create_task(self._follow(run, run.process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self, run: Run) -> None:
        """End the process of a run; its rows stay, and `go_on` goes on from them."""
        if run.process is None or run.state != "running":
            return
        run.stopping = True
        run.process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(run.process.wait(), 10)
        except TimeoutError:
            run.process.kill()

    def remove(self, run: Run) -> None:
        """Delete a run with all that it measured.

        Raises:
            ServerError: it runs.
            FileError: its folder cannot be deleted.
        """
        if run.state == "running":
            raise ServerError(f"the run {run.identity} is running: stop it first, then delete it")
        try:
            shutil.rmtree(run.folder)
        except OSError as error:
            raise FileError(f"cannot delete the run's folder {run.folder}: {error.strerror}") from None
        del self._runs[run.identity]

    def _check_room(self) -> None:
        if self._closed:
            raise ServerError("the application is ending: start it again with `heedmap serve`")
        if sum(run.state == "running" for run in self._runs.values()) >= MOST_RUNNING:
            raise ServerError(f"{MOST_RUNNING} experiments run already: wait until one is finished, or stop one")

    async def close(self) -> None:
        """End all processes; none is started any more."""
        self._closed = True
        await asyncio.gather(*(self.stop(run) for run in self._runs.values()))

    async def _follow(self, run: Run, process: asyncio.subprocess.Process) -> None:
        """Take in what a process tells until it ends."""
        assert process.stdout is not None
        last = ""
        async for told in _objects(process.stdout):
            match told:
                case {"progress": [int(done), int(total), str(what)]}:
                    run.progress = (done, total, what)
                case {"failed": {"message": str(says)}} | {"note": str(says)}:
                    run.says = says
                case {"finished": True} | {"stopped": True}:
                    pass
                case _:
                    continue
            last = next(iter(told))
            await run.tell()
        code = await process.wait()
        run.process = None
        run.state = last if last in ("finished", "failed", "stopped") else "stopped"
        if run.state != last and not run.stopping:
            run.says = f"its process was ended from outside (exit status {code}); its rows are kept, and it can go on"
        await run.tell()


async def _objects(stream: asyncio.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """The JSON objects among the lines of a stream, one a line; what libraries print there too is passed over."""
    line = b""
    ended = False
    while not ended:
        chunk = await stream.read(_LONGEST_LINE)
        ended = not chunk
        *lines, line = (line + (chunk or b"\n")).split(b"\n")
        for one in lines:
            with contextlib.suppress(ValueError):
                told = parse_json(one)
                if isinstance(told, dict):
                    yield told
        if len(line) > _LONGEST_LINE:
            line = b"too long"  # so that its rest is no JSON either


def _found(folder: Path) -> Run:
    """A run of an earlier application.

    Raises:
        OSError, ValueError: its request cannot be read.
    """
    request = parse_json((folder / _REQUEST_FILE).read_bytes())
    check_form(request, {"name": str, "model": {"name": str, "title": Maybe(str)}}, _REQUEST_FILE, ValueError)
    run = Run(folder.name, folder, request)
    run.state = "finished" if (folder / "report" / "report.json").is_file() else "stopped"
    return run
