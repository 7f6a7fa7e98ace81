"""What the application and its worker say to each other: a JSON head and raw numbers behind it, never pickle."""

from __future__ import annotations

import json
import struct
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


def send(connection: Connection, message: Message) -> None:
    """Send one message.

    Raises:
        OSError: the other side is gone.
    """
    head = json.dumps(message.head, allow_nan=False).encode()
    connection.send_bytes(_LENGTH.pack(len(head)) + head + message.numbers)


def receive(connection: Connection) -> Message:
    """Wait for one message.

    Raises:
        EOFError, OSError: the other side is gone.
    """
    data = connection.recv_bytes()
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    return Message(json.loads(data[_LENGTH.size : end]), data[end:])
