"""`heedmap serve`: the local application, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from heedmap.cli.common import note
from heedmap.errors import FileError, ServerError


@click.command("serve")
@click.option("--port", type=click.IntRange(1, 65535), help="The port; 8321 by default, or another where it is taken.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--allow-network", is_flag=True, help="Let other machines reach it: needed for any other --host.")
@click.option(
    "--model",
    "models",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FOLDER",
    help="Also serve this model folder or .gguf file; repeatable.",
)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
def command(port: int | None, host: str, allow_network: bool, models: tuple[Path, ...], no_open: bool) -> None:
    """Open the local application: work attention by hand, read texts, run the lab, take the course.

    It serves this machine alone, and of the models those of the catalogue and the caches that are here. A second start
    finds the first. Ctrl-C ends it; what the lab has measured is kept.

    \b
    heedmap serve
    heedmap serve --model ./my-model --no-open
    """
    from heedmap.server.services import Services
    from heedmap.server.serving import LOOPBACK, running_address, serve

    _check_host(host, allow_network, LOOPBACK)
    _check_models(models)
    services = Services(folders=models)
    running = running_address(services.state)
    if running is not None:
        note("the application runs already; its own settings stay as they are")
        _ready(running, not no_open)
        return
    serve(services, host=host, port=port, ready=lambda address: _ready(address, not no_open))


def _check_host(host: str, allow_network: bool, loopback: tuple[str, ...]) -> None:
    """Refuse to be reached from outside by accident.

    Raises:
        ServerError: the host is not this machine alone, and that was not allowed.
    """
    if host in loopback:
        return
    if not allow_network:
        raise ServerError(
            f"{host} can be reached by other machines: add --allow-network if that is meant, or leave out --host"
        )
    note(
        f"WARNING: everyone who can reach {host} can open this page, read texts with your models, start runs on this "
        "machine and read their reports. There is no password and no encryption. Use it in a network you trust, or "
        "better leave --host out and tunnel: ssh -L 8321:127.0.0.1:8321 THIS-MACHINE"
    )


def _check_models(models: tuple[Path, ...]) -> None:
    """Refuse what is no model before anything starts.

    Raises:
        FileError: there is no such folder or file.
    """
    for one in models:
        if not one.exists():
            raise FileError(f"there is no {one}: give a model's folder or a .gguf file")


def _ready(address: str, open_browser: bool) -> None:
    """Say the address, on stdout since it is the result, and open it."""
    click.echo(address)
    if open_browser:
        _open(address)


def _open(address: str) -> Any:
    import webbrowser

    return webbrowser.open(address)
