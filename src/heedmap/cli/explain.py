"""`heedmap explain`: the four steps with a model's real numbers."""

from __future__ import annotations

from typing import Any

import click

from heedmap.cli.common import print_json, show
from heedmap.cli.notes import say_middle
from heedmap.cli.options import json_option, layer_option, model_options, read, text_argument
from heedmap.cli.progress import progress_bar


@click.command("explain")
@text_argument
@click.option("--word", metavar="WORD", help="The word that looks (the last by default); of several tokens, the last.")
@layer_option
@click.option("--head", type=int, default=0, show_default=True, metavar="N", help="From 0.")
@click.option("--from-vector", is_flag=True, help="Also show how query and key came from the words' vectors.")
@json_option
@model_options
def command(
    text: str,
    word: str | None,
    layer: int | None,
    head: int,
    from_vector: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Work one head's attention for one word of TEXT again, step by step, with the model's own numbers.

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. For each token that the word
    may see: query · key, the division by the square root of the width, e to that power, the weight; then the blend
    of the values. The last line compares with what the model itself computed.

    \b
    heedmap explain "The trophy did not fit in the suitcase because it was too big." --word it --layer 5 --head 4
    """
    reading = read(text, options, layer, values=True)
    with progress_bar() as progress:
        explanation = reading.explain(word or "@-1", layer, head, from_vector=from_vector, progress=progress)
    if as_json:
        print_json(explanation.to_json())
    else:
        from heedmap.drawing.explanations import explanation_table

        show(explanation_table(explanation))
    if layer is None:
        say_middle(explanation.layer, len(reading.layers))
