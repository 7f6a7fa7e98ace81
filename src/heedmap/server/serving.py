"""Serving the application: find a port, say the address, and run until it is interrupted."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from heedmap.errors import ServerError
from heedmap.server.application import create_application
from heedmap.server.instance import Instance, announce, find_running, withdraw
from heedmap.server.services import Services

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
"""What stands for all addresses of this machine."""

PORT = 8321
"""The port that is tried first; where it is taken, the system chooses one."""


def running_address(state: Path) -> str | None:
    """The address of the application that this user runs already; None when there is none."""
    instance = find_running(state)
    return None if instance is None else instance.address


def serve(services: Services, *, host: str, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        services: what the application works with.
        host: the address to listen at.
        port: the port; None takes `PORT`, or another one where that is taken.
        ready: told the address once it answers.

    Raises:
        ServerError: the address cannot be listened at.
    """
    listener = listen(host, port)
    number = listener.getsockname()[1]
    hosts = {f"{bracketed(name)}:{number}" for name in names_of(host)}
    instance = Instance(f"http://{bracketed(reached_as(host))}:{number}/", os.getpid(), services.identity)
    application = create_application(services, hosts)
    configuration = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3
    )
    announce(instance, services.state)
    try:
        ready(instance.address)
        _Server(configuration, services).run(sockets=[listener])
    finally:
        withdraw(instance, services.state)
        listener.close()


class _Server(uvicorn.Server):
    """Ends what runs first, so that whoever waits is answered, and nothing has to be cut off."""

    def __init__(self, configuration: uvicorn.Config, services: Services) -> None:
        super().__init__(configuration)
        self._services = services

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal in; a second one cuts off what is still open, and that is no failure to tell of."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the worker and the runs, then the connections."""
        await self._services.close()
        await super().shutdown(sockets)


def names_of(host: str) -> set[str]:
    """The names under which an address may be asked for; any other was made to point here from elsewhere.

    Every address of this machine has its own name, so one that stands for all of them has all of these.
    """
    if host in LOOPBACK:
        return {host, "localhost", "127.0.0.1"}
    if host not in EVERYWHERE:
        return {host}
    own = socket.gethostname()
    return {own, f"{own}.local", *addresses(), *LOOPBACK}


def reached_as(host: str) -> str:
    """The name that others ask for: an address of this machine where the host stands for all of them."""
    if host not in EVERYWHERE:
        return host
    others = sorted(one for one in addresses() if not one.startswith("127.") and one != "::1")
    return next((one for one in others if ":" not in one), "localhost")


def addresses() -> set[str]:
    """The addresses of this machine, as far as its own name and its way out tell them."""
    found = set[str]()
    with contextlib.suppress(OSError):
        found |= {str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)}
    for family, outside in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        # Nothing is sent: a datagram socket that is connected only chooses the address it would send from.
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((outside, 9))
            found.add(str(probe.getsockname()[0]))
    return {one for one in found if "%" not in one}


def bracketed(name: str) -> str:
    """A name or address as it stands in an address of the web.

    Example:
        >>> bracketed("::1"), bracketed("localhost")
        ('[::1]', 'localhost')
    """
    return f"[{name}]" if ":" in name else name


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens.

    Raises:
        ServerError: the port is taken or may not be used, or the host is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [PORT, 0] if port is None else [port]
    for one in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, one))
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
            continue
        listener.listen(128)
        return listener
    raise ServerError(f"cannot listen at {host} port {wanted[-1]} ({reason}): choose another with --port, or --host")
