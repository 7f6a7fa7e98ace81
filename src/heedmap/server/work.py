"""What the worker can do: read a text, then say any row, tile or vector of it. Runs in the worker's process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedmap.errors import NumbersError, OutOfRange, ReadingGone
from heedmap.server.held import Held
from heedmap.server.messages import Message

if TYPE_CHECKING:
    from heedmap.reading.call import AttentionCall
    from heedmap.reading.model import Model
    from heedmap.reading.progress import Progress
    from heedmap.reading.reading import Reading

MOST_MODELS = 2
"""Models that are held at once."""

MOST_BYTES = 2 << 30
"""Bytes that all readings held may take together; the newest is held whatever it takes."""


class Work:
    """The models and readings of the worker, and what is asked of them."""

    def __init__(self) -> None:
        self._models = Held["Model"](MOST_MODELS)
        self._readings = Held["Reading"](MOST_BYTES)
        self._pass = threading.Lock()

    def read(self, asked: dict[str, Any], progress: Progress) -> Message:
        """Read a text and hold the reading; answers what the page must know before it draws."""
        from heedmap.server.header import served_header

        with self._pass:
            model = self._model(asked["model"])
            reading = model.read(
                asked["text"], special_tokens=asked["special_tokens"], truncate=asked["truncate"], progress=progress
            )
        kept = bytes_kept(reading)
        gone = self._readings.put(asked["reading"], reading, kept)
        return Message({**served_header(reading), "bytes": kept, "closed": gone})

    def statistics(self, asked: dict[str, Any], progress: Progress) -> Message:
        """The statistics of all heads, as the page shows them."""
        from heedmap.drawing.page.columns import columns_json

        reading = self._reading(asked["reading"])
        return Message({"statistics": columns_json(reading.stats(progress=progress), list(reading.calls))})

    def row(self, asked: dict[str, Any], progress: Progress) -> Message:
        """The weights of one query and where it may look."""
        from heedmap.reading.word_row import number_or_none

        reading, layer, head = self._place(asked)
        row = asked["query"]
        the_map = reading.map(layer, head)
        _require_within("query", row, row + 1, the_map.shape[0])
        call = reading.call(layer)
        sink = call.sink_share(slice(row, row + 1), the_map.heads)
        allowed = the_map.allowed(slice(row, row + 1))[0]
        share = None if sink is None else number_or_none(float(sink[0].mean()))
        return Message({"keys": the_map.shape[1], "sink": share}, numbers(the_map[row], allowed))

    def tile(self, asked: dict[str, Any], progress: Progress) -> Message:
        """A part of a map, pooled where fewer cells are asked for than it has."""
        from heedmap.reading.pool import block_edges, pool_by_edges

        reading, layer, head = self._place(asked)
        the_map = reading.map(layer, head)
        rows, columns = (asked["rows_start"], asked["rows_stop"]), (asked["columns_start"], asked["columns_stop"])
        _require_within("rows", *rows, the_map.shape[0])
        _require_within("columns", *columns, the_map.shape[1])
        row_edges = [rows[0] + edge for edge in block_edges(rows[1] - rows[0], asked["height"])]
        column_edges = [columns[0] + edge for edge in block_edges(columns[1] - columns[0], asked["width"])]
        pooled = pool_by_edges(the_map, row_edges, column_edges, asked["how"])
        height, width = pooled.weights.shape
        return Message({"height": height, "width": width}, numbers(pooled.weights, pooled.allowed))

    def vectors(self, asked: dict[str, Any], progress: Progress) -> Message:
        """What the four steps of one query start from: its vector, and the keys' and values'."""
        from heedmap.reading.again import with_values

        reading, layer, head = self._place(asked)
        assert head is not None
        query = asked["query"]
        the_map = reading.map(layer, head)
        _require_within("query", query, query + 1, the_map.shape[0])
        with self._pass:
            call = reading.calls[layer] = with_values(reading, [layer], progress)[layer]
        assert call.value is not None
        shared = head // (call.heads // call.key_value_heads)
        sinks = None if call.sinks is None else call.sinks.expand(1, call.heads, call.rule.queries)[0, head, query]
        if sinks is not None and not sinks.isfinite():
            raise NumbersError(f"the learned sink of layer {layer}, head {head} is not a number ({float(sinks)})")
        told = {
            "dim": call.query.shape[-1],
            "valueDim": call.value.shape[-1],
            "keys": the_map.shape[1],
            "scale": call.scale,
            "softcap": call.softcap,
            "sink": None if sinks is None else float(sinks),
        }
        parts = (call.query[0, head, query], call.key[0, shared], call.value[0, shared])
        floats = b"".join(part.float().cpu().numpy().astype("<f4").tobytes() for part in parts)
        return Message(told, floats + the_map.allowed(slice(query, query + 1))[0].astype(np.uint8).tobytes())

    def close(self, asked: dict[str, Any], progress: Progress) -> Message:
        """Let a reading go, and give its memory back."""
        closed = self._readings.drop(asked["reading"])
        if closed:
            release_memory()
        return Message({"closed": closed, "bytes": self._readings.weight})

    def _model(self, name: str) -> Model:
        """The model of a name, loaded when it is not held."""
        from heedmap.reading.loading import load

        return self._models.get_or_make(name, lambda: load(name), 1)

    def _reading(self, name: str) -> Reading:
        """The reading of a name.

        Raises:
            ReadingGone: it is no longer held.
        """
        found = self._readings.get(name)
        if found is None:
            raise ReadingGone("this reading is no longer in memory: read the text again")
        return found

    def _place(self, asked: dict[str, Any]) -> tuple[Reading, int, int | None]:
        """The reading, layer and head that are asked about."""
        reading = self._reading(asked["reading"])
        layer = reading.layer_number(asked["layer"])
        return reading, layer, reading.head_number(asked["head"], layer)


Answer = Callable[[dict[str, Any], "Progress"], Message]


def numbers(weights: NDArray[Any], allowed: NDArray[np.bool_]) -> bytes:
    """Weights in float32, then a byte a cell: 1 where the look is allowed."""
    return np.ascontiguousarray(weights, "<f4").tobytes() + np.ascontiguousarray(allowed, np.uint8).tobytes()


def bytes_kept(reading: Reading) -> int:
    """What the tensors of a reading take.

    Example:
        >>> import heedmap
        >>> bytes_kept(heedmap.load("smollm2").read("The cat sat.", layers=12)) // 2**10
        12
    """
    return sum(_bytes(call) for call in reading.calls.values())


def _bytes(call: AttentionCall) -> int:
    parts = (call.query, call.key, call.logsumexp, call.value, call.output, call.bias)
    return sum(part.numel() * part.element_size() for part in parts if part is not None)


def release_memory() -> None:
    """Hand freed memory back to the system, where the C library keeps it for later (glibc)."""
    import ctypes
    import gc

    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _require_within(name: str, start: int, stop: int, size: int) -> None:
    """Refuse a range that reaches outside.

    Raises:
        OutOfRange: it does, or it is empty.
    """
    if not 0 <= start < stop <= size:
        raise OutOfRange(f"{name} {start} to {stop} is out of range: there are {size} tokens, 0 to {size - 1}")
