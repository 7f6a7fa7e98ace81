"""Filling a page with readings: each layer in its smallest exact form, the chosen layers first, within a budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedmap.drawing.page.blocks import text_size
from heedmap.drawing.page.columns import columns_json
from heedmap.drawing.page.contents import Contents, layer_block
from heedmap.drawing.page.layers import EncodedLayer, encode_layer, vectors_size, weights_size
from heedmap.drawing.page.notes import reading_notes
from heedmap.drawing.page.rules import page_rule
from heedmap.drawing.page.texts import Patches
from heedmap.errors import TooLarge
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.progress import Progress
from heedmap.reading.reading import Reading
from heedmap.reading.statistics_table import Table
from heedmap.reading.word_row import number_or_none
from heedmap.text.labels import visible

_BEST_COMPRESSION = 0.7
"""A layer that would not even fit if it compressed so well is not encoded to find out."""

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One reading that a page shows.

    Attributes:
        name: what the page calls it in its address: "self", "cross", "a" ...
        title: what it is called to people.
        reading: what was read; its layers' values where the steps are wanted.
        layer: the layer that is shown first, and kept whatever the budget leaves out.
        statistics: of all its heads; None shows none.
        picture: where tokens are patches, the picture as a data URL.
        patches: which tokens are patches; None goes by their names.
        notes: what could not be shown, and why.
    """

    name: str
    title: str
    reading: Reading
    layer: int
    statistics: Table | None = None
    picture: str | None = None
    patches: Patches | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Carried:
    """What the page is to carry.

    Attributes:
        layers: the layers wanted, by number; None takes all that the reading kept.
        steps: the layers whose steps unfold; None takes the one shown first.
        precision: "float16" or "float32".
        budget: bytes that the file may have; None is no limit.
        strict: whether the budget also binds the layer that is shown first.
    """

    layers: Collection[int] | None = None
    steps: Collection[int] | None = None
    precision: str = "float16"
    budget: int | None = None
    strict: bool = False


def fill(
    contents: Contents, shown: Sequence[Shown], carried: Carried, *, fixed: int = 0, progress: Progress | None = None
) -> None:
    """Put readings into a page.

    Args:
        contents: the page.
        shown: the readings, in the order in which they are offered.
        carried: which layers, and how.
        fixed: bytes that the file has beside header and blocks.
        progress: told how many layers are done.

    Raises:
        TooLarge: the budget does not even hold the layers that are shown first.
    """
    entries = [reading_entry(contents, one) for one in shown]
    contents.readings.extend(entries)
    places = sorted(
        (abs(layer.number - one.layer), which, place)
        for which, one in enumerate(shown)
        for place, layer in enumerate(one.reading.layers)
    )
    # The header still grows by a few hundred characters a layer.
    used = fixed + contents.size + 600 * len(places)
    for done, (distance, which, place) in enumerate(places):
        one, layer = shown[which], shown[which].reading.layers[place]
        left = None if carried.budget is None else carried.budget - used
        must = distance == 0
        entry, size = _layer(contents, one, layer, carried, left if carried.strict or not must else None, must=must)
        entries[which]["layers"][place] = entry
        used += size
        if progress is not None:
            progress(done + 1, len(places), "writing layers")
    for one, entry in zip(shown, entries, strict=True):
        entry["notes"] = [*reading_notes(one.reading, entry["layers"]), *one.notes]


def reading_entry(contents: Contents, one: Shown) -> dict[str, Any]:
    """What the page says of a reading, its layers still to come."""
    reading = one.reading
    queries = contents.add_text(reading.tokens, one.picture, one.patches)
    keys = queries if reading.keys is None else contents.add_text(reading.keys)
    numbers = [layer.number for layer in reading.layers]
    odds = [
        {"text": visible(candidate.text), "probability": number_or_none(candidate.probability)}
        for candidate in reading.candidates[:10]
    ]
    return {
        "id": one.name,
        "title": one.title,
        "model": _without_paths(reading.model),
        "queries": queries,
        "keys": keys,
        "layers": [None for _ in numbers],
        "statistics": [] if one.statistics is None else columns_json(one.statistics, numbers),
        **({"nextToken": odds} if odds else {}),
    }


def _without_paths(model: dict[str, Any]) -> dict[str, Any]:
    """What is said of a model, without where it lies on this machine: pages are handed on.

    Example:
        >>> _without_paths({"name": "smollm2", "location": "/home/ada/.cache/heedmap/models/smollm2"})
        {'name': 'smollm2'}
    """
    return {name: value for name, value in model.items() if name != "location" or not Path(str(value)).is_absolute()}


def _layer(
    contents: Contents, one: Shown, layer: AttentionLayer, carried: Carried, left: int | None, *, must: bool
) -> tuple[dict[str, Any], int]:
    """What the page says of a layer, and the characters that its numbers take."""
    reading, number = one.reading, layer.number
    if number not in reading.calls:
        return _nothing(layer, "not read; ask for it with --layers, or read the text again with it"), 0
    if carried.layers is not None and number not in carried.layers:
        return _nothing(layer, "not asked for; --layers adds it"), 0
    call = reading.call(number)
    steps = number in ([one.layer] if carried.steps is None else carried.steps)
    steps = steps and call.value is not None and "weights_from" not in reading.model
    if left is not None and not must and _least(call, carried.precision, steps) > left:
        return _nothing(layer, _too_large(carried)), 0
    encoded = encode_layer(number, call, precision=carried.precision, steps=steps)
    block, parts = layer_block(encoded.parts)
    if left is not None and text_size(len(block)) > left and must and steps:
        encoded = encode_layer(number, call, precision=carried.precision, steps=False)
        block, parts = layer_block(encoded.parts)
    size = text_size(len(block))
    if left is not None and size > left:
        if must:
            raise TooLarge(_does_not_fit(number, size - left, carried))
        return _nothing(layer, _too_large(carried)), 0
    return _described(contents, encoded, block, parts), size


def _described(contents: Contents, encoded: EncodedLayer, block: bytes, parts: list[dict[str, Any]]) -> dict[str, Any]:
    rule = contents.add_rule(encoded.rule)
    return {**encoded.info, "rule": rule, "block": contents.add_block(block), "parts": parts}


def _least(call: AttentionCall, precision: str, steps: bool) -> float:
    """Characters that a layer takes at the very least."""
    vectors = vectors_size(call, precision, values=steps)
    if not steps:
        vectors = min(vectors, weights_size(call, page_rule(call.rule, call.query.device), precision))
    return _BEST_COMPRESSION * text_size(vectors)


def _nothing(layer: AttentionLayer, why: str) -> dict[str, Any]:
    """What the page says of a layer that it does not carry."""
    return {
        "number": layer.number,
        "heads": layer.heads,
        "keyValueHeads": layer.key_value_heads,
        "carries": "nothing",
        "precision": "float16",
        "worst": None,
        "hasSteps": False,
        "window": None,
        "causal": False,
        "hasSink": False,
        "omitted": why,
    }


def _too_large(carried: Carried) -> str:
    allowed = (carried.budget or 0) / MEGABYTE
    return f"left out to stay within {allowed:g} MB; --layers chooses others, --max-mb allows more"


def _does_not_fit(number: int, missing: int, carried: Carried) -> str:
    allowed = (carried.budget or 0) / MEGABYTE
    return (
        f"a page of {allowed:g} MB does not hold layer {number}, which is shown first: "
        f"{missing / MEGABYTE:.2g} MB more are needed (--max-mb {-(-(carried.budget or 0) - missing) // MEGABYTE:.0f}; "
        "in Python max_mb=), or a shorter text"
    )
