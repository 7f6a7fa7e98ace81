"""`heedmap next`: the odds of the next token."""

from __future__ import annotations

from typing import Any

import click

from heedmap.cli.common import print_json, show
from heedmap.cli.notes import say_middle
from heedmap.cli.options import head_option, json_option, layer_option, model_options, read, text_argument


@click.command("next")
@text_argument
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many tokens.")
@layer_option
@head_option
@json_option
@model_options
def command(text: str, top: int, layer: int | None, head: int | None, as_json: bool, **options: Any) -> None:
    """Show what the model would write after TEXT, and where the last word looked while it chose.

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. Looking is not choosing: the row
    is one layer and head of many, and the odds come from all of them.

    \b
    heedmap next "The capital of France is"
    """
    from heedmap.drawing.bars import row_bars
    from heedmap.drawing.odds import odds_bars
    from heedmap.drawing.readings import row_picture

    reading = read(text, options, layer)
    odds = reading.next(top)
    row = reading.row("@-1", layer, head)
    if as_json:
        print_json({**odds.to_json(), "row": row.to_json()})
        return
    show(odds_bars(odds))
    show("")
    show(row_bars(row_picture(row)))
    if layer is None:
        say_middle(row.layer, len(reading.layers))
