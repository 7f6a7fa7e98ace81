"""`heedmap cost`: what a long prompt will cost, from a model's configuration alone."""

from __future__ import annotations

import click

from heedmap.cli.common import note, print_json, show
from heedmap.cli.options import json_option


@click.command("cost")
@click.argument("model", metavar="MODEL")
@click.option(
    "--tokens",
    "lengths",
    default="1000,10000,100000",
    show_default=True,
    metavar="LIST",
    help="Lengths to tell it for.",
)
@click.option("--dtype", help="What the cache holds: float32, float16, bfloat16; by default as the model is stored.")
@click.option("--revision", metavar="REVISION", help="Branch, tag or commit of a Hub model.")
@json_option
def command(model: str, lengths: str, dtype: str | None, revision: str | None, as_json: bool) -> None:
    """Predict the arithmetic and the cache of long prompts, without any weights.

    MODEL is a catalogue name, a folder, a config.json or a Hub id, of which the configuration alone is fetched. To
    measure it on this machine: heedmap lab cost.

    \b
    heedmap cost smollm2 --tokens 1000,10000,100000
    """
    from heedmap.lab.cost_predict import predict, to_json
    from heedmap.lab.cost_shape import shape_of
    from heedmap.lab.cost_text import cost_lines, stored_dtype
    from heedmap.models.configuration import find_configuration

    wanted = _lengths(lengths)
    configuration = find_configuration(model, revision=revision)
    shape = shape_of(configuration)
    held = dtype or stored_dtype(configuration)
    predictions = [predict(shape, tokens, dtype=held) for tokens in wanted]
    if as_json:
        print_json(to_json(shape, model, held, predictions))
        return
    show(cost_lines(shape, model, held, predictions))
    note("arithmetic from the configuration; times depend on the machine: `heedmap lab cost` measures them")


_MOST = 10**12


def _lengths(given: str) -> list[int]:
    """The lengths that the option names.

    Raises:
        click.BadParameter: it is not a list of whole numbers.

    Example:
        >>> _lengths("1000, 10_000")
        [1000, 10000]
    """
    numbers = []
    for part in given.split(","):
        try:
            numbers.append(int(part))
        except ValueError:
            raise click.BadParameter(
                f"'{part}' is no number of tokens: give numbers such as 1000,10000", param_hint="'--tokens'"
            ) from None
        if not 1 <= numbers[-1] <= _MOST:
            raise click.BadParameter(
                f"'{part[:30]}' is no number of tokens: take 1 to a trillion", param_hint="'--tokens'"
            )
    return sorted(set(numbers))
