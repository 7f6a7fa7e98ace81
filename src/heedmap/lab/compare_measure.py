"""What `compare` measures: the statistics of every head in two readings, over the tokens that both have."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import DataError, UnsupportedModel
from heedmap.lab.over_heads import Numbers
from heedmap.lab.rounding import beyond_rounding
from heedmap.lab.rows import Row
from heedmap.text.split import split
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.lab.compare import CompareSettings
    from heedmap.lab.data import Contrast
    from heedmap.reading.model import Model
    from heedmap.reading.statistics import Statistics

_others: weakref.WeakKeyDictionary[Any, tuple[tuple[str | None, str | None], Model]] = weakref.WeakKeyDictionary()
"""The model that a model is compared with, kept for the length of a run, by the first one's module."""


def measure_models(model: Model, text: str, settings: CompareSettings) -> Row:
    """One text in two models: a row as `_row` gives it, of one unit.

    Raises:
        UnsupportedModel: the two cannot be aligned head by head.
        DataError: they make other tokens of the text.
    """
    other = other_model(model, settings)
    ids = [one.tokenize(text, special_tokens=settings.special_tokens).ids for one in (model, other)]
    if ids[0] != ids[1]:
        raise DataError(f"{model.name} and {other.name} make other tokens of {text!r}: they need one tokenizer")
    tables = [_statistics(one, text, settings) for one in (model, other)]
    places = np.arange(1, len(ids[0]))
    about = other.describe()
    return {
        **_row(tables, (places, places), np.zeros(len(places), int), settings, text),
        "second": f"{about['name']} {about['revision'] or ''}".strip(),
        "second_sha256": about["sha256"],
        "before": 0.0,
    }


def other_model(model: Model, settings: CompareSettings) -> Model:
    """The other model, loaded once, in the first one's dtype and on its device.

    Raises:
        UnsupportedModel: it has other layers or heads.
        ModelError: it cannot be loaded.
    """
    asked = settings.other, settings.other_revision
    if model.module not in _others or _others[model.module][0] != asked:
        from heedmap.reading.loading import load

        about = model.describe()
        name = settings.other or about["location"] or model.name
        other = load(name, revision=settings.other_revision, dtype=about["dtype"], device=about["device"])
        _others[model.module] = asked, other
    other = _others[model.module][1]
    shapes = [[(layer.number, layer.heads) for layer in one.layers] for one in (model, other)]
    if shapes[0] != shapes[1]:
        raise UnsupportedModel(
            f"{model.name} has {len(shapes[0])} layers of {shapes[0][0][1]} heads and {other.name} {len(shapes[1])} of "
            f"{shapes[1][0][1]}: heads can only be compared one by one in models of one shape"
        )
    return other


def measure_texts(model: Model, contrast: Contrast, settings: CompareSettings) -> Row:
    """Two texts in one model: one unit, or the sentences of the first where whole texts were given.

    Raises:
        DataError: the texts have no token in common after the first.
    """
    tables = [_statistics(model, text, settings) for text in contrast.texts]
    places = aligned(tables[0].tokens.ids, tables[1].tokens.ids)
    if not len(places[0]):
        raise DataError("the two texts have no token in common after the first: give texts that share words")
    by_sentence = settings.first is not None
    units = _sentences(tables[0].tokens)[places[0]] if by_sentence else np.zeros(len(places[0]), int)
    return {
        **_row(tables, places, units, settings, contrast.texts[0]),
        "second": contrast.texts[1],
        "second_sha256": None,
        "before": _before(tables, settings),
    }


def aligned(first: Sequence[int], second: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The places of the tokens that two texts have in common, in order; their first tokens are left out.

    Example:
        >>> [places.tolist() for places in aligned([7, 1, 2, 3, 4], [7, 1, 9, 9, 3, 4])]
        [[1, 3, 4], [1, 4, 5]]
    """
    blocks = SequenceMatcher(None, list(first), list(second), autojunk=False).get_matching_blocks()
    pairs = [(one.a + step, one.b + step) for one in blocks for step in range(one.size)]
    kept = np.array([pair for pair in pairs if min(pair) > 0], dtype=int).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]


def _statistics(model: Model, text: str, settings: CompareSettings) -> Statistics:
    """The statistics at each position."""
    return model.stats(text, only=settings.statistics, positions=True, special_tokens=settings.special_tokens)


def _row(
    tables: Sequence[Statistics],
    places: tuple[np.ndarray, np.ndarray],
    units: np.ndarray,
    settings: CompareSettings,
    text: str,
) -> dict[str, Any]:
    """Both sides' means over the aligned tokens of each unit, "a" and "b" [unit, statistic, head]."""
    numbers = np.unique(units)
    sides: list[Numbers] = []
    for table, of_table in zip(tables, places, strict=True):
        assert table.by_position is not None
        values = np.stack([table.by_position[name] for name in settings.statistics]).astype(float)
        sides.append(np.stack([values[:, :, of_table[units == unit]].mean(-1) for unit in numbers]))
    return {
        "layer": tables[0]["layer"].astype(np.int32),
        "head": tables[0]["head"].astype(np.int32),
        "a": sides[0],
        "b": sides[1],
        "tokens": len(places[0]),
        "first": text,
    }


def _before(tables: Sequence[Statistics], settings: CompareSettings) -> float:
    """The largest difference of a share before the texts part: 0 where it is rounding, as in a causal model."""
    ids = [table.tokens.ids for table in tables]
    same = next((n for n, pair in enumerate(zip(*ids, strict=False)) if pair[0] != pair[1]), min(map(len, ids)))
    sides = [table.by_position or {} for table in tables]
    pairs = [[side[name][:, 1:same] for side in sides] for name in settings.statistics]
    found = [np.abs(beyond_rounding(one - other, np.abs(one))) for one, other in pairs]
    return float(max((np.nan_to_num(one).max(initial=0.0) for one in found), default=0.0))


def _sentences(tokens: Tokens) -> np.ndarray:
    """The number of the sentence that each token stands in, [token]; -1 for those in none."""
    numbers = np.full(len(tokens), -1)
    for number, span in enumerate(split(tokens.text, "sentences")):
        for start, end in span.ranges:
            numbers[list(tokens.covering(start, end))] = number
    return numbers
