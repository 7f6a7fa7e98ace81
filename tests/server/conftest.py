"""A real application in a process of its own, and somebody who asks it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks as the application's own page does, unless told otherwise."""

    port: int
    process: subprocess.Popen[str] = field(repr=False)
    state: Path
    token: str = ""

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        given = {"X-Heedmap-Token": self.token} | (headers or {})
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, {name: value for name, value in given.items() if value})
        answer = connection.getresponse()
        found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def read(self, text: str, **more: Any) -> dict[str, Any]:
        answer = self.ask("POST", "/api/readings", {"model": "smollm2", "text": text, **more})
        assert answer.status == 200, answer.body
        return dict(answer.lines[-1]["answer"])


def start(state: Path, *more: str) -> Asker:
    """Start an application and wait for its address."""
    command = [sys.executable, "-m", "heedmap", "serve", "--no-open", *more]
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=take_interrupts,
    )
    assert process.stdout is not None
    address = process.stdout.readline()
    match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", address)
    assert match, (address, process.poll())
    asker = Asker(int(match[1]), process, state)
    page = asker.ask("GET", "/").body.decode()
    token = re.search(r'name="heedmap-token" content="([^"]+)"', page)
    assert token
    return Asker(asker.port, process, state, token[1])


def take_interrupts() -> None:
    """A job in the background of a shell ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end(asker: Asker) -> tuple[int, str]:
    """Interrupt an application as Ctrl-C does; its exit code and what it wrote on stderr."""
    asker.process.send_signal(signal.SIGINT)
    _, errors = asker.process.communicate(timeout=30)
    return asker.process.returncode, errors


@pytest.fixture(scope="session")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """One application for all tests of this folder; after all that they asked, an interrupt ends it cleanly."""
    running = start(tmp_path_factory.mktemp("state"))
    yield running
    code, errors = end(running)
    assert code == 130
    assert "Traceback" not in errors
    assert not (running.state / "heedmap" / "application.json").exists()
