"""`heedmap compute`: attention by hand, from a worked example or from numbers in a file."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from heedmap.arithmetic import EXAMPLES, Inputs, LayerInputs, Trace, example, read_inputs
from heedmap.arithmetic.checks import parse
from heedmap.arithmetic.names import label
from heedmap.cli.common import print_json, read_text
from heedmap.cli.options import all_of
from heedmap.errors import EmptyText, NumbersError

DIGITS = 2
"""Digits after the point when the numbers come from a file."""

EXAMPLES_SCHEMA = "heedmap/examples/1"

Change = tuple[str, list[float]]
"""A token and its new vector."""


class TokenVector(click.ParamType[str]):
    """`TOKEN=1.5,1.5`: text of this form is kept as it is; what stands in it is checked later, with its row named."""

    name = "TOKEN=NUMBERS"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse text without an equals sign: the command line cannot be parsed."""
        if "=" not in value:
            self.fail(f"expected TOKEN=NUMBERS such as the=1.5,1.5, found {value!r}", param, ctx)
        return value


def complete_example(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The examples whose name begins so, for the shell."""
    return [CompletionItem(name, help=item.shows) for name, item in EXAMPLES.items() if name.startswith(incomplete)]


arithmetic_options = all_of(
    click.option("--no-scale", is_flag=True, help="Leave out the division by √d."),
    click.option("--no-softmax", is_flag=True, help="Blend by the raw scores, to see what breaks."),
    click.option("--multiply", type=float, default=1.0, metavar="FACTOR", help="Multiply every score: 8 is sharper."),
    click.option("--causal", is_flag=True, help="No word may look at a later one."),
)
change_options = all_of(
    click.option("--query", metavar="NUMBERS", help="Another query for the word that asks, or TOKEN=NUMBERS."),
    click.option("--set-key", type=TokenVector(), multiple=True, help="Another key for a word; may be given again."),
    click.option(
        "--set-value", type=TokenVector(), multiple=True, help="Another value for a word; may be given again."
    ),
    click.option(
        "--set", "set_all", type=TokenVector(), multiple=True, help="Query, key and value of a word together."
    ),
)


@click.command("compute")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--example", "example_name", metavar="NAME", shell_complete=complete_example, help="A worked example.")
@click.option("--list", "list_examples", is_flag=True, help="List the worked examples.")
@arithmetic_options
@change_options
@click.option("--digits", type=click.IntRange(0, 15), help="Digits after the point in the table.")
@click.option("--json", "as_json", is_flag=True, help="Every step in full, as JSON (heedmap/trace/1).")
def command(
    file: str | None, example_name: str | None, list_examples: bool, digits: int | None, as_json: bool, **options: Any
) -> None:
    """Attention by hand: compare, scale, softmax, blend, with the arithmetic shown.

    The numbers are those of a worked example (--example, --list) or of FILE; - reads them from standard input.

    \b
    CSV has a line a token. Leave the q cells empty where a word does not ask:
      token,q1,q2,k1,k2,v1,v2
      The,,,0.1,0.0,0.1,0.1
      it,1.0,0.6,0.6,0.5,0.2,0.3
    With the columns token,x1,x2 one vector is query, key and value at once.

    \b
    JSON has a row a token; fewer queries belong to the last tokens, or to
    "query_tokens":
      {"tokens": ["The", "it"], "query": [[1.0, 0.6]],
       "key": [[0.1, 0.0], [0.6, 0.5]], "value": [[0.1, 0.1], [0.2, 0.3]]}
    "x" alone is query, key and value at once. "x" with "query_table",
    "key_table", "value_table" (and "output_table", "query_bias", "key_bias",
    "value_bias", "output_bias", "heads", "key_value_heads") is a whole layer.
    "mask" has rows of true (may look) and false.

    \b
    Examples:
      heedmap compute --example cat
      heedmap compute --example cat --multiply 8
      heedmap compute --example bank-river --set-key the=1.5,1.5
      heedmap compute numbers.csv --causal --json
    """
    if list_examples:
        print_examples(as_json)
        return
    if (file is None) == (example_name is None):
        raise click.UsageError(f"give either --example NAME ({', '.join(EXAMPLES)}) or FILE (- for standard input)")
    start, usual = starting_point(file, example_name)
    settings = {name: options.pop(name) for name in ("no_scale", "no_softmax", "multiply", "causal")}
    trace = worked(changed(start, **options), **settings)
    if as_json:
        print_json(trace.to_json())
    else:
        click.echo(trace.table(usual if digits is None else digits))


def starting_point(file: str | None, example_name: str | None) -> tuple[Inputs | LayerInputs, int]:
    """The numbers of an example or a file, and the digits that they are usually shown with."""
    if example_name is not None:
        chosen = example(example_name)
        return chosen.inputs, chosen.digits
    assert file is not None
    return read_numbers(file), DIGITS


def worked(start: Inputs | LayerInputs, *, no_scale: bool, no_softmax: bool, multiply: float, causal: bool) -> Trace:
    """The trace, with what `arithmetic_options` ask for."""
    return start.attend(scale=1.0 if no_scale else None, causal=causal, multiply=multiply, softmax=not no_softmax)


def print_examples(as_json: bool) -> None:
    """The worked examples: name, sentence, what each shows; as JSON with their numbers."""
    if as_json:
        print_json({"schema": EXAMPLES_SCHEMA, "examples": [item.to_json() for item in EXAMPLES.values()]})
        return
    name_width = max(len(item.name) for item in EXAMPLES.values())
    sentence_width = max(len(item.sentence) for item in EXAMPLES.values())
    for item in EXAMPLES.values():
        click.echo(f"{item.name:{name_width}}  {item.sentence:{sentence_width}}  {item.shows}")


def read_numbers(file: str) -> Inputs | LayerInputs:
    """The numbers of a file, or of standard input for `-`.

    Raises:
        FileError: the file cannot be read.
        NumbersError: it does not hold what is expected.
    """
    try:
        text = read_text("-" if file == "-" else f"@{file}")
    except EmptyText:
        text = ""
    return read_inputs(text, "standard input" if file == "-" else file)


def changed(
    start: Inputs | LayerInputs,
    *,
    query: str | None,
    set_key: tuple[str, ...],
    set_value: tuple[str, ...],
    set_all: tuple[str, ...],
) -> Inputs | LayerInputs:
    """The inputs with the vectors that the command line changes; whole tokens first, then single roles.

    Raises:
        NumbersError: no such token, text where a number belongs, or the wrong count of numbers.
    """
    for option in set_all:
        start = start.with_vector(*token_vector("--set", option))
    if query is None and not set_key and not set_value:
        return start
    if isinstance(start, LayerInputs):
        raise NumbersError("these numbers make query, key and value from x by tables: expected --set TOKEN=NUMBERS")
    for option in set_key:
        start = start.with_key(*token_vector("--set-key", option))
    for option in set_value:
        start = start.with_value(*token_vector("--set-value", option))
    if query is not None:
        token, vector = token_vector("--query", query) if "=" in query else (None, numbers("--query", query))
        start = start.with_query(token, vector)
    return start


def token_vector(option: str, text: str) -> Change:
    """`the=1.5,1.5` as a token and its numbers.

    Example:
        >>> token_vector("--set-key", "the=1.5,1.5")
        ('the', [1.5, 1.5])
    """
    token, _, vector = text.rpartition("=")
    return token.strip(), numbers(f"{option} {label(token.strip())}", vector)


def numbers(place: str, text: str) -> list[float]:
    """Numbers separated by commas.

    Raises:
        NumbersError: one of them is not a number.

    Example:
        >>> numbers("--query", "0, 1")
        [0.0, 1.0]
    """
    return [parse(f"{place}, number {index}", part) for index, part in enumerate(text.split(","))]
