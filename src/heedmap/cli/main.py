"""The `heedmap` command: finds the subcommand, and turns errors into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys

import click

from heedmap._version import __version__
from heedmap.cut_text import cut_text
from heedmap.errors import HeedmapError

COMMANDS = {
    "compute": "Attention by hand: compare, scale, softmax, blend.",
    "cost": "What a long prompt will cost, from the configuration alone.",
    "completion": "Print the completion script for a shell.",
    "explain": "The four steps with a model's real numbers.",
    "lab": "Test what you think you saw: experiments with controls.",
    "learn": "The course: lessons, exercises, and your own code checked.",
    "map": "One head's whole map, in the terminal or as a file.",
    "models": "The models there are; fetch one.",
    "next": "The odds of the next token.",
    "picture": "Where in a picture a model looks.",
    "read": "Where one word looks.",
    "serve": "The local application, in the browser.",
    "spans": "Which part of a prompt the model looks at.",
    "stats": "Exact statistics of all heads, at any length.",
    "view": "A page to look through: all words, layers and heads.",
}
"""Subcommand and its line in `heedmap --help`; the code is loaded only when it is called."""

_LONGEST = 2000
"""Characters of an error at most: it may quote what was given."""

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose subcommands are imported only when they are used, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand's file and return its `command`."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"heedmap.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest commands when the one given does not exist."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(sorted(COMMANDS))}."
            raise click.UsageError(f"{error.message}{hint}", ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands from the table, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="heedmap")
def heedmap() -> None:
    """Read, draw and test the attention of transformer language models.

    Start with `heedmap read "The trophy did not fit in the suitcase because it was too big." --word it`.
    """


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code: 0 done, 1 failed, 2 not parsed, 130 interrupted."""
    code = main(arguments)
    if code == EXIT_INTERRUPTED:
        # Python ends itself by the signal where it fell into an import, whatever code it is given; torch takes seconds
        # to leave. All files are closed and removed by now.
        sys.stdout.flush()
        os._exit(code)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is done: an interrupt now could only say otherwise
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Every error ends as one line on stderr. With HEEDMAP_DEBUG=1 the traceback is shown as well.
    """
    try:
        if sys.stdout is None:
            return _fail("standard output is closed: there is nowhere to write the answer to")
        result = heedmap.main(args=arguments, prog_name="heedmap", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.message = _in_one_line(error.message)  # type: ignore[misc]  # it quotes what was given
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("heedmap: interrupted", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: there is nobody left to tell. Point stdout elsewhere so
        # that the interpreter's own flush at exit does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except HeedmapError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(_describe_os_error(error))
    except MemoryError:
        return _fail("there is not enough memory for that: give a shorter text, a smaller model, or fewer at once")
    except Exception as error:
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        return _fail(f"unexpected error, please report it (HEEDMAP_DEBUG=1 shows where): {message}")


def _fail(message: str) -> int:
    """Print one line on stderr and return the exit code of a failure."""
    if os.environ.get("HEEDMAP_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    click.echo(f"heedmap: {_in_one_line(message)}", err=True)
    return EXIT_FAILED


def _in_one_line(message: str) -> str:
    r"""A message with what no line can hold written out: a file may be called "a\nb", or steer the terminal.

    Example:
        >>> _in_one_line("cannot read a\nb") == r"cannot read a\nb"
        True
    """
    shown = cut_text(message, _LONGEST)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown)


def _describe_os_error(error: OSError) -> str:
    """Say what the system refused, and for which file."""
    reason = error.strerror or type(error).__name__
    return f"{reason}: {error.filename}" if error.filename else reason
