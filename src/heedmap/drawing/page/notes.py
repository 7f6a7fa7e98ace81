"""What the page says about its numbers: what is carried, at which precision, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from heedmap.reading.reading import Reading


def reading_notes(reading: Reading, layers: list[dict[str, Any]]) -> list[str]:
    """Sentences about one reading, as plain text.

    Args:
        reading: what was read.
        layers: what the page says of each of its layers.
    """
    notes = [*_precision_notes(layers), *_steps_note(layers), *_left_out(layers)]
    tokens = reading.tokens
    added = [token.text for token in tokens if token.special and token.start is None]
    notes.append(f"Special tokens added: {' '.join(added)}." if added else "No special tokens were added.")
    if tokens.cut_off:
        notes.append(f"{tokens.cut_off} tokens were cut off to fit the model's positions.")
    for layer, count in reading.not_a_number().items():
        rows = "1 row is" if count == 1 else f"{count} rows are"
        notes.append(f"Layer {layer}: {rows} not a number; marked as such, never drawn as 0.")
    return notes


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in words, runs taken together.

    Example:
        >>> ranges([0, 1, 2, 5, 7, 8]), ranges([4])
        ('0 to 2, 5, 7 to 8', '4')
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def at_most(number: float) -> str:
    """A bound with two digits, rounded up, so that it still holds.

    Example:
        >>> at_most(0.000238597), at_most(2.61e-06), at_most(0.0)
        ('0.00024', '2.7e-06', '0')
    """
    if number == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step * (1 - 1e-12)) * step:.2g}"


def _named(layers: list[dict[str, Any]]) -> str:
    word = "Layer" if len(layers) == 1 else "Layers"
    return f"{word} {ranges(layer['number'] for layer in layers)}"


def _precision_notes(layers: list[dict[str, Any]]) -> Iterable[str]:
    """One sentence for each form and precision that layers are carried in."""
    forms = {(layer["carries"], layer["precision"]) for layer in layers if layer["carries"] != "nothing"}
    for carries, precision in sorted(forms, reverse=True):
        those = [layer for layer in layers if (layer["carries"], layer["precision"]) == (carries, precision)]
        worst = max(layer["worst"] for layer in those)
        if carries == "weights":
            yield f"{_named(those)}: every weight in {precision}, off by at most {at_most(worst)}."
        else:
            yield (
                f"{_named(those)}: queries and keys in {precision}, from which weights are computed here; they were "
                f"checked when the page was made, and off by at most {at_most(worst)}."
            )


def _steps_note(layers: list[dict[str, Any]]) -> Iterable[str]:
    there = [layer for layer in layers if layer["hasSteps"]]
    if there:
        yield f"{_named(there)}: queries, keys and values are here, so that the four steps unfold."
    elif layers:
        yield "No layer carries its values, so that the four steps do not unfold."


def _left_out(layers: list[dict[str, Any]]) -> Iterable[str]:
    reasons: dict[str, list[dict[str, Any]]] = {}
    for layer in layers:
        if layer["carries"] == "nothing":
            reasons.setdefault(layer["omitted"], []).append(layer)
    for reason, those in reasons.items():
        yield f"{_named(those)}: {reason}."
