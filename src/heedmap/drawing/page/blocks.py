"""Numbers as compressed bytes: how the page carries them.

A block is the parts of one layer (or one mask), one after the other, each with its bytes sorted by significance (all
lowest bytes first, all highest last: neighbours are alike there, and compress well), and all deflated together.
"""

from __future__ import annotations

import base64
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float16] | NDArray[np.float32] | NDArray[np.uint8]

_LEVEL = 6
"""Of zlib: 9 takes four times as long for half a percent."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One array of a block.

    Attributes:
        name: what it is: "weights", "query", "logsumexp" ...
        numbers: float16, float32 or uint8.
    """

    name: str
    numbers: Numbers

    def to_json(self) -> dict[str, Any]:
        """How the page finds it in its block.

        Example:
            >>> Part("weights", np.zeros((2, 3), np.float16)).to_json()
            {'name': 'weights', 'type': 'float16', 'shape': [2, 3]}
        """
        return {"name": self.name, "type": self.numbers.dtype.name, "shape": list(self.numbers.shape)}


def pack(parts: Sequence[Part]) -> bytes:
    """The parts as one compressed block (zlib's format, RFC 1950).

    Example:
        >>> block = pack([Part("weights", np.array([1.0, 0.5], np.float16))])
        >>> zlib.decompress(block).hex()          # 0x3c00 and 0x3800: low bytes first, then high bytes
        '00003c38'
    """
    return zlib.compress(b"".join(_by_significance(part.numbers) for part in parts), _LEVEL)


def _by_significance(numbers: Numbers) -> bytes:
    """All lowest bytes, then all next ones, up to all highest."""
    flat = np.ascontiguousarray(numbers).reshape(-1)
    if sys.byteorder == "big":
        flat = flat.byteswap()
    return flat.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()


def as_text(block: bytes) -> str:
    """A block as text for an HTML file."""
    return base64.b64encode(block).decode("ascii")


def text_size(size: int) -> int:
    """How many characters a block of some bytes takes in an HTML file.

    Example:
        >>> text_size(4), len(as_text(bytes(4)))
        (8, 8)
    """
    return -(-size // 3) * 4
