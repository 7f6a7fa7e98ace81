"""The application: its page, its endpoints and the guard before them, put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from heedmap._version import __version__
from heedmap.errors import FileError
from heedmap.server.endpoints import Endpoint, description, error_response
from heedmap.server.lab_endpoints import lab_endpoints
from heedmap.server.page import FILES, application_html
from heedmap.server.reading_endpoints import reading_endpoints
from heedmap.server.safety import Guard
from heedmap.server.services import Services


def all_endpoints(services: Services) -> list[Endpoint]:
    """Everything that the application answers, but for its page."""

    async def models(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse({"models": [model.to_json() for model in services.models()]})

    async def lessons(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse({"lessons": services.lessons.all()})

    async def status(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse({"version": __version__, **services.status()})

    return [
        Endpoint("GET", "/api/status", "Which application this is, and whether its worker runs.", status),
        Endpoint("GET", "/api/models", "The models that may be asked for.", models),
        Endpoint("GET", "/api/lessons", "The lessons of the course.", lessons),
        *reading_endpoints(services),
        *lab_endpoints(services),
    ]


def create_application(services: Services, hosts: Collection[str]) -> Starlette:
    """The application, ready to be served.

    Args:
        services: what it works with; whoever serves it closes them.
        hosts: the Host headers it answers to, such as "127.0.0.1:8321".
    """
    endpoints = all_endpoints(services)
    openapi = description(endpoints)

    async def page(request: Request) -> Response:
        return HTMLResponse(application_html(services.token))

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            return error_response(404, "NotFound", "there is no such file")
        path, kind = FILES[name]
        if not Path(path).is_file():
            return error_response(404, "NotFound", "the page's program is not built here: run `make viewer`")
        return FileResponse(path, media_type=kind)

    async def lesson(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "index.html":
            return RedirectResponse("/learn")
        found = await asyncio.to_thread(services.lessons.page, name)
        return error_response(404, "NotFound", "there is no such lesson") if found is None else HTMLResponse(found)

    async def icon(request: Request) -> Response:
        return Response(status_code=204)  # browsers ask for one by themselves

    async def describe(request: Request) -> Response:
        return JSONResponse(openapi)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await services.worker.start()
        yield

    routes = [
        *(Route(path, page) for path in ("/", "/hand", "/read", "/lab", "/learn")),
        Route("/favicon.ico", icon),
        Route("/learn/{name}", lesson),
        Route("/files/{name}", file),
        Route("/api/openapi.json", describe),
        *(one.route() for one in endpoints),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, hosts=frozenset(hosts), token=services.token)],
        exception_handlers={404: _not_found, 405: _wrong_method, FileError: _not_found},
    )


async def _not_found(request: Request, error: Exception) -> Response:
    return error_response(404, "NotFound", "there is nothing at this address: api/openapi.json says what there is")


async def _wrong_method(request: Request, error: Exception) -> Response:
    return error_response(405, "WrongMethod", "this address takes another method: see api/openapi.json")
