"""A small server that speaks as much of the Hub's protocol as fetching a model needs."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "1234567890abcdef1234567890abcdef12345678"


class FakeHub:
    """Models that are given to it, under their names; and what goes wrong when they are asked for.

    Attributes:
        models: for each name its files.
        gated: names whose files need an accepted licence.
        status: an HTTP status that answers everything, if set.
        delay: seconds before each answer.
        broken: files that break off in the middle.
        requests: method and path of each request, in order.
    """

    def __init__(self) -> None:
        self.models: dict[str, dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.status: int | None = None
        self.delay = 0.0
        self.broken: set[str] = set()
        self.requests: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self)

            def do_HEAD(self) -> None:
                hub.answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def add(self, name: str, folder: Path) -> None:
        """Offer the files of a folder as a model."""
        self.models[name] = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}

    def __enter__(self) -> FakeHub:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request as the Hub would."""
        path = unquote(urlsplit(request.path).path)
        self.requests.append(f"{request.command} {path}")
        time.sleep(self.delay)
        if self.status is not None:
            return send(request, self.status, b"")
        name = next((name for name in self.models if f"/{name}/" in f"{path}/"), None)
        if name is None:
            return send(request, 404, b"{}", {"X-Error-Code": "RepoNotFound"})
        if path.startswith("/api/"):
            return self.describe(request, path, name)
        return self.send_file(request, path, name)

    def describe(self, request: BaseHTTPRequestHandler, path: str, name: str) -> None:
        """What the Hub's interface tells of a model: its commit, its files and their sizes."""
        files = self.models[name]
        if "/revision/" in path and path.rsplit("/", 1)[1] not in ("main", COMMIT):
            return send(request, 404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if "/tree/" in path:
            rows = [
                {"type": "file", "path": file, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for file, content in files.items()
            ]
            return send(request, 200, json.dumps(rows).encode())
        siblings = [{"rfilename": file, "size": len(content)} for file, content in files.items()]
        value = {
            "id": name,
            "sha": COMMIT,
            "siblings": siblings,
            "tags": [],
            "private": False,
            "downloads": 0,
            "likes": 0,
        }
        return send(request, 200, json.dumps(value).encode())

    def send_file(self, request: BaseHTTPRequestHandler, path: str, name: str) -> None:
        """A file's description (HEAD) or content (GET); large files are known by their SHA-256, as those in LFS are."""
        if name in self.gated:
            return send(request, 403, b"{}", {"X-Error-Code": "GatedRepo"})
        file = path.rsplit("/", 1)[1]
        content = self.models[name].get(file)
        if content is None:
            return send(request, 404, b"{}", {"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(content).hexdigest()}"'}
        if file.endswith(".safetensors"):
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(content).hexdigest()}"'
            headers["X-Linked-Size"] = str(len(content))
        if file in self.broken and request.command == "GET":
            return send(request, 500, b"")
        return send(request, 200, content, headers)


def send(request: BaseHTTPRequestHandler, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
    """Send one answer; a HEAD request gets its size alone."""
    request.send_response(status)
    for key, value in (headers or {}).items():
        request.send_header(key, value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(content)
