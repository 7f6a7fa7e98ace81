"""`heedmap lab`: experiments that test what a picture suggests; this file finds them and what goes with reports."""

from __future__ import annotations

import importlib

import click

from heedmap.cli.common import print_json

REPORT_COMMANDS = {
    "check": ("heedmap.cli.lab_reports", "check", "Compare a report with expected figures."),
    "merge": ("heedmap.cli.lab_reports", "merge", "Put the shards of a run together into one report."),
    "rerun": ("heedmap.cli.lab_reports", "rerun", "Run a report again, and compare figure by figure."),
}
"""Subcommands that are no experiments: module, name in it, and line in the help."""

ALL = "Run the four experiments of the lesson and write one report."


class LabGroup(click.Group):
    """A group with one subcommand an experiment, made when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Experiments, `all`, and what goes with reports."""
        from heedmap.lab.registry import EXPERIMENTS

        return [*EXPERIMENTS, "all", *REPORT_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make or import the subcommand."""
        if cmd_name in REPORT_COMMANDS:
            module, name, _ = REPORT_COMMANDS[cmd_name]
            command = getattr(importlib.import_module(module), name)
            assert isinstance(command, click.Command)
            return command
        if cmd_name not in self.list_commands(ctx):
            return None
        from heedmap.cli.lab_run import run_command

        return run_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the experiments with the question that each answers, without importing them."""
        from heedmap.lab.registry import EXPERIMENTS

        with formatter.section("Experiments"):
            formatter.write_dl([*((name, purpose) for name, (_, purpose) in EXPERIMENTS.items()), ("all", ALL)])
        with formatter.section("Reports"):
            formatter.write_dl([(name, line) for name, (_, _, line) in REPORT_COMMANDS.items()])


@click.group("lab", cls=LabGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="List the experiments as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Test what you think you saw: experiments with baselines, controls and intervals.

    Each runs on any model, says what it found and what it did not, and writes a report that can be run again.

    \b
    heedmap lab sink
    heedmap lab causal --claim causal
    heedmap lab all --model smollm2 -o report/
    heedmap lab rerun report/report.json
    """
    if context.invoked_subcommand is not None:
        return
    if as_json:
        from heedmap.lab.registry import EXPERIMENTS

        listed = [{"name": name, "purpose": purpose} for name, (_, purpose) in EXPERIMENTS.items()]
        print_json({"schema": "heedmap/experiments/1", "experiments": listed})
    else:
        click.echo(context.get_help())
