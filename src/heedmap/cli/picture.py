"""`heedmap picture`: where in a picture a model looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.map import PAGES
from heedmap.cli.notes import say_broken, say_middle
from heedmap.cli.options import (
    all_of,
    head_option,
    json_option,
    layer_option,
    load_model,
    output_option,
    weight_options,
)

if TYPE_CHECKING:
    from heedmap.reading.patch_row import PatchRow
    from heedmap.reading.picture_reading import PictureReading

picture_options = all_of(
    click.option(
        "--model",
        "model_name",
        required=True,
        metavar="MODEL",
        help="A Hub id or a folder of a model that takes pictures.",
    ),
    click.option(
        "--text", metavar="TEXT", help="For a model of both: the text, with the model's mark where the picture stands."
    ),
    click.option(
        "--word",
        metavar="WORD",
        help="What looks: a word of the text, class, or a patch: r2c3. By default the last word, or class.",
    ),
    click.option(
        "--stack",
        type=click.Choice(["vision", "text"]),
        help="Whose look: the patches' at each other, or the text's; the text's by default where it sees the picture.",
    ),
    layer_option,
    head_option,
)


@click.command("picture")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@picture_options
@output_option("Draw it on the picture (.png, .svg, .pdf), or write a page to look through (.html).")
@json_option
@weight_options
def command(file: Path, output: Path | None, as_json: bool, **options: Any) -> None:
    """Show where in the picture FILE a model looks, patch by patch.

    Patches have names by row and column, counted from 0: r0c0 is at the top left. What is drawn is the picture as the
    model sees it, which its processor has resized, and may have cut.

    \b
    heedmap picture cat.jpg --model google/vit-base-patch16-224 --word class --layer 11
    heedmap picture cat.jpg --model llava-hf/llava-1.5-7b-hf --text "USER: <image> What is it? ASSISTANT:" -o cat.png
    """
    text, word, stack, layer, head = (options.pop(name) for name in ("text", "word", "stack", "layer", "head"))
    model = load_model(options)
    reading = model.read_picture(file, None if text is None else read_text(text), layers=layer)
    kind = stack or ("text" if "text" in reading.places else "vision")
    if word is None:
        word = "@-1" if kind == "text" else reading.stack(kind).tokens.labels[0]
    found = reading.patches(word, layer, head, stack=kind)
    about = found.row.model
    note(f"{reading}; {about['layers']} layers x {about['heads']} heads, {about['dtype']}")
    say_broken(reading.stack(kind).not_a_number())
    if output is not None:
        _write(output, reading, found, layer=layer, head=head)
    if as_json:
        print_json(found.to_json())
    elif output is None:
        from heedmap.drawing.patches import patch_grid

        show(patch_grid(found))
    if layer is None:
        say_middle(found.row.layer, about["layers"])


def _write(output: Path, reading: PictureReading, found: PatchRow, *, layer: int | None, head: int | None) -> None:
    """The picture with the row drawn on it, or the page, by the file's suffix."""
    if output.suffix.lower() in PAGES:
        reading.page(output, layer=layer, head=head)
    else:
        from heedmap.drawing.figures import save_figure

        save_figure(found.plot().figure, output)
    note(f"wrote {output}")
