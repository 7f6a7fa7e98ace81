"""Options that several commands share, and the model they lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from heedmap.cli.common import read_text
from heedmap.cli.notes import say_broken, say_cost, say_what_ran
from heedmap.cli.progress import progress_bar
from heedmap.models.catalogue import DEFAULT_MODEL

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.reading.reading import Reading

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def all_of(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Several decorators as one, shown in the order given."""

    def decorate(function: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


text_argument = all_of(click.argument("text", metavar="TEXT"))

weight_options = all_of(
    click.option("--revision", metavar="REVISION", help="Branch, tag or commit of a Hub model."),
    click.option("--dtype", default="auto", show_default=True, help="auto, float32, float16, bfloat16 or float64."),
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda:1, mps ... or spread over all."),
    click.option("--allow-random", is_flag=True, help="Accept weights that the checkpoint lacks: they are random."),
)

loading_options = all_of(
    click.option(
        "--model",
        "model_name",
        default=DEFAULT_MODEL,
        show_default=True,
        metavar="MODEL",
        help="A catalogue name (see `heedmap models`), a Hub id, a folder, or a .gguf file.",
    ),
    weight_options,
)

model_options = all_of(
    loading_options,
    click.option(
        "--special-tokens/--no-special-tokens",
        default=None,
        help="Add begin-of-text and the like or not; by default as the tokenizer does.",
    ),
    click.option("--truncate", is_flag=True, help="Cut a text that is longer than the model's positions."),
)

stack_options = all_of(
    click.option(
        "--target", metavar="TEXT", help="What the decoder of an encoder-decoder runs; @FILE as for TEXT itself."
    ),
    click.option(
        "--stack",
        type=click.Choice(["encoder", "decoder", "cross"]),
        help="Which layers of an encoder-decoder; cross, the decoder's look at the encoder, by default.",
    ),
)
layer_option = click.option("--layer", type=int, metavar="N", help="From 0; the middle layer by default.")
head_option = click.option("--head", type=int, metavar="N", help="From 0; the mean over heads by default.")
layers_option = click.option("--layers", metavar="LIST", help="Which layers: 7, 0,5,7 or 10-19; all by default.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a picture.")


def output_option(help_text: str) -> Callable[[Decorated], Decorated]:
    """`-o FILE`: what is written there."""
    return click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=help_text)


class LoadModel:
    """Another way to load models, put into the click context by a command that runs commands."""

    def __init__(self, load: Callable[..., Model]) -> None:
        self.load = load


def load_model(options: dict[str, Any]) -> Model:
    """The model that `model_options` name; takes its options out of the dictionary.

    A command that runs other commands (the course does) hands them its own way of loading, which keeps what it loaded.
    """
    from heedmap.reading.loading import load

    context = click.get_current_context(silent=True)
    kept = context.find_object(LoadModel) if context is not None else None
    return (load if kept is None else kept.load)(
        options.pop("model_name"),
        revision=options.pop("revision"),
        dtype=options.pop("dtype"),
        device=options.pop("device"),
        allow_random=options.pop("allow_random"),
    )


def read(text: str, options: dict[str, Any], layer: int | None = None, **keep: Any) -> Reading:
    """Read a text with the model that the options name, keeping one layer (the middle one by default).

    Args:
        text: TEXT of the command line: itself, `@file` or `-`.
        options: what `model_options` gave.
        layer: the layer to keep.
        keep: further arguments of `Model.read`.

    What a long or large run will cost is said before it starts, and a bar shows how far it is.
    """
    content = read_text(text)
    target, stack = options.pop("target", None), options.pop("stack", None)
    model = load_model(options)
    if target is not None:
        return _read_stack(model, content, read_text(target), stack or "cross", options, layer, **keep)
    if stack is not None:
        raise click.UsageError("--stack goes with --target, for models with an encoder and a decoder")
    if "layers" not in keep:
        keep["layers"] = model.layers[len(model.layers) // 2].number if layer is None else layer
    tokens = model.tokenize(content, special_tokens=options.pop("special_tokens"), truncate=options.pop("truncate"))
    say_cost(model.cost(len(tokens), **keep))
    with progress_bar() as progress:
        reading = model.read_tokens(tokens, progress=progress, **keep)
    say_what_was_read(reading)
    return reading


def _read_stack(
    model: Model, source: str, target: str, stack: str, options: dict[str, Any], layer: int | None, **keep: Any
) -> Reading:
    """Read a source and a target, and take one stack of layers; all are kept where none is asked for."""
    keep.setdefault("layers", layer)
    both = model.read(
        source,
        target=target,
        special_tokens=options.pop("special_tokens"),
        truncate=options.pop("truncate"),
        **keep,
    )
    reading: Reading = both.stack(stack)
    say_what_was_read(reading)
    return reading


def say_what_was_read(reading: Reading) -> None:
    """Note on stderr what the numbers do not show: special tokens, cuts, numbers that are none."""
    say_what_ran(reading.model, reading.tokens)
    say_broken(reading.not_a_number())


_LAYER_DIGITS = 5
"""A layer's number has no more: a range to a billion would fill the memory before the model could refuse it."""


def parse_layers(given: str | None) -> list[int] | None:
    """The layers that an option names, None for all.

    Raises:
        click.BadParameter: it is not a list of numbers and ranges.

    Example:
        >>> parse_layers("0,5,10-12")
        [0, 5, 10, 11, 12]
    """
    if given is None:
        return None
    numbers: list[int] = []
    for part in given.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or max(len(first), len(last)) > _LAYER_DIGITS:
            raise click.BadParameter(
                f"'{part}' is neither a layer nor a range: give 7, 0,5,7 or 10-19", param_hint="'--layers'"
            )
        numbers += range(int(first), int(last) + 1) if dash else [int(first)]
    return numbers
