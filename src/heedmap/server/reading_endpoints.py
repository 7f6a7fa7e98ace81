"""Endpoints of readings: read a text, look at rows, tiles, vectors and statistics, close it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from heedmap.server.endpoints import Endpoint, failure
from heedmap.server.messages import Message
from heedmap.server.parameters import Flag, Integer, Text
from heedmap.server.services import Services

LONGEST_TEXT = 1_000_000
"""Characters of a text: more than any model here has positions for."""

MOST_CELLS = 1024
"""Cells on a side of one tile."""

_LAYER = Integer(name="layer", says="the layer, from 0", most=10_000)
_HEAD = Integer(name="head", says="the head, from 0; left out: the mean over heads", most=10_000, optional=True)
_QUERY = Integer(name="query", says="the token that looks, from 0")
_TILE = (
    _LAYER,
    _HEAD,
    Integer(name="rows_start", says="the first token that looks"),
    Integer(name="rows_stop", says="past the last token that looks", least=1),
    Integer(name="columns_start", says="the first token that is looked at"),
    Integer(name="columns_stop", says="past the last token that is looked at", least=1),
    Integer(name="height", says="cells from top to bottom", least=1, most=MOST_CELLS),
    Integer(name="width", says="cells from left to right", least=1, most=MOST_CELLS),
    Text(name="how", says="how a cell stands for those under it", choices=("mean", "max")),
)
_READ = (
    Text(name="model", says="one of api/models", longest=500),
    Text(name="text", says="what to read", longest=LONGEST_TEXT),
    Flag(
        name="special_tokens", says="add begin-of-text and the like; the tokenizer's own way by default", optional=True
    ),
    Flag(name="truncate", says="cut a text that is longer than the model's positions", optional=True),
)

NUMBERS = "application/octet-stream"


def reading_endpoints(services: Services) -> list[Endpoint]:
    """The endpoints of readings."""

    async def read(request: Request, values: dict[str, Any]) -> Response:
        asked = {
            "reading": secrets.token_urlsafe(9),
            "model": services.source(values["model"]),
            "text": values["text"],
            "special_tokens": values["special_tokens"],
            "truncate": bool(values["truncate"]),
        }
        return await _streamed(services, "read", asked, {"id": asked["reading"]})

    async def statistics(request: Request, values: dict[str, Any]) -> Response:
        return await _streamed(services, "statistics", values, {})

    def look(does: str) -> Any:
        async def answer(request: Request, values: dict[str, Any]) -> Response:
            found = await services.worker.ask(does, values)
            head = json.dumps(found.head, allow_nan=False)
            return Response(found.numbers, media_type=NUMBERS, headers={"x-heedmap-head": head})

        return answer

    async def close(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse((await services.worker.ask("close", values)).head)

    path = "/api/readings/{reading}"
    return [
        Endpoint("POST", "/api/readings", "Read a text; progress, then the reading, as JSON lines.", read, body=_READ,
                 answers="application/x-ndjson"),
        Endpoint("GET", f"{path}/row", "One token's weights: float32 each, then a byte each, 1 where allowed.",
                 look("row"), query=(_LAYER, _HEAD, _QUERY), answers=NUMBERS),
        Endpoint("GET", f"{path}/tile", "A part of a map, pooled: float32 each, then a byte each.", look("tile"),
                 query=_TILE, answers=NUMBERS),
        Endpoint("GET", f"{path}/vectors", "Query, keys, values of one token's four steps: float32.", look("vectors"),
                 query=(_LAYER, Integer(name="head", says="the head, from 0", most=10_000), _QUERY), answers=NUMBERS),
        Endpoint("GET", f"{path}/statistics", "Statistics of all heads; progress, then the table, as JSON lines.",
                 statistics, answers="application/x-ndjson"),
        Endpoint("DELETE", path, "Close a reading and give its memory back.", close),
    ]  # fmt: skip


_Line = dict[str, Any] | Exception | Message
"""Progress, what went wrong, or the answer."""


async def _streamed(services: Services, does: str, asked: dict[str, Any], beside: dict[str, Any]) -> Response:
    """Progress as it comes, then the answer, each a line of JSON; what fails before any progress has its own status."""
    lines: asyncio.Queue[_Line] = asyncio.Queue()

    def told(done: int, total: int, what: str) -> None:
        lines.put_nowait({"progress": [done, total, what]})

    async def work() -> None:
        try:
            lines.put_nowait(await services.worker.ask(does, asked, told))
        except Exception as error:  # whoever reads the lines is told, whatever it is
            lines.put_nowait(error)

    task = asyncio.create_task(work())
    first = await lines.get()
    if isinstance(first, Exception):
        raise first

    async def all_lines() -> AsyncIterator[bytes]:
        line: _Line = first
        try:
            while isinstance(line, dict):
                yield _line(line)
                line = await lines.get()
            if isinstance(line, Exception):
                yield bytes(failure(line).body) + b"\n"
            else:
                yield _line({"answer": {**beside, **line.head}})
        finally:
            task.cancel()  # nobody reads on: the worker stops at the next layer

    return StreamingResponse(all_lines(), media_type="application/x-ndjson")


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, allow_nan=False).encode() + b"\n"
