"""`heedmap picture`: where in a picture a model looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.map import PAGES
from heedmap.cli.options import head_option, json_option, layer_option, load_model, weight_options


@click.command("picture")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--model", "model_name", required=True, metavar="MODEL", help="A Hub id or a folder of a model that takes pictures."
)
@click.option(
    "--text", metavar="TEXT", help="For a model of both: the text, with the model's mark where the picture stands."
)
@click.option(
    "--word",
    metavar="WORD",
    help="What looks: a word of the text, class, or a patch: r2c3. By default the last word, or class.",
)
@click.option(
    "--stack",
    type=click.Choice(["vision", "text"]),
    help="Whose look: the patches' at each other, or the text's; the text's by default where it sees the picture.",
)
@layer_option
@head_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw it on the picture (.png, .svg, .pdf), or write a page to look through (.html).",
)
@json_option
@weight_options
def command(
    file: Path,
    text: str | None,
    word: str | None,
    stack: str | None,
    layer: int | None,
    head: int | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show where in the picture FILE a model looks, patch by patch.

    Patches have names by row and column, counted from 0: r0c0 is at the top left. What is drawn is the picture as the
    model sees it, which its processor has resized, and may have cut.

    \b
    heedmap picture cat.jpg --model google/vit-base-patch16-224 --word class --layer 11
    heedmap picture cat.jpg --model llava-hf/llava-1.5-7b-hf --text "USER: <image> What is it? ASSISTANT:" -o cat.png
    """
    model = load_model({"model_name": options.pop("model_name"), **options})
    reading = model.read_picture(file, None if text is None else read_text(text), layers=layer)
    kind = stack or ("text" if "text" in reading.places else "vision")
    if word is None:
        word = "@-1" if kind == "text" else reading.stack(kind).tokens.labels[0]
    found = reading.patches(word, layer, head, stack=kind)
    about = found.row.model
    note(f"{reading}; {about['layers']} layers x {about['heads']} heads, {about['dtype']}")
    for number, count in reading.stack(kind).not_a_number().items():
        note(f"layer {number}: {count} rows are not a number (nan)")
    if output is not None and output.suffix.lower() in PAGES:
        reading.page(output, layer=layer, head=head)
    elif output is not None:
        from heedmap.drawing.figures import save_figure

        save_figure(found.plot().figure, output)
    if output is not None:
        note(f"wrote {output}")
    if as_json:
        print_json(found.to_json())
    elif output is None:
        from heedmap.drawing.patches import patch_grid

        show(patch_grid(found))
    if layer is None:
        note(f"no layer was given: {found.row.layer} is the middle one of {about['layers']}")
