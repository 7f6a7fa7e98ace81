"""`heedmap map`: one head's whole map, in the terminal or as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from heedmap.cli.common import note, show
from heedmap.cli.notes import say_middle
from heedmap.cli.options import (
    head_option,
    layer_option,
    model_options,
    output_option,
    read,
    stack_options,
    text_argument,
)

TABLES = (".npy", ".csv", ".parquet")
PAGES = (".html", ".htm")


@click.command("map")
@text_argument
@layer_option
@head_option
@output_option(
    "Write a picture (.png, .svg, .pdf), a page (.html) or numbers (.npy, .csv, .parquet) instead of a grid here."
)
@click.option("--log", "logarithmic", is_flag=True, help="Colours on a logarithmic scale (pictures only).")
@stack_options
@model_options
def command(
    text: str, layer: int | None, head: int | None, output: Path | None, logarithmic: bool, **options: Any
) -> None:
    """Show the map of one head for TEXT: every token's row, who looks (from) against who is looked at (to).

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. Cells that the mask forbids are
    blank, which is something else than 0: a word of a causal model never sees the words after it.

    \b
    heedmap map "The trophy did not fit in the suitcase because it was too big." --layer 16 --head 3
    heedmap map @letter.txt --layer 16 --head 3 -o map.png
    """
    from heedmap.drawing.readings import map_picture

    reading = read(text, options, layer)
    found = reading.map(layer, head)
    picture = map_picture(found)
    if output is None:
        from heedmap.drawing.grid import grid

        show(grid(picture))
    elif output.suffix.lower() in PAGES:
        reading.page(output, layer=layer, head=head)
    elif output.suffix.lower() in TABLES:
        import numpy as np

        from heedmap.drawing.export import save_map

        save_map(output, np.asarray(found), found.allowed(), picture.labels_query, picture.labels_key)
    else:
        from heedmap.drawing.figures import plot_map, save_figure

        axes = plot_map(picture, scale="log" if logarithmic else "linear")
        save_figure(axes.figure, output)
    if output is not None:
        note(f"wrote {output}")
    if layer is None:
        say_middle(reading.middle, len(reading.layers))
