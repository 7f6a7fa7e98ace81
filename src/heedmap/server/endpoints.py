"""An endpoint: its path, what it takes and what it answers, as a route of Starlette and as OpenAPI."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from heedmap._version import __version__
from heedmap.errors import FileError, HeedmapError
from heedmap.json_text import parse_json
from heedmap.server.parameters import Parameter, Refused, Text, check_all
from heedmap.server.worker_client import WorkFailed

MOST_BYTES = 4 << 20
"""Bytes that the body of a request may have."""

Handler = Callable[[Request, dict[str, Any]], Awaitable[Response]]

_STATUS = {"ReadingGone": 410, "WorkerDied": 503, "InternalError": 500, "TooLarge": 413, "Stopped": 409}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint.

    Attributes:
        method: "GET", "POST" or "DELETE".
        path: with {names} of its variable parts.
        says: what it does.
        handler: called with the request and all values, checked.
        query: the values in the address.
        body: the values in a JSON body.
        answers: the media type of the answer.
    """

    method: str
    path: str
    says: str
    handler: Handler
    query: Sequence[Parameter] = ()
    body: Sequence[Parameter] = ()
    answers: str = "application/json"

    @property
    def names(self) -> list[Parameter]:
        """The variable parts of the path."""
        parts = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return [Text(name=part, says="as it was given by the server") for part in parts]

    def route(self) -> Route:
        """The endpoint as Starlette calls it."""

        async def answer(request: Request) -> Response:
            try:
                values = check_all(self.names, request.path_params, "the path")
                values |= check_all(self.query, dict(request.query_params), "the address")
                if self.body:
                    values |= check_all(self.body, await read_body(request), "the body")
                return await self.handler(request, values)
            except Exception as error:  # whatever goes wrong is answered in one shape, and never with a traceback
                return failure(error)

        return Route(self.path, answer, methods=[self.method])

    def describe(self) -> dict[str, Any]:
        """The endpoint as OpenAPI describes it."""
        names = [_parameter(one, "path") for one in self.names]
        described: dict[str, Any] = {
            "summary": self.says,
            "parameters": names + [_parameter(one, "query") for one in self.query],
            "responses": {
                "200": {"description": "done", "content": {self.answers: {}}},
                "4XX": {"description": "refused, with the reason", "content": {"application/json": {"schema": _ERROR}}},
                "503": {"description": "the worker ended", "content": {"application/json": {"schema": _ERROR}}},
            },
        }
        if self.method != "GET":
            described["security"] = [{"token": []}]
        if self.body:
            described["requestBody"] = {"required": True, "content": {"application/json": {"schema": self._schema()}}}
        return described

    def _schema(self) -> dict[str, Any]:
        """The JSON schema of the body."""
        properties = {one.name: {"description": one.says, **one.schema()} for one in self.body}
        required = [one.name for one in self.body if not one.optional]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def _parameter(one: Parameter, place: str) -> dict[str, Any]:
    required = place == "path" or not one.optional
    return {"name": one.name, "in": place, "required": required, "description": one.says, "schema": one.schema()}


def description(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """All endpoints as one OpenAPI description."""
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = one.describe()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Heedmap's local application", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Heedmap-Token"}}},
    }


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request.

    Raises:
        Refused: it is too large, no JSON, or no object.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_BYTES:
            raise Refused(413, "TooLarge", f"the body is larger than {MOST_BYTES:,} bytes")
    try:
        value = parse_json(bytes(data), strict=True)
    except ValueError:
        raise Refused(400, "NoJson", "the body is not strict JSON in UTF-8") from None
    if not isinstance(value, dict):
        raise Refused(400, "NoJson", "the body must be a JSON object")
    return value


def failure(error: Exception) -> Response:
    """What is answered when something goes wrong: a kind for programs and a message for people."""
    if isinstance(error, Refused):
        return error_response(error.status, error.kind, str(error))
    if isinstance(error, WorkFailed):
        return error_response(_STATUS.get(error.kind, 422), error.kind, str(error))
    if isinstance(error, HeedmapError):
        kind = type(error).__name__
        status = _STATUS.get(kind, 404 if isinstance(error, FileError) else 422)
        return error_response(status, kind, str(error))
    if isinstance(error, ClientDisconnect):
        return error_response(400, "Disconnected", "the request broke off")
    logging.getLogger(__name__).error("a request failed", exc_info=error)
    return error_response(500, "InternalError", "this failed inside Heedmap: the server's log has the details")


def error_response(status: int, kind: str, message: str) -> Response:
    """One failure as JSON."""
    # A message may quote what was asked, lone surrogates included, which UTF-8 cannot hold.
    clean = message.encode("utf-8", "replace").decode()
    return JSONResponse({"error": {"kind": kind, "message": clean}}, status)
