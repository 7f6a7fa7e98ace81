"""`heedmap read --generate`: where the model looked when it chose each new token."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from heedmap.cli.common import note, print_json, read_text, show
from heedmap.cli.notes import model_words, say_broken, say_middle
from heedmap.cli.options import all_of, load_model
from heedmap.cli.progress import progress_bar
from heedmap.errors import ReadingError

if TYPE_CHECKING:
    from heedmap.reading.generation import Generation

generation_options = all_of(
    click.option(
        "--generate",
        "new_tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let the model go on with TEXT for N tokens, and show where it looked when it chose each.",
    ),
    click.option("--sample", is_flag=True, help="With --generate: draw each token by its odds, not the likeliest."),
    click.option(
        "--temperature",
        type=click.FloatRange(min=0, min_open=True),
        metavar="T",
        help="With --sample: divide the logits by T; below 1 is surer. The model's own by default.",
    ),
    click.option(
        "--top-p",
        type=click.FloatRange(min=0, max=1, min_open=True),
        metavar="P",
        help="With --sample: draw from the likeliest tokens that make up P. The model's own by default.",
    ),
    click.option(
        "--top-k",
        type=click.IntRange(min=1),
        metavar="K",
        help="With --sample: draw from the K likeliest tokens. The model's own by default.",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), metavar="N", help="With --sample: begin here, for the same text again."
    ),
    click.option(
        "--beams",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --generate: keep the N likeliest texts (beam search).",
    ),
)
"""What `--generate` and the options that go with it are."""

_SAMPLING = ("temperature", "top_p", "top_k", "seed")


def generation_settings(options: dict[str, Any]) -> dict[str, Any] | None:
    """The settings for `Model.generate` from what `generation_options` gave, which are taken out of the dictionary.

    A seed is drawn where none was given, so that every text can be had again.

    Returns:
        its `new_tokens` and options; None without --generate.

    Raises:
        click.UsageError: options that do not go together.
    """
    new_tokens, sample, beams = options.pop("new_tokens"), options.pop("sample"), options.pop("beams")
    given = {name: value for name in _SAMPLING if (value := options.pop(name)) is not None}
    if new_tokens is None:
        alone = ["sample"] * sample + ["beams"] * (beams is not None) + list(given)
        if alone:
            raise click.UsageError(f"--{alone[0].replace('_', '-')} goes with --generate")
        return None
    if given and not sample:
        name = next(iter(given)).replace("_", "-")
        raise click.UsageError(f"--{name} goes with --sample: without it the likeliest token is taken")
    settings: dict[str, Any] = {"new_tokens": new_tokens, **given}
    if sample:
        settings |= {"do_sample": True, "seed": given.get("seed", secrets.randbelow(2**31))}
    if beams is not None:
        settings["num_beams"] = beams
    return settings


def show_generation(
    text: str,
    settings: dict[str, Any],
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
        settings: what `generation_settings` gave.
        word: one of the new tokens; None shows a line for each.
        layer: from 0; None is the middle one.
        head: from 0; None is the mean over heads.
        options: what `model_options` and `stack_options` gave.
        as_json: whether JSON is printed instead of a picture.
    """
    target, stack = options.pop("target"), options.pop("stack")
    if target is not None:
        raise click.UsageError("with --generate the model writes the target itself: leave --target out")
    if stack == "encoder":
        raise click.UsageError("the encoder chooses no token: with --generate, --stack is decoder or cross")
    content = read_text(text)
    model = load_model(options)
    choosing = sorted({one.number for one in model.layers if one.stack != "encoder"})
    number = choosing[len(choosing) // 2] if layer is None else layer
    with progress_bar() as progress:
        generation = model.generate(
            content,
            layers=number,
            special_tokens=options.pop("special_tokens"),
            truncate=options.pop("truncate"),
            progress=progress,
            **settings,
        )
    if stack is not None and generation.cross is None:
        raise ReadingError(f"{model.name} has one stack of layers: leave --stack out")
    if generation.cross is not None and stack != "decoder":
        generation = generation.cross
    _say_what_was_written(generation, settings)
    _show(generation, word, number, head, as_json=as_json)
    if layer is None:
        say_middle(number, len(generation.layers))


def _show(generation: Generation, word: str | None, layer: int, head: int | None, *, as_json: bool) -> None:
    """A line for each new token, or the whole row that chose one."""
    from heedmap.drawing.bars import row_bars
    from heedmap.drawing.generations import generation_lines
    from heedmap.drawing.readings import row_picture

    row = None if word is None else generation.row(word, layer, head)
    if as_json:
        print_json(generation.to_json(layer, head) if row is None else row.to_json())
    elif row is None:
        show(generation.text)
        show("")
        show(generation_lines(generation, layer, head))
    else:
        show(row.says)
        show(row_bars(row_picture(row)))


def _say_what_was_written(generation: Generation, settings: dict[str, Any]) -> None:
    """Note on stderr what the rows do not show: the model, numbers that are none, and the seed."""
    note(f"{model_words(generation.model)}; {generation.prompt} tokens and {len(generation.new)} new ones")
    say_broken(generation.not_a_number())
    if "seed" in settings:
        note(f"sampled with --seed {settings['seed']}: the same seed, options and versions give this text again")
