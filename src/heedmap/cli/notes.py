"""What a command says on stderr of what it ran: the model, special tokens, cuts, the cost, numbers that are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heedmap.cli.common import note

if TYPE_CHECKING:
    from heedmap.reading.cost import Cost
    from heedmap.text.tokens import Tokens


def model_words(about: Mapping[str, Any]) -> str:
    """A model in a few words.

    Example:
        >>> model_words({"name": "smollm2", "layers": 30, "heads": 9, "dtype": "float32"})
        'smollm2, 30 layers x 9 heads, float32'
    """
    return f"{about['name']}, {about['layers']} layers x {about['heads']} heads, {about['dtype']}"


def say_what_ran(about: Mapping[str, Any], *texts: Tokens) -> None:
    """Say which model ran on how many tokens, which special ones were added, and what was cut off."""
    tokens = f"{sum(map(len, texts))} tokens"
    parts = [model_words(about), tokens if len(texts) == 1 else f"{len(texts)} texts, {tokens}"]
    added = dict.fromkeys(token.text for text in texts for token in text if token.special and token.start is None)
    parts.append(f"special tokens added: {' '.join(added)}" if added else "no special tokens added")
    cut_off = sum(text.cut_off for text in texts)
    if cut_off:
        parts.append(f"{cut_off} tokens cut off to fit the model's positions")
    note("; ".join(parts))


def say_broken(counts: Mapping[int, int], what: str = "") -> None:
    """Say how many rows of which layers are not a number; `what` stands before."""
    for layer, count in counts.items():
        note(f"{what}layer {layer}: {count} rows are not a number (nan)")


def say_cost(cost: Cost) -> None:
    """Say before a run what it will cost, where that is long or large."""
    if cost.is_worth_telling:
        note(str(cost))


def say_middle(layer: int, layers: int) -> None:
    """Say which layer was taken where none was given."""
    note(f"no layer was given: {layer} is the middle one of {layers}")
