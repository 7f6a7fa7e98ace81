"""Who may ask: this machine's own page alone. Host, Origin and token are checked, and every answer says what it may do.

A page on another site can make the browser send requests to this machine; it can neither choose their Host and Origin
nor read the token. A name that was made to point here (DNS rebinding) shows in the Host.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heedmap.server.endpoints import MOST_BYTES, error_response

TOKEN_HEADER = "x-heedmap-token"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy: nothing from elsewhere, and no code or style inside the page's text."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

_SAFE = {"GET", "HEAD"}


class Guard:
    """Refuses what does not come from the application's own page, before anything is done.

    Args:
        app: the application behind it.
        hosts: the Host headers that are right, such as "127.0.0.1:8321".
        token: what requests that change something must carry.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refusal(scope["method"], Headers(scope=scope))
        if refused is not None:
            await error_response(*refused)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str, str] | None:
        """(status, kind, message) when a request is refused; None when it may pass."""
        if headers.get("host", "") not in self._hosts:
            return 403, "WrongHost", "this server answers to the address it was started at, and to no other name"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return 403, "WrongOrigin", "pages of other sites may not ask this server"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "WrongOrigin", "pages of other sites may not ask this server"
        length = headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 20 or int(length) > MOST_BYTES:
            return 413, "TooLarge", f"the body is larger than {MOST_BYTES:,} bytes"
        if method in _SAFE:
            return None
        if not secrets.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return 403, "WrongToken", "what changes something needs the token of this server's own page: open it again"
        return None
