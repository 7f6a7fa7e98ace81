"""`heedmap read --generate`: where the model looked when it chose each new token."""

from __future__ import annotations

from typing import Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.options import load_model
from heedmap.errors import ReadingError


def show_generation(
    text: str,
    new_tokens: int,
    word: str | None,
    layer: int | None,
    head: int | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Write some tokens and show their rows, or the whole row of one.

    Args:
        text: TEXT of the command line: itself, `@file` or `-`.
        new_tokens: how many.
        word: one of the new tokens; None shows a line for each.
        layer: from 0; None is the middle one.
        head: from 0; None is the mean over heads.
        options: what `model_options` and `stack_options` gave.
        as_json: whether JSON is printed instead of a picture.
    """
    from heedmap.drawing.bars import row_bars
    from heedmap.drawing.generations import generation_lines
    from heedmap.drawing.readings import row_picture

    target, stack = options.pop("target"), options.pop("stack")
    if target is not None:
        raise click.UsageError("with --generate the model writes the target itself: leave --target out")
    if stack == "encoder":
        raise click.UsageError("the encoder chooses no token: with --generate, --stack is decoder or cross")
    content = read_text(text)
    model = load_model(options)
    number = model.layers[len(model.layers) // 2].number if layer is None else layer
    generation = model.generate(
        content,
        new_tokens,
        layers=number,
        special_tokens=options.pop("special_tokens"),
        truncate=options.pop("truncate"),
    )
    if stack is not None and generation.cross is None:
        raise ReadingError(f"{model.name} has one stack of layers: leave --stack out")
    if generation.cross is not None and stack != "decoder":
        generation = generation.cross
    about = generation.model
    note(
        f"{about['name']}, {about['layers']} layers x {about['heads']} heads, {about['dtype']}; {generation.prompt} "
        f"tokens and {len(generation.new)} new ones"
    )
    row = None if word is None else generation.row(word, number, head)
    if as_json:
        print_json(generation.to_json(number, head) if row is None else row.to_json())
    elif row is None:
        show(generation.text)
        show("")
        show(generation_lines(generation, number, head))
    else:
        show(row.says)
        show(row_bars(row_picture(row)))
    if layer is None:
        note(f"no layer was given: {number} is the middle one of {len(generation.layers)}")
