"""Endpoints of the lab: what there is, start a run, watch it, stop it, go on with it, delete it, open its report."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from heedmap.errors import FileError
from heedmap.server.endpoints import Endpoint
from heedmap.server.parameters import Integer, Options, Text
from heedmap.server.services import Services

_START = (
    Text(name="experiment", says="one of api/lab"),
    Text(name="model", says="one of api/models", longest=500),
    Options(name="settings", says="the experiment's own settings; what is left out keeps its default", optional=True),
    Integer(name="limit", says="only the first so many items", least=1, optional=True),
)

_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-same-origin"
"""A report brings its own style inside, and no script."""


def lab_endpoints(services: Services) -> list[Endpoint]:
    """The endpoints of the lab."""
    runs = services.runs

    async def experiments(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse({"experiments": describe_experiments()})

    async def all_runs(request: Request, values: dict[str, Any]) -> Response:
        return JSONResponse({"runs": [run.to_json() for run in runs.all()]})

    async def begin(request: Request, values: dict[str, Any]) -> Response:
        run = await runs.begin(make_request(values, services.source(values["model"])))
        return JSONResponse(run.to_json())

    async def watch(request: Request, values: dict[str, Any]) -> Response:
        run = runs.get(values["run"])

        async def lines() -> AsyncIterator[bytes]:
            async for state in run.watch():
                yield json.dumps(state).encode() + b"\n"

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def stop(request: Request, values: dict[str, Any]) -> Response:
        run = runs.get(values["run"])
        await runs.stop(run)
        return JSONResponse(run.to_json())

    async def go_on(request: Request, values: dict[str, Any]) -> Response:
        run = runs.get(values["run"])
        await runs.go_on(run)
        return JSONResponse(run.to_json())

    async def remove(request: Request, values: dict[str, Any]) -> Response:
        run = runs.get(values["run"])
        runs.remove(run)
        return JSONResponse({"deleted": run.identity})

    async def report(request: Request, values: dict[str, Any]) -> Response:
        path = runs.get(values["run"]).folder / "report" / "report.html"
        if not path.is_file():
            raise FileError("this run has no report yet: it is written when everything is measured")
        return FileResponse(path, media_type="text/html", headers={"content-security-policy": _REPORT_POLICY})

    path = "/api/lab/runs/{run}"
    return [
        Endpoint("GET", "/api/lab", "The experiments and their settings.", experiments),
        Endpoint("GET", "/api/lab/runs", "All runs, the newest first.", all_runs),
        Endpoint("POST", "/api/lab/runs", "Start a run.", begin, body=_START),
        Endpoint("GET", f"{path}/events", "A run's state after each change, as JSON lines, until it ends.", watch,
                 answers="application/x-ndjson"),
        Endpoint("POST", f"{path}/stop", "Stop a run; what it measured is kept.", stop),
        Endpoint("POST", f"{path}/resume", "Go on with a run that was stopped.", go_on),
        Endpoint("DELETE", path, "Delete a run that is not running, with all that it measured.", remove),
        Endpoint("GET", f"{path}/report", "The report of a run that is finished.", report, answers="text/html"),
    ]  # fmt: skip


def describe_experiments() -> list[dict[str, Any]]:
    """The experiments with their settings, as a form is made from them.

    Example:
        >>> [one["name"] for one in describe_experiments()][:2]
        ['sink', 'causal']
    """
    from heedmap.lab.registry import EXPERIMENTS, experiment

    return [
        {
            "name": name,
            "purpose": purpose,
            "settings": [_setting(option) for option in experiment(name).Settings.options()],
        }
        for name, (_, purpose) in EXPERIMENTS.items()
    ]


def _setting(option: Any) -> dict[str, Any]:
    """One setting as a field of a form."""
    return {
        "name": option.name,
        "kind": option.kind.__name__,
        "many": option.many,
        "optional": option.optional,
        "default": list(option.default) if isinstance(option.default, tuple) else option.default,
        "help": option.help,
        "choices": None if option.choices is None else list(option.choices),
        "least": option.least,
    }


def make_request(values: dict[str, Any], source: str) -> dict[str, Any]:
    """A run's request as JSON, its settings checked.

    Raises:
        OutOfRange: there is no such experiment.
        NumbersError: a setting that is none, or has a wrong value.
    """
    from heedmap.lab.registry import experiment
    from heedmap.lab.request import Request as LabRequest

    name = values["experiment"]
    settings = experiment(name).Settings.from_json(values["settings"] or {})
    return LabRequest(name, {name: settings}, {"name": source}, limit=values["limit"]).to_json()
