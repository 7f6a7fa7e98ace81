"""`heedmap view`: a page on which a text's attention can be looked through, as one file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, read_text
from heedmap.cli.notes import say_cost
from heedmap.cli.options import (
    all_of,
    head_option,
    layer_option,
    load_model,
    model_options,
    output_option,
    parse_layers,
    say_what_was_read,
    text_argument,
)
from heedmap.cli.progress import progress_bar
from heedmap.errors import ModelError

if TYPE_CHECKING:
    from heedmap.drawing.page.view import View
    from heedmap.reading.model import Model
    from heedmap.reading.on_a_page import OnAPage
    from heedmap.reading.progress import Progress
    from heedmap.reading.reading import Reading

ALL = "all"

LONGEST_NAME = 40
"""Letters of a text that a file is named by."""


page_options = all_of(
    click.option(
        "--word", metavar="WORD", help="The word whose row is shown first: it, it#2 for the second, @5 for token 5."
    ),
    layer_option,
    head_option,
    click.option(
        "--layers", metavar="LIST|all", help="The layers carried: 7, 0,5,7, 10-19, or `all` whatever their size."
    ),
    click.option(
        "--steps-layers", metavar="LIST|all", help="The layers whose four steps unfold; the one shown first by default."
    ),
    click.option(
        "--precision",
        type=click.Choice(["float16", "float32"]),
        default="float16",
        show_default=True,
        help="Of the numbers carried; float16 is checked, and exact enough to look at.",
    ),
    click.option(
        "--max-mb",
        type=click.FloatRange(min=0, min_open=True),
        metavar="MB",
        help="How large the file may be: what does not fit is left out, and named. 20 by default, any with --layers.",
    ),
    click.option("--compare", metavar="TEXT", help="Another text, shown beside this one with what differs."),
    click.option(
        "--compare-model", metavar="MODEL", help="Another model of the same tokenizer, shown beside this one."
    ),
    click.option(
        "--target", metavar="TEXT", help="What the decoder of an encoder-decoder runs; @FILE as for TEXT itself."
    ),
    click.option("--generate", type=click.IntRange(min=1), metavar="N", help="Let the model go on for N tokens."),
)


@click.command("view")
@text_argument
@output_option("By default named by the text.")
@page_options
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
@model_options
def command(text: str, output: Path | None, open_it: bool, **options: Any) -> None:
    """Write a page on which the attention of TEXT can be looked through: one file that needs no network.

    TEXT is the text itself, @FILE to read a UTF-8 file, or - to read standard input. The page shows the words and where
    each looks, the maps of all heads, the four steps of a head with its own numbers, and says what it carries at which
    precision. The name of the file is printed.

    \b
    heedmap view "The trophy did not fit in the suitcase because it was too big." --word it --layer 16 --head 3
    heedmap view "It was too big." --compare "It was too small." -o big.html
    heedmap view @letter.txt --layers 16 --open
    """
    from heedmap.drawing.page.bundle import load_bundle
    from heedmap.drawing.page.page import make_page

    load_bundle()  # what cannot be written is better known before a model is loaded
    content = read_text(text)
    path = free_name(content) if output is None else output
    with progress_bar() as progress:
        subject, view = _read(content, options, progress)
        made = make_page(subject, view, progress=progress)
    made.write(path)
    for sentence in made.notes:
        if sentence.startswith("Layer"):
            note(sentence)
    click.echo(path)
    note(f"{len(made.html.encode()) / 1e6:.1f} MB; open it in any browser{'' if open_it else ', or add --open'}")
    if open_it:
        _open(path)


def _read(content: str, options: dict[str, Any], progress: Progress | None) -> tuple[OnAPage, View]:
    """What the page shows, and how."""
    from heedmap.drawing.page.view import View

    compare, other_model = options.pop("compare"), options.pop("compare_model")
    target, new_tokens = options.pop("target"), options.pop("generate")
    if sum(one is not None for one in (compare, other_model, target, new_tokens)) > 1:
        raise click.UsageError("--compare, --compare-model, --target and --generate: a page shows one of them")
    asked = {name: options.pop(name) for name in ("layer", "layers", "steps_layers", "max_mb")}
    shown = {name: options.pop(name) for name in ("word", "head", "precision")}
    special = {name: options.pop(name) for name in ("special_tokens", "truncate")}
    given = dict(options)
    model = load_model(options)
    view = View(**shown, **_numbers(model, asked))
    if target is not None:
        return model.read(content, target=read_text(target), values=True, **special), view
    if new_tokens is not None:
        return _generated(model, content, new_tokens, view, special, progress)
    first = _one(model, content, view, special, progress)
    if compare is not None:
        return first, _with(view, compare=_one(model, read_text(compare), view, special, progress))
    if other_model is not None:
        other = load_model(given | {"model_name": other_model, "revision": None})
        second = _one(other, content, view, special, progress)
        if first.tokens.ids != second.tokens.ids:
            raise ModelError(
                f"{model.name} and {other_model} make other tokens of this text: compare models that share a tokenizer"
            )
        return first, _with(view, compare=second)
    return first, view


def _numbers(model: Model, asked: dict[str, Any]) -> dict[str, Any]:
    """Layers as numbers: `all` are those of the model."""
    every = sorted({layer.number for layer in model.layers})
    named = {"layers": asked["layers"], "steps": asked["steps_layers"]}
    layers = {name: every if given == ALL else parse_layers(given) for name, given in named.items()}
    return {"layer": asked["layer"], "max_mb": asked["max_mb"], **layers}


def _with(view: View, **changed: Any) -> View:
    from dataclasses import replace

    return replace(view, **changed)


def _one(model: Model, content: str, view: View, special: dict[str, Any], progress: Progress | None) -> Reading:
    """Read one text, keeping the layers that the page can carry."""
    from heedmap.drawing.page.plan import layers_to_read
    from heedmap.reading.own_code import has_own_code

    tokens = model.tokenize(content, **special)
    layers, values = layers_to_read(model, len(tokens), view), not has_own_code(model.module)
    say_cost(model.cost(len(tokens), layers=layers, values=values))
    reading = model.read_tokens(tokens, layers=layers, values=values, progress=progress)
    say_what_was_read(reading)
    return reading


def _generated(
    model: Model, content: str, new_tokens: int, view: View, special: dict[str, Any], progress: Progress | None
) -> tuple[OnAPage, View]:
    """Let the model write, then read all of it once more, so that every row is there."""
    from heedmap.drawing.page.plan import layers_to_read
    from heedmap.reading.own_code import has_own_code
    from heedmap.reading.two_stacks import read_two_stacks

    layer = model.layers[len(model.layers) // 2].number if view.layer is None else view.layer
    generation = model.generate(content, new_tokens, layers=layer, progress=progress, **special)
    view = _with(view, generation=generation)
    if generation.cross is not None and generation.cross.source is not None:
        both = read_two_stacks(model, generation.cross.source, generation.tokens, values=True, progress=progress)
        return both, view
    layers = layers_to_read(model, len(generation.tokens), view)
    values = not has_own_code(model.module)
    return model.read_tokens(generation.tokens, layers=layers, values=values, progress=progress), view


def free_name(text: str, folder: Path = Path()) -> Path:
    """A file name from the first words of a text that no file there has yet.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     free_name("The trophy did not fit in the suitcase because it was too big.", Path(folder)).name
        'the-trophy-did-not-fit-in-the-suitcase.html'
    """
    words = re.findall(r"\w+", text.lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:LONGEST_NAME]
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    name = name or "heedmap"
    path, number = folder / f"{name}.html", 2
    while path.exists():
        path, number = folder / f"{name}-{number}.html", number + 1
    return path


def _open(path: Path) -> None:
    """Show the page in the browser, if one can be started."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        note(f"no browser could be started here: open {path} yourself")
