"""A predicted cost as lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from heedmap.lab.cost_predict import BYTES, Prediction, outweighs_from
from heedmap.lab.cost_shape import Shape
from heedmap.reading.cost import operations_text
from heedmap.reading.memory import bytes_text

_COLUMNS = ("tokens", "attention", "its tables", "feed-forward", "attention's share", "cache")


def stored_dtype(configuration: Any) -> str:
    """The dtype that a configuration's weights are stored in; bfloat16 where it does not say."""
    given = getattr(configuration, "dtype", None) or getattr(configuration.get_text_config(), "dtype", None)
    name = str(given).removeprefix("torch.")
    return name if name in BYTES else "bfloat16"


def cost_lines(shape: Shape, name: str, dtype: str, predictions: Sequence[Prediction]) -> str:
    """A table with a line a length, and what it comes to in words.

    Example:
        >>> from heedmap.lab.cost_predict import predict
        >>> from heedmap.lab.cost_shape import shape_of
        >>> from heedmap.models.configuration import find_configuration
        >>> shape = shape_of(find_configuration("smollm2"))
        >>> print(cost_lines(shape, "smollm2", "float32", [predict(shape, 1000, dtype="float32")]).splitlines()[-1])
        Attention outweighs all the rest from 6,144 tokens on.
    """
    cells = [_COLUMNS, *(_line(one, shape.causal) for one in predictions)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(_COLUMNS))]
    lines = [f"{name}: {shape.parameters / 1e6:,.0f} million numbers, {len(shape.layers)} layers with attention"]
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return "\n".join([*lines, *_in_words(shape, dtype, predictions)])


def _line(one: Prediction, causal: bool) -> tuple[str, ...]:
    """One length."""
    numbers = (one.attention, one.projections, one.feed_forward)
    cache = bytes_text(one.cache) if causal else "none"
    return (f"{one.tokens:,}", *(operations_text(number) for number in numbers), f"{one.share:.0%}", cache)


def _in_words(shape: Shape, dtype: str, predictions: Sequence[Prediction]) -> Iterator[str]:
    """What the numbers come to."""
    if shape.causal:
        yield f"Operations to read the prompt; the cache in {dtype}."
    else:
        yield "Operations to read the text; it keeps no cache."
    if shape.silent:
        yield f"{shape.silent} layers have no attention: their work grows with the length alone."
    windows = sorted({layer.reach for layer in shape.layers if layer.reach is not None})
    if windows:
        count = sum(layer.reach is not None for layer in shape.layers)
        yield f"{count} layers look back {', '.join(f'{window:,}' for window in windows)} tokens at most."
    if len(predictions) > 1:
        first, last = predictions[0], predictions[-1]
        yield (
            f"{_times(last.tokens / first.tokens)} times the tokens: {_times(last.attention / first.attention)} times "
            f"the attention work, {_times(last.rest / first.rest)} times the rest."
        )
    length = outweighs_from(shape)
    if length is None:
        yield "Attention never outweighs the rest: no layer looks back without end."
    else:
        yield f"Attention outweighs all the rest from {length:,} tokens on."


def _times(factor: float) -> str:
    """A factor as people say it.

    Example:
        >>> _times(9990.4), _times(5.12), _times(100.0)
        ('9,990', '5.1', '100')
    """
    return f"{factor:,.0f}" if factor >= 9.95 else f"{factor:.1f}"
