"""`heedmap lab NAME`: one experiment, or all four of the lesson, as a command made from its settings."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, show
from heedmap.cli.options import json_option, loading_options
from heedmap.cli.progress import progress_bar
from heedmap.errors import ClaimError, HeedmapError
from heedmap.lab.claims import Condition, check_claim, parse_claim, refuse_unknown
from heedmap.lab.plan import Shard
from heedmap.lab.registry import EXPERIMENTS, OF_THE_LESSON, experiment
from heedmap.lab.request import BATCH_SIZE, Request
from heedmap.lab.settings import Option, Settings

if TYPE_CHECKING:
    from heedmap.lab.experiment import Figure
    from heedmap.lab.report import Report

CLAIM_NOT_MET = 3

ENGINES = ("here", "ray")

MODEL_OPTIONS = ("revision", "dtype", "device", "allow_random")


class ClaimType(click.ParamType[list[Condition]]):
    """A claim, read before anything runs."""

    name = "CLAIM"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Condition]:
        """Parse it; what cannot be read is a wrong command line."""
        try:
            return parse_claim(value)
        except ClaimError as error:
            self.fail(str(error), param, ctx)


class ShardType(click.ParamType[Shard]):
    """`1/4`: the first of four shards."""

    name = "I/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Parse it."""
        try:
            return Shard.parse(value)
        except HeedmapError as error:
            self.fail(str(error), param, ctx)


claim_option = click.option(
    "--claim",
    "claims",
    type=ClaimType(),
    multiple=True,
    help="causal, 'sink.median > 0.4 and sink': exit code 3 when it is not met.",
)
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Write the report there."
)

RUN_OPTIONS = [
    click.option(
        "--data",
        type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="Sentences or pairs in JSONL, plain text, or a published format; else those built in.",
    ),
    click.option("--format", "form", metavar="NAME", help="The format of the data file; found by its content."),
    output_option,
    click.option("--resume", is_flag=True, help="Go on with the run in the folder, if there is one."),
    click.option("--skip-bad", is_flag=True, help="Leave out bad rows and what cannot be measured, and say so."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N sentences or pairs."),
    click.option("--batch-size", type=click.IntRange(1), default=BATCH_SIZE, show_default=True, help="Texts at once."),
    click.option("--shard", type=ShardType(), help="Only this share; `heedmap lab merge` puts shards together."),
    click.option(
        "--engine", type=click.Choice(["here", "ray"]), default="here", show_default=True, help="Where it runs."
    ),
    claim_option,
    json_option,
    loading_options,
]


def run_command(name: str) -> click.Command:
    """The command of one experiment, or of `all`."""
    kind = Settings if name == "all" else experiment(name).Settings

    def run(**options: Any) -> int:
        return _run(name, options)

    for option in reversed([*(_click_option(setting) for setting in kind.options()), *RUN_OPTIONS]):
        run = option(run)
    return click.command(name, help=_help(name))(run)


def _help(name: str) -> str:
    """The command's help text."""
    if name == "all":
        return f"Run the four experiments of the lesson ({', '.join(OF_THE_LESSON)}) and write one report."
    return f"{EXPERIMENTS[name][1]}\n\nVerdicts: {', '.join(experiment(name).verdicts)}."


def _click_option(setting: Option) -> Any:
    """A setting as an option."""
    name = "--" + setting.name.replace("_", "-")
    if setting.kind is bool:
        return click.option(f"{name}/--no-{name[2:]}", setting.name, default=setting.default, help=setting.help)
    kinds: dict[type, Any] = {int: _whole_number(setting.least), float: click.FloatRange(setting.least), str: str}
    return click.option(
        name,
        setting.name,
        type=click.Choice(list(setting.choices)) if setting.choices else kinds[setting.kind],
        default=setting.default,
        multiple=setting.many,
        show_default=setting.default is not None and setting.default != (),
        help=setting.help,
    )


def _whole_number(least: float | None) -> click.IntRange:
    """A whole number of at least so much."""
    return click.IntRange(None if least is None else int(least))


def _request(name: str, options: dict[str, Any]) -> Request:
    """What the options ask for; takes them out of the dictionary."""
    kind = Settings if name == "all" else experiment(name).Settings
    given = {option.name: options.pop(option.name) for option in kind.options()}
    settings: dict[str, Settings] = {
        one: experiment(one).Settings(**given) for one in (OF_THE_LESSON if name == "all" else (name,))
    }
    model = {"name": options.pop("model_name"), **{one: options.pop(one) for one in MODEL_OPTIONS}}
    return Request(
        name=name,
        settings=settings,
        model=model,
        data=_absolute(options.pop("data")),
        form=options.pop("form"),
        skip_bad=options.pop("skip_bad"),
        limit=options.pop("limit"),
        batch_size=options.pop("batch_size"),
        shard=options.pop("shard") or Shard(),
    )


def _absolute(data: Path | None) -> Path | None:
    """The data file as a rerun from elsewhere finds it; `-` is standard input."""
    return data if data is None or str(data) == "-" else data.absolute()


def _run(name: str, options: dict[str, Any]) -> int:
    """Run, show and check the claims."""
    request = _request(name, options)
    if options["output"] is None and (options["resume"] or not request.shard.is_all):
        raise click.UsageError("--resume and --shard go with -o FOLDER, where the rows are kept")
    if not request.shard.is_all and options["claims"]:
        raise click.UsageError("--claim goes with a whole run: a shard alone has no figures; see `heedmap lab merge`")
    if name == "all" and str(request.data) == "-":
        raise click.UsageError("standard input can be read once: give `all` a file with --data")
    experiments = [experiment(one) for one in request.settings]
    patterns = [f"{one.name}.{figure}" for one in experiments for figure in one.figures]
    for claim in options["claims"]:
        refuse_unknown(claim, patterns, {verdict for one in experiments for verdict in one.verdicts})
    with _folder(options["output"]) as folder:
        report = run_request(request, folder, resume=options["resume"], engine=options["engine"])
        if report is None:
            note(f"shard {request.shard} is done: `heedmap lab merge` puts the shards together")
            return 0
        if options["output"] is not None:
            note(f"wrote {folder / 'report.html'}, report.json, report.md, charts and rows")
    tell(report, as_json=options["as_json"])
    return check_claims(report.figures, report.verdicts, options["claims"])


def run_request(request: Request, folder: Path, *, resume: bool = False, engine: str = "here") -> Report | None:
    """Load the model and run, with a bar on the terminal; an interruption says how to go on."""
    from heedmap.lab.engines import engine_named
    from heedmap.lab.run import RunPlace, perform

    chosen = engine_named(engine)
    model = request.load()
    try:
        with progress_bar() as progress:
            place = RunPlace(request, model, folder, progress, note)
            return perform(place, resume=resume, command=["heedmap", *sys.argv[1:]], engine=chosen)
    except KeyboardInterrupt:
        note(f"the rows measured so far are kept in {folder}: go on with --resume")
        raise


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """The folder of the run; without one it is gone when the run is over."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="heedmap-lab-") as folder:
        yield Path(folder)


def tell(report: Report, *, as_json: bool) -> None:
    """The report on standard output."""
    if as_json:
        print_json(report.to_json())
    else:
        from heedmap.lab.show import report_lines

        show(report_lines(report))


def check_claims(figures: dict[str, Figure], verdicts: dict[str, str], claims: tuple[list[Condition], ...]) -> int:
    """Say of each claim whether it is met; the exit code.

    Raises:
        ClaimError: a claim names a figure that is not there.
    """
    known = {verdict for name in verdicts for verdict in experiment(name).verdicts}
    met = True
    for claim in claims:
        for outcome in check_claim(claim, figures, verdicts, known):
            note(f"claim {outcome.condition}: {'met' if outcome.met else 'NOT met'} ({outcome.found})")
            met &= outcome.met
    return 0 if met else CLAIM_NOT_MET
