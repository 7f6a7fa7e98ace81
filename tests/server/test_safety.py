"""Who may ask: another site's page, another name for this machine and a request without the token are refused."""

from __future__ import annotations

import re

import pytest

from tests.server.conftest import Asker

READ = {"model": "smollm2", "text": "The cat sat."}


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Host": "evil.example"}, "WrongHost"),
        ({"Host": "evil.example:8321"}, "WrongHost"),
        ({"Host": "127.0.0.1"}, "WrongHost"),
        ({"Origin": "https://evil.example"}, "WrongOrigin"),
        ({"Origin": "null"}, "WrongOrigin"),
        ({"Sec-Fetch-Site": "cross-site"}, "WrongOrigin"),
        ({"Sec-Fetch-Site": "same-site"}, "WrongOrigin"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/api/models"), ("POST", "/api/readings")])
def test_others_are_refused(asker: Asker, headers: dict[str, str], kind: str, method: str, path: str) -> None:
    answer = asker.ask(method, path, READ if method == "POST" else None, headers)
    assert (answer.status, answer.json["error"]["kind"]) == (403, kind)


@pytest.mark.parametrize("token", ["", "wrong", "\u00e9"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/readings"), ("DELETE", "/api/readings/x")])
def test_what_changes_something_needs_the_token(asker: Asker, token: str, method: str, path: str) -> None:
    answer = asker.ask(method, path, READ, {"X-Heedmap-Token": token})
    assert (answer.status, answer.json["error"]["kind"]) == (403, "WrongToken")


@pytest.mark.parametrize("length", ["99999999999", "0" * 20 + "9" * 9, "-1", "many"])
def test_a_body_that_says_it_is_huge_is_refused_before_it_is_read(asker: Asker, length: str) -> None:
    answer = asker.ask("POST", "/api/readings", b"{}", {"Content-Length": length})
    assert answer.status in (400, 413)  # what is no number at all never reaches the application


def test_its_own_page_may_ask(asker: Asker) -> None:
    for name in ("127.0.0.1", "localhost"):
        headers = {"Host": f"{name}:{asker.port}", "Origin": f"http://{name}:{asker.port}"}
        assert asker.ask("POST", "/api/readings", READ, headers | {"Sec-Fetch-Site": "same-origin"}).status == 200


def test_the_page_holds_no_code_and_may_load_nothing_from_elsewhere(asker: Asker) -> None:
    answer = asker.ask("GET", "/")
    page = answer.body.decode()
    assert re.findall(r"<script[^>]*>", page) == ['<script type="module" src="/files/application.js">']
    assert "<style" not in page
    assert " style=" not in page
    assert not re.search(r"\son\w+=", page)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("path", ["/", "/api/models", "/api/readings/x/row", "/nowhere", "/files/nothing"])
def test_every_answer_carries_the_policy(asker: Asker, path: str) -> None:
    headers = asker.ask("GET", path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path", ["/files/..%2f..%2ferrors.py", "/files/../errors.py", "/files/page.html", "/files/%00", "/files/"]
)
def test_no_other_file_is_served(asker: Asker, path: str) -> None:
    answer = asker.ask("GET", path)
    assert answer.status == 404
    assert answer.json["error"]["kind"] == "NotFound"


@pytest.mark.parametrize("path", ["/api/nothing", "/api/readings/x/y", "/../../etc/passwd"])
def test_unknown_addresses_say_where_to_look(asker: Asker, path: str) -> None:
    answer = asker.ask("GET", path)
    assert answer.status == 404
    assert "api/openapi.json" in answer.json["error"]["message"]


def test_another_method_is_named(asker: Asker) -> None:
    assert asker.ask("PUT", "/api/models").json["error"]["kind"] == "WrongMethod"
