"""`heedmap read`: where one word looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import print_json, show
from heedmap.cli.generating import generation_options, generation_settings, show_generation
from heedmap.cli.notes import say_middle
from heedmap.cli.options import all_of, head_option, json_option, model_options, read, stack_options, text_argument
from heedmap.errors import OutOfRange

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading
    from heedmap.reading.row import Row

ALL_LAYERS = "all"


row_options = all_of(
    click.option(
        "--word",
        metavar="WORD",
        help="The word that looks: it, it#2 for the second, @5 for token 5. The last by default.",
    ),
    click.option(
        "--layer", metavar="N|all", help="From 0, or `all` for one line a layer; the middle layer by default."
    ),
    head_option,
    click.option(
        "--on", metavar="WORDS", help="With --layer all: the words whose share is shown, separated by commas."
    ),
    click.option(
        "--query-rule",
        type=click.Choice(["mean", "last"]),
        default="mean",
        show_default=True,
        help="For a word of several tokens: the mean of their rows, or the row of the last.",
    ),
)


@click.command("read")
@text_argument
@row_options
@stack_options
@generation_options
@json_option
@model_options
def command(text: str, as_json: bool, **options: Any) -> None:
    """Show where one word of TEXT looks, in one layer and head.

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. A weight is a share of the
    row, which adds up to 1; half of it often sits on the first token whatever the text says, so an ordinary share
    is printed beside it. A weight is not a reason.

    \b
    heedmap read "The trophy did not fit in the suitcase because it was too big." --word it --layer 16 --head 3
    heedmap read @letter.txt --word because --layer all --on letter,late
    heedmap read "The cat sat on the" --generate 20 --layer 12
    heedmap read "The cat sat on the" --generate 20 --sample --temperature 0.8 --seed 1

    With --generate, row i is that which chose token i + 1, at the step when nothing stood behind it; --word then names
    one of the new tokens, and shows the whole row that chose it.
    """
    word, layer, head, on, query_rule = (options.pop(one) for one in ("word", "layer", "head", "on", "query_rule"))
    settings = generation_settings(options)
    if settings is not None:
        if layer == ALL_LAYERS or on is not None or query_rule != "mean":
            raise click.UsageError("--generate takes one layer, and neither --on nor --query-rule")
        show_generation(text, settings, word, _number(layer), head, options, as_json=as_json)
        return
    if layer == ALL_LAYERS:
        reading = read(text, options, layers=None)
        rows = [reading.row(word or "@-1", number.number, head, query_rule=query_rule) for number in reading.layers]
        _show_layers(rows, [one for one in (on or "").split(",") if one], as_json=as_json)
        return
    if on is not None:
        raise click.UsageError("--on goes with --layer all")
    number = _number(layer)
    reading = read(text, options, number)
    row = reading.row(word or "@-1", number, head, query_rule=query_rule)
    if as_json:
        print_json(row.to_json())
    else:
        _show_row(row, reading, layer_given=number is not None)


def _number(layer: str | None) -> int | None:
    """The layer as a number."""
    if layer is None:
        return None
    try:
        return int(layer)
    except ValueError:
        raise click.BadParameter(f"'{layer}' is neither a number nor `all`", param_hint="'--layer'") from None


def _show_row(row: Row, reading: Reading, *, layer_given: bool) -> None:
    """The bars, and the sentences that keep them from being misread."""
    from heedmap.drawing.bars import row_bars
    from heedmap.drawing.readings import row_picture

    show(row_bars(row_picture(row)))
    for sentence in _sentences(row):
        show(sentence)
    if not layer_given:
        say_middle(row.layer, len(reading.layers))


def _sentences(row: Row) -> list[str]:
    """What the row says in words."""
    labels = row.key_tokens.labels
    largest = ", ".join(f"{labels[index]} {row.weights[index]:.3f}" for index in row.largest(3))
    sentences = [f"largest: {largest}"] if largest else []
    if row.ordinary is not None:
        others = int(row.allowed.sum()) - len(row.apart)
        names = list(dict.fromkeys(f"“{labels[index]}”" for index in row.apart))
        leave = f"{names[0]} leaves" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} leave"
        sentences.append(f"an ordinary share is {row.ordinary:.3f}: what {leave}, over {others} other tokens")
    if row.head is not None and row.sharing_heads:
        heads = " and ".join(str(head) for head in row.sharing_heads)
        sentences.append(f"head {row.head} reads key-value head {row.key_value_head}, together with {heads}")
    if len(row.query) > 1:
        rule = "the mean of their rows" if row.query_rule == "mean" else "the row of the last"
        pieces = " ".join(row.tokens.labels[index] for index in row.query)
        sentences.append(f"“{row.word}” is {len(row.query)} tokens ({pieces}): this is {rule}")
    return sentences


def _show_layers(rows: list[Row], words: list[str], *, as_json: bool) -> None:
    """One line a layer: the share on chosen words and on the first token."""
    if not rows:
        raise OutOfRange("the model has no layer whose attention can be read: take another model")
    if as_json:
        print_json({"schema": "heedmap/rows/1", "model": rows[0].model, "rows": [row.to_json() for row in rows]})
        return
    from heedmap.drawing.layers import ShareColumn, layer_table

    tokens, head = rows[0].key_tokens, rows[0].head
    columns = [
        ShareColumn(label=word, shares=[row.share(word) for row in rows], tokens=len(tokens.find(word).tokens))
        for word in words
    ]
    first = rows[0].first
    if first is not None:
        shares = [float(row.weights[first]) for row in rows]
        columns.append(ShareColumn(label=tokens.labels[first], shares=shares, first=True))
    heads = "the mean over heads" if head is None else f"head {head}"
    title = f"where “{rows[0].word}” looks, layer by layer: {heads}"
    show(layer_table(title, [row.layer for row in rows], columns))
