"""`heedmap stats`: exact statistics of all heads, at any length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.notes import say_broken, say_cost, say_what_ran
from heedmap.cli.options import (
    all_of,
    json_option,
    layers_option,
    load_model,
    model_options,
    output_option,
    parse_layers,
    text_argument,
)
from heedmap.cli.progress import progress_bar
from heedmap.cli.texts import holds_json_lines, read_texts
from heedmap.errors import OutOfRange

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.reading.progress import Progress
    from heedmap.reading.statistics import Statistics, StatisticsOfTexts, Table

MOST_HEADS = 20
"""Heads that `--sort` shows; `--heads` shows all."""


table_options = all_of(
    click.option("--heads", is_flag=True, help="One line a head instead of one a layer."),
    click.option("--sort", metavar="COLUMN", help=f"The {MOST_HEADS} heads with most of a column: first, entropy ..."),
    click.option("--ascending", is_flag=True, help="Sort the smallest first."),
    click.option("--median", is_flag=True, help="Show medians over the positions instead of means."),
)


@click.command("stats")
@text_argument
@layers_option
@click.option("--largest", is_flag=True, help="Also the largest weight of each row: about twice the time.")
@click.option("--received", is_flag=True, help="Also what each token receives from all that look.")
@click.option("--positions", is_flag=True, help="Over the position in the text; in files the values at each position.")
@click.option("--lines", is_flag=True, help="Each line is a text of its own: statistics over all of them.")
@table_options
@output_option("Write the table as .csv or .parquet instead of showing it.")
@json_option
@model_options
def command(text: str, layers: str | None, lines: bool, output: Path | None, **options: Any) -> None:
    """Show what every head of every layer does with TEXT, exactly, without making any map.

    For each head: the share of its look on the first token, on the token itself, on the one before and on special
    tokens; its entropy in nats, divided by the largest there could be, and as a number of tokens; how far back it
    looks. Each is a mean over the positions after the first (--median: the median; files and JSON hold both). Shares
    fall with position, so compare texts of like length.

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. @FILE.jsonl, with a "text" in
    each line, or --lines with any TEXT, is a data set: each text counts once.

    \b
    heedmap stats @letter.txt
    heedmap stats @letter.txt --sort previous
    heedmap stats @letter.txt --layers 10-19 --positions
    heedmap stats @prompts.jsonl -o heads.parquet
    """
    shown = {name: options.pop(name) for name in ("heads", "sort", "ascending", "median", "as_json")}
    asked = {name: options.pop(name) for name in ("largest", "received", "positions")}
    several = lines or holds_json_lines(text)
    _refuse_odd_pairs(shown, asked, several=several, to_file=output is not None)
    write = None if output is None else _writer(output)
    shown["sort"] = _sorted_by(shown["sort"], shown["median"], asked["largest"])
    texts = read_texts(text) if several else [read_text(text)]
    wanted = parse_layers(layers)
    model = load_model(options)
    with progress_bar() as progress:
        tables = []
        for done, one in enumerate(texts):
            if several and progress is not None:
                progress(done, len(texts), "texts")
            tables.append(_measure(model, one, wanted, asked, options, None if several else progress))
    _say(tables, several)
    table: Statistics | StatisticsOfTexts
    if several:
        from heedmap.reading.statistics import combine

        table = combine(tables)
    else:
        table = tables[0]
    if output is not None and write is not None:
        write(output, table)
        note(f"wrote {output}")
    elif shown["as_json"]:
        print_json(table.to_json())
    else:
        _show(table, shown, asked)


def _refuse_odd_pairs(shown: dict[str, Any], asked: dict[str, bool], *, several: bool, to_file: bool) -> None:
    """Refuse options that do not go together, before a model is loaded."""
    if shown["ascending"] and shown["sort"] is None:
        raise click.UsageError("--ascending goes with --sort")
    if to_file and shown["as_json"]:
        raise click.UsageError("--json goes to standard output and -o to a file: give one of them")
    if asked["received"] and (to_file or (several and not shown["as_json"])):
        raise click.UsageError("--received is shown for one text, or goes to --json: a table has no place for it")
    if several and asked["positions"] and not to_file and not shown["as_json"]:
        raise click.UsageError("--positions of several texts goes to a file (-o) or --json: they differ in length")


def _writer(output: Path) -> Callable[[Path, Table], None]:
    """What writes the file, known before anything runs.

    Raises:
        FileError: nothing writes files of this suffix.
    """
    from heedmap.reading.statistics_export import writer_for

    return writer_for(output)


def _measure(
    model: Model,
    text: str,
    layers: list[int] | None,
    asked: dict[str, bool],
    options: dict[str, Any],
    progress: Progress | None,
) -> Statistics:
    """The statistics of one text; what a long run will cost is said before it starts."""
    from heedmap.reading.cost import estimate
    from heedmap.reading.statistics import StatisticsMeter, stats_of_tokens

    tokens = model.tokenize(text, special_tokens=options["special_tokens"], truncate=options["truncate"])
    calls = 2 + asked["received"] + 2 * asked["largest"]
    cost = estimate(model.module, model.layers, len(tokens), attention_calls=calls)
    say_cost(cost)
    meter = StatisticsMeter(tokens, largest=asked["largest"], received=asked["received"], positions=asked["positions"])
    return stats_of_tokens(model, meter, layers=layers, progress=progress)


def _show(table: Table, shown: dict[str, Any], asked: dict[str, bool]) -> None:
    """The table in the terminal."""
    from heedmap.drawing.received import received_lines
    from heedmap.drawing.statistics import head_lines, overview, position_lines
    from heedmap.reading.statistics import Statistics

    if shown["sort"] is not None or shown["heads"]:
        rows = list(range(len(table)))
        if shown["sort"] is not None:
            rows = table.order(shown["sort"], ascending=shown["ascending"])
        show(head_lines(table, rows if shown["heads"] else rows[:MOST_HEADS], medians=shown["median"]))
    elif asked["positions"] and isinstance(table, Statistics):
        show(position_lines(table))
    else:
        show(overview(table, medians=shown["median"]))
        note(f"`--heads` lists all {len(table)} heads, `--sort COLUMN` those with most")
    if asked["received"] and isinstance(table, Statistics):
        show("")
        show(received_lines(table.received()))


def _sorted_by(name: str | None, medians: bool, largest: bool) -> str | None:
    """The column to sort by.

    Raises:
        OutOfRange: there is no such column, or it was not asked for.
    """
    from heedmap.reading.statistics import COLUMNS, COUNTS, MEDIAN, chosen_columns

    if name is None or name in ("layer", "head", *COUNTS):
        return name
    chosen_columns([name])
    if name == "largest" and not largest:
        raise OutOfRange("the largest weights are only computed with --largest: add it")
    return name + MEDIAN if medians and name in COLUMNS else name


def _say(tables: list[Statistics], several: bool) -> None:
    """Note on stderr what was read: the model, special tokens, cuts, numbers that are none."""
    say_what_ran(tables[0].model, *(table.tokens for table in tables))
    for number, table in enumerate(tables):
        broken = table["not_a_number"]
        layers = sorted(set(table["layer"][broken > 0].tolist()))
        counts = {layer: int(broken[table["layer"] == layer].sum()) for layer in layers}
        say_broken(counts, f"text {number}, " if several else "")
