"""The OpenAPI description, and whatever requests can be made from it: never a failure of the server's own."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig

from heedmap.server.application import all_endpoints
from heedmap.server.endpoints import description
from heedmap.server.services import Services
from tests.server.conftest import Asker

schema = schemathesis.pytest.from_fixture("api")


@pytest.fixture(scope="session")
def api(asker: Asker) -> object:
    served = json.loads(asker.ask("GET", "/api/openapi.json").body)
    return schemathesis.openapi.from_dict(served, config=SchemathesisConfig())


@schema.parametrize()
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_it(case: schemathesis.Case[Any], asker: Asker) -> None:
    headers = {"X-Heedmap-Token": asker.token, "Host": f"127.0.0.1:{asker.port}"}
    case.call_and_validate(
        base_url=f"http://127.0.0.1:{asker.port}", headers=headers, checks=[not_a_server_error], timeout=60
    )


def test_every_endpoint_is_described() -> None:
    endpoints = all_endpoints(Services())
    described = description(endpoints)["paths"]
    assert sum(len(methods) for methods in described.values()) == len(endpoints)
    assert all(one["summary"] for methods in described.values() for one in methods.values())
