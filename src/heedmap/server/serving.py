"""Serving the application: find a port, say the address, and run until it is interrupted."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from heedmap.errors import ServerError
from heedmap.server.application import create_application
from heedmap.server.instance import Instance, announce, find_running, withdraw
from heedmap.server.services import Services

LOOPBACK = ("127.0.0.1", "localhost", "::1")
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
    import uvicorn

    listener = listen(host, port)
    number = listener.getsockname()[1]
    names = {host, "localhost", "127.0.0.1"} if host in LOOPBACK else {host}
    hosts = {f"[{name}]:{number}" if ":" in name else f"{name}:{number}" for name in names}
    shown = f"[{host}]" if ":" in host else host
    instance = Instance(f"http://{shown}:{number}/", os.getpid(), services.identity)
    application = create_application(services, hosts)
    configuration = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3
    )
    announce(instance, services.state)
    try:
        ready(instance.address)
        uvicorn.Server(configuration).run(sockets=[listener])
    finally:
        withdraw(instance, services.state)
        listener.close()


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
