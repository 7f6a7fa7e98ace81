"""`heedmap completion`: the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: heedmap completion bash > ~/.local/share/bash-completion/completions/heedmap
    zsh:  heedmap completion zsh > "${fpath[1]}/_heedmap"
    fish: heedmap completion fish > ~/.config/fish/completions/heedmap.fish
    """
    from heedmap.cli.main import heedmap

    completion_class = get_completion_class(shell)
    assert completion_class is not None  # the three shells of SHELLS are click's own
    click.echo(completion_class(heedmap, {}, "heedmap", "_HEEDMAP_COMPLETE").source())
