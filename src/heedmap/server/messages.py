"""What the application and its worker say to each other: a JSON head and raw numbers behind it, never pickle."""

from __future__ import annotations

import json
import struct
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        head: JSON values: what is asked, or what is answered.
        numbers: raw bytes of arrays, as the head describes them.
    """

    head: dict[str, Any]
    numbers: bytes = b""


class Channel:
    """One end of the pipe between the application and its worker. Any thread may write to it.

    Args:
        connection: the end of the pipe.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._writing = threading.Lock()  # a connection writes what is longer than 16 kB in two parts

    def send(self, packed: bytes) -> None:
        """Send one message, see `pack`.

        Raises:
            OSError: the other side is gone.
        """
        with self._writing:
            self._connection.send_bytes(packed)

    def receive(self) -> Message:
        """Wait for one message; one thread alone may do so.

        Raises:
            EOFError, OSError: the other side is gone.
        """
        data = self._connection.recv_bytes()
        (length,) = _LENGTH.unpack_from(data)
        end = _LENGTH.size + length
        return Message(json.loads(data[_LENGTH.size : end]), data[end:])

    def close(self) -> None:
        """Close this end; the other side sees it."""
        self._connection.close()


def pack(message: Message) -> bytes:
    """A message as it is sent.

    Raises:
        ValueError, TypeError: its head is not strict JSON.
    """
    head = json.dumps(message.head, allow_nan=False).encode()
    return _LENGTH.pack(len(head)) + head + message.numbers
