"""The worker's process: answers what the application asks, long work and quick looks in a thread each."""

from __future__ import annotations

import logging
import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from heedmap.errors import HeedmapError
from heedmap.server.messages import Channel, Message, pack

if TYPE_CHECKING:
    from heedmap.server.work import Work

LONG = ("read", "statistics", "vectors")
"""What runs the model or all heads: it waits for its turn, while rows and tiles of other readings are answered."""


class Stopped(Exception):  # noqa: N818 - it stops the work, nothing went wrong
    """Whoever asked no longer waits."""


def main(connection: Connection) -> None:
    """Answer until the application is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the application, and its end ends this process
    from heedmap.server.work import Work

    Desk(Channel(connection), Work()).serve()


class Desk:
    """Takes requests in, hands them to two threads, and sends the answers back.

    Args:
        channel: where requests come from.
        work: what does them.
    """

    def __init__(self, channel: Channel, work: Work) -> None:
        self._channel = channel
        self._work = work
        self._stopped: set[int] = set()
        self._queues: dict[str, queue.SimpleQueue[dict[str, Any]]] = {
            name: queue.SimpleQueue() for name in ("long", "quick")
        }

    def serve(self) -> None:
        """Take requests in until the application is gone."""
        for name in self._queues:
            threading.Thread(target=self._run, args=(name,), daemon=True).start()
        self._channel.send(pack(Message({"ready": True})))
        while True:
            try:
                asked = self._channel.receive().head
            except (EOFError, OSError):
                return
            if asked["does"] == "stop":
                self._stopped.add(asked["number"])
            else:
                self._queues["long" if asked["does"] in LONG else "quick"].put(asked)

    def _run(self, name: str) -> None:
        """Answer the requests of one queue, one after the other."""
        while True:
            asked = self._queues[name].get()
            try:
                self._answer(asked)
            except OSError:
                return  # the application is gone

    def _answer(self, asked: dict[str, Any]) -> None:
        """Do what is asked; what goes wrong is an answer too."""
        number = asked["number"]

        def progress(done: int, total: int, what: str, /) -> None:
            if number in self._stopped:
                raise Stopped
            self._channel.send(pack(Message({"number": number, "progress": [done, total, what]})))

        try:
            if number in self._stopped:
                raise Stopped
            answer = getattr(self._work, asked["does"])(asked, progress)
            packed = pack(Message({"number": number, "answer": answer.head}, answer.numbers))
        except Stopped:
            packed = _failure(number, "Stopped", "nobody waits for this any more")
        except HeedmapError as error:
            packed = _failure(number, type(error).__name__, str(error))
        except BaseException:  # a model's own code may even call sys.exit, and this thread has others to answer
            logging.getLogger(__name__).exception("the worker failed on %s", asked["does"])
            packed = _failure(number, "InternalError", "this failed inside Heedmap: the server's log has the details")
        self._stopped.discard(number)
        self._channel.send(packed)


def _failure(number: int, kind: str, says: str) -> bytes:
    return pack(Message({"number": number, "failed": {"kind": kind, "message": says}}))
