"""The OpenAPI description, and whatever requests can be made from it: never a failure of the server's own."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from heedmap.server.application import all_endpoints
from heedmap.server.endpoints import description
from heedmap.server.services import Services
from tests.server.conftest import Asker

API = schemathesis.openapi.from_dict(description(all_endpoints(Services())), config=SchemathesisConfig())
OPERATIONS = [result.ok() for result in API.get_all_operations() if isinstance(result, Ok)]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_no_request_breaks_it(operation: Any, asker: Asker) -> None:
    @settings(max_examples=15, suppress_health_check=list(HealthCheck), database=None)
    @given(operation.as_strategy())
    def ask(case: Any) -> None:
        answer = case.call(
            base_url=f"http://127.0.0.1:{asker.port}", headers={"X-Heedmap-Token": asker.token}, timeout=60
        )
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    ask()


def test_every_endpoint_is_described() -> None:
    endpoints = all_endpoints(Services())
    described = description(endpoints)["paths"]
    assert sum(len(methods) for methods in described.values()) == len(endpoints) == len(OPERATIONS)
    assert all(one["summary"] for methods in described.values() for one in methods.values())
