"""`heedmap spans`: which part of a prompt the model looks at."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.notes import say_cost, say_what_ran
from heedmap.cli.options import (
    head_option,
    json_option,
    layers_option,
    load_model,
    model_options,
    output_option,
    parse_layers,
)
from heedmap.cli.progress import progress_bar
from heedmap.errors import FileError, TextError
from heedmap.json_text import parse_json
from heedmap.whole_numbers import whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.reading.model import Model
    from heedmap.reading.permute import PermutedSpans
    from heedmap.reading.spans import SpanShares
    from heedmap.text.tokens import Tokens

TABLES = (".csv", ".parquet")
CYCLIC = "cyclic"

_ORDER_DIGITS = 9
"""A number of random orders has no more: each is a pass."""


@click.command("spans")
@click.argument("text", metavar="[TEXT]", required=False)
@click.option(
    "--span",
    "spans",
    multiple=True,
    metavar="NAME=RANGE",
    help="A part: instructions=0:812 in characters, doc1=tok:0:200 in tokens; the end is not counted in. Repeatable.",
)
@click.option(
    "--split", metavar="RULE", help="Parts by rule: paragraphs, sentences, turns, or a marker such as '### Doc'."
)
@click.option("--chat", metavar="FILE", help="Messages as JSON (- for stdin) in place of TEXT: each turn is a part.")
@click.option("--of", metavar="WHO", help="Who looks: last, all, a word, or a range as in --span. By default the last.")
@layers_option
@head_option
@click.option("--by-layer", is_flag=True, help="Also one line a layer.")
@click.option("--per-head", is_flag=True, help="Also the heads that look most at a part; all heads in files and JSON.")
@click.option(
    "--permute",
    is_flag=False,
    flag_value=CYCLIC,
    metavar="[N]",
    help="Run the parts in other orders, and tell what is place: all cyclic shifts, or N random orders.",
)
@click.option("--documents", metavar="NAMES", help="With --permute: the parts that change places, by commas.")
@click.option("--seed", type=int, default=0, show_default=True, help="With --permute N: of the random orders.")
@output_option("Write a picture (.png, .svg, .pdf) or the numbers (.csv, .parquet) instead of a table here.")
@json_option
@model_options
def command(text: str | None, spans: tuple[str, ...], **options: Any) -> None:
    """Show how much of TEXT's attention goes to each named part: which of my documents does the model look at?

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. Parts are named with --span,
    found with --split, or the turns of --chat. The first token, where a sink of attention often sits, and special
    tokens are kept apart; what lies in no part is "rest", so that the shares add up to 1. `times` says how many times
    an ordinary share a part gets, so that long parts do not win by their length.

    \b
    heedmap spans @prompt.txt --split '### Document'
    heedmap spans @prompt.txt --span task=0:812 --split paragraphs --of because
    heedmap spans @prompt.txt --split '### Document' --permute
    heedmap spans --chat messages.json -o turns.png
    """
    named = dict(_named(one) for one in spans)
    if len(named) < len(spans):
        raise click.UsageError("two parts have one name: give each --span a name of its own")
    _refuse_odd_pairs(text, named, options)
    layers = parse_layers(options.pop("layers"))
    if options["permute"] is not None:
        _permuted(text, named, layers, options)
    else:
        _measured(text, named, layers, options)


def _named(given: str) -> tuple[str, str]:
    """Name and range of one --span."""
    name, equals, where = given.rpartition("=")
    if not equals or not name.strip():
        raise click.BadParameter(
            f"'{given}' has no name and range: write NAME=START:END, such as instructions=0:812 or doc1=tok:0:200",
            param_hint="'--span'",
        )
    return name.strip(), where.strip()


def _refuse_odd_pairs(text: str | None, named: dict[str, str], options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before a model is loaded."""
    chat, split, permute = options["chat"], options["split"], options["permute"]
    if (text is None) == (chat is None):
        raise click.UsageError("give either TEXT or --chat FILE")
    if chat is not None and (named or split is not None or permute is not None):
        raise click.UsageError("--chat names the turns itself: leave --span, --split and --permute out")
    if chat is None and not named and split is None:
        raise click.UsageError("no part was named: give --span NAME=START:END, --split RULE or --chat FILE")
    if permute is None and options["documents"] is not None:
        raise click.UsageError("--documents goes with --permute")
    if permute is not None and (options["head"] is not None or options["by_layer"] or options["per_head"]):
        raise click.UsageError("--permute shows means over layers and heads: leave --head, --by-layer, --per-head out")
    if permute not in (None, CYCLIC) and (whole_number(permute) is None or len(permute) > _ORDER_DIGITS):
        raise click.BadParameter(
            f"'{permute}' is no number of orders: give --permute alone for the cyclic shifts, or --permute 20",
            param_hint="'--permute'",
        )


def _measured(text: str | None, named: dict[str, str], layers: list[int] | None, options: dict[str, Any]) -> None:
    """Measure one prompt and show it."""
    from heedmap.reading.spans import parts_of_text, spans_of_text

    chat = None if options["chat"] is None else _messages(options["chat"])
    content = None if text is None else read_text(text)
    model = load_model(options)
    if chat is not None:
        from heedmap.text.chat import apply_template
        from heedmap.text.spans import partition

        turns = apply_template(model.tokenizer, chat, name=model.name)
        tokens = model.tokenize(turns.text, special_tokens=False, truncate=options["truncate"])
        parts = partition(tokens, None, found=turns.spans, rest="template")
        shown = {part.name for part in parts.parts}
        for missing in [*turns.missing, *(span.name for span in turns.spans if span.name not in shown)]:
            note(f"“{missing}” is no part: the chat template leaves out or changes its content, or it holds no token")
    else:
        assert content is not None
        tokens = model.tokenize(content, special_tokens=options["special_tokens"], truncate=options["truncate"])
        parts = parts_of_text(tokens, named or None, options["split"])
    _say(model, tokens)
    with progress_bar() as progress:
        shares = spans_of_text(model, parts, of=options["of"], layers=layers, progress=progress)
    _show(shares, options)


def _messages(path: str) -> Any:
    """The messages of a file, or of standard input."""
    from heedmap.text.chat import parse_messages

    name = "standard input" if path == "-" else path
    try:
        data = parse_json(read_text("-" if path == "-" else f"@{path}"))
    except json.JSONDecodeError as error:
        raise FileError(f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise FileError(f"{name} cannot be read as JSON: {error}") from None
    return parse_messages(data)


def _show(shares: SpanShares, options: dict[str, Any]) -> None:
    """The table, a file or JSON."""
    output, head = options["output"], options["head"]
    per_head = bool(options["per_head"])
    if output is not None:
        _write(output, partial(shares.rows, per_head=per_head), partial(shares.plot, head=head), shares.model)
    if options["as_json"]:
        print_json(shares.to_json(per_head=per_head))
    elif output is None:
        from heedmap.drawing.spans import span_layers, spans_table, strongest_heads

        show(spans_table(shares, head=head))
        if options["by_layer"]:
            show("")
            show(span_layers(shares, head=head))
        if per_head:
            show("\nthe heads that look most, by how many times an ordinary share:")
            for line in strongest_heads(shares):
                show(line)


def _permuted(text: str | None, named: dict[str, str], layers: list[int] | None, options: dict[str, Any]) -> None:
    """Run the parts in several orders and show what is place."""
    from heedmap.reading.permutation import plan_permutation

    assert text is not None
    content = read_text(text)
    if options["truncate"]:
        raise TextError(
            "documents that are cut off in some orders cannot be compared: shorten the text instead of --truncate"
        )
    model = load_model(options)
    chosen = options["documents"]
    plan = plan_permutation(
        model,
        content,
        named or None,
        split=options["split"],
        documents=None if chosen is None else [one.strip() for one in chosen.split(",")],
        of=options["of"] or "last",
        runs=None if options["permute"] == CYCLIC else int(options["permute"]),
        seed=options["seed"],
        special_tokens=options["special_tokens"],
    )
    _say(model, plan.tokens)
    runs = len(plan.orders)
    note(f"{runs} orders of {len(plan.documents)} parts: {runs} runs of {len(plan.tokens)} tokens")
    with progress_bar() as progress:
        permuted = plan.run(layers=layers, progress=progress)
    _show_permuted(permuted, options)


def _show_permuted(permuted: PermutedSpans, options: dict[str, Any]) -> None:
    """The tables, a file or JSON."""
    output = options["output"]
    if output is not None:
        _write(output, permuted.rows, permuted.plot, permuted.own.model)
    if options["as_json"]:
        print_json(permuted.to_json())
    elif output is None:
        from heedmap.drawing.permuted import permuted_table

        show(permuted_table(permuted))


def _write(
    output: Path, rows: Callable[[], list[dict[str, Any]]], draw: Callable[[], Axes], model: dict[str, Any]
) -> None:
    """The numbers or the picture as a file, by its suffix."""
    if output.suffix.lower() in TABLES:
        from heedmap.drawing.span_export import save_rows

        save_rows(output, rows(), {"model": model})
    else:
        from heedmap.drawing.canvas import save_figure

        save_figure(draw().figure, output)
    note(f"wrote {output}")


def _say(model: Model, tokens: Tokens) -> None:
    """Note on stderr what runs, and what a long or large run will cost: the model, special tokens, cuts."""
    from heedmap.reading.spans import cost_of_spans

    say_what_ran(model.describe(), tokens)
    say_cost(cost_of_spans(model, tokens))
