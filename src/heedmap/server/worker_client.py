"""The application's side of the worker: ask and wait, be told of progress, and start another when it dies."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

from heedmap.errors import WorkerDied
from heedmap.server import worker
from heedmap.server.messages import Channel, Message, pack

Told = Callable[[int, int, str], None]


class WorkFailed(Exception):  # noqa: N818 - what failed is the work, and its own error is inside
    """The worker could not do it.

    Attributes:
        kind: the name of the error's class, as in `heedmap.errors`.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Worker:
    """A process that holds the models; it is started at the first question, and again after it died."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[asyncio.Future[Message], Told | None]] = {}
        self._process: BaseProcess | None = None
        self._channel: Channel | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self.starts = 0

    @property
    def process_id(self) -> int | None:
        """The process that runs now; None when there is none."""
        return None if self._process is None else self._process.pid

    async def ask(self, does: str, asked: dict[str, Any], told: Told | None = None) -> Message:
        """Have something done.

        Args:
            does: the name of a method of `heedmap.server.work.Work`.
            asked: its arguments.
            told: told of progress.

        Raises:
            WorkFailed: it could not be done.
            WorkerDied: the process ended before it answered; the next question starts another.
        """
        await self.start()
        number = next(self._numbers)
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, told)
        try:
            await asyncio.to_thread(self._send, {**asked, "does": does, "number": number})
            return await future
        except asyncio.CancelledError:
            self._send_quietly({"does": "stop", "number": number})
            raise
        finally:
            self._waiting.pop(number, None)

    async def start(self) -> None:
        """Start the process when none runs.

        Raises:
            WorkerDied: the application is ending.
        """
        async with self._starting:
            if self._closed:
                raise WorkerDied("the application is ending: start it again with `heedmap serve`")
            if self._process is not None and self._process.is_alive():
                return
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            self._channel = Channel(ours)
            self._process = context.Process(target=worker.main, args=(theirs,), daemon=True, name="heedmap worker")
            self._process.start()
            theirs.close()
            self.starts += 1
            loop = asyncio.get_running_loop()
            listen = threading.Thread(target=self._listen, args=(self._channel, self._process, loop), daemon=True)
            listen.start()

    def close(self) -> None:
        """End the process; whoever waits for it is told, and none is started any more."""
        self._closed = True
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.terminate()
            self._process.join(5)

    def _send(self, head: dict[str, Any]) -> None:
        """Send a request; what it is answered arrives in `_listen`.

        Raises:
            WorkerDied: there is nobody to send it to.
        """
        assert self._channel is not None
        try:
            self._channel.send(pack(Message(head)))
        except OSError:
            raise WorkerDied(_DIED) from None

    def _send_quietly(self, head: dict[str, Any]) -> None:
        """Send what nobody waits for."""
        try:
            self._send(head)
        except WorkerDied:
            return

    def _listen(self, channel: Channel, process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Hand answers to whoever waits, in a thread of its own, until the process is gone."""
        while True:
            try:
                message = channel.receive()
            except Exception:  # it is gone, or wrote what cannot be read: then it must go, so that another starts
                process.kill()
                break
            if not _call_soon(loop, self._take, message):
                return
        _call_soon(loop, self._fail_all, channel)

    def _take(self, message: Message) -> None:
        """Take one answer in, on the loop's own thread."""
        future, told = self._waiting.get(message.head.get("number", -1), (None, None))
        if future is None or future.done():
            return
        if "progress" in message.head:
            if told is not None:
                told(*message.head["progress"])
        elif "failed" in message.head:
            failed = message.head["failed"]
            future.set_exception(WorkFailed(failed["kind"], failed["message"]))
        else:
            future.set_result(Message(message.head["answer"], message.numbers))

    def _fail_all(self, channel: Channel) -> None:
        """Tell all who wait that the process is gone."""
        if channel is not self._channel:
            return
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(WorkerDied(_DIED))


_DIED = "the process that runs the models ended before it answered (out of memory?): ask again, it starts anew"


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> bool:
    """Have the loop call a function; False when the loop is closed."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        return False
    return True
