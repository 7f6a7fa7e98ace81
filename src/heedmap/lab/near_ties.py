"""Figures that rounding alone turns: a head that is ahead of another by nothing, a count beside its threshold.

Two machines round rows otherwise. Most figures follow by as little; one that is a choice, a count, a rank or a p-value
may jump, and what is reported of the head that was chosen jumps with it. So where a rerun differs its rows are moved
by as much as rounding does, and concluded again: a figure that then reaches what the report has turns on rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heedmap.lab.agreement import TURNED, Line, figure_parts, plain_value
from heedmap.lab.experiment import Figure, Value
from heedmap.lab.registry import experiment
from heedmap.lab.rows import Rows
from heedmap.lab.settings import Settings

DRAWS = 16
"""How often the rows are moved. A tie that rounding turned once lies within what it moves, and turns in about every
other draw."""

MOVED = 0.1
"""By how much of what may lie between two machines a number is moved at most: 1e-6 in float32, as far as they do."""


def settle(
    lines: Sequence[Line],
    before: Mapping[str, Figure],
    rows: Mapping[str, Rows],
    settings: Mapping[str, Settings],
    within: float,
) -> list[Line]:
    """Judge those lines of a comparison anew that do not agree.

    Args:
        lines: a report compared with its rerun.
        before: the figures of the report.
        rows: those of the rerun, by experiment.
        settings: by experiment.
        within: how far two machines' numbers may lie apart.

    Returns:
        the lines, in their order; those of figures that turn on rounding say so.
    """
    apart = {line.name.partition(".")[0] for line in lines if not line.agrees} & set(rows)
    found = {name: _concluded_again(name, rows[name], settings[name], within) for name in apart}

    def judged(line: Line) -> Line:
        outcomes = [figures.get(line.name) for figures in found.get(line.name.partition(".")[0], ())]
        turns = not line.agrees and bool(outcomes) and _is_among(before.get(line.name), outcomes, within)
        return replace(line, judgement=TURNED) if turns else line

    return [judged(line) for line in lines]


def _concluded_again(name: str, rows: Rows, settings: Settings, within: float) -> list[dict[str, Figure]]:
    """The figures of rows that are moved by rounding, one of each draw."""
    rng = np.random.default_rng(0)
    own = experiment(name)
    return [own.conclude(moved(rows, within * MOVED, rng), settings).figures for _ in range(DRAWS)]


def moved(rows: Rows, by: float, rng: np.random.Generator) -> Rows:
    """Rows whose numbers are a little off: each by up to a share of what its column has on (quadratic) average.

    What is exactly 0 is masked, or nothing at all, and stays; whole numbers, words and bools do.

    Args:
        rows: as they were measured.
        by: the share.
        rng: where the random numbers come from.
    """
    columns: dict[str, list[Any]] = {}
    for name in rows.names:
        values = rows.arrays(name)
        floats = [np.asarray(one) for one in values if isinstance(one, float) or _is_float(one)]
        if floats:
            known = np.concatenate([one[np.isfinite(one)].astype(float) for one in floats])
            size = by * float(np.sqrt(np.mean(np.square(known)))) if known.size else 0.0
            values = [_moved(one, size, rng) for one in values]
        columns[name] = values
    return Rows(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _is_float(value: Any) -> bool:
    """Whether a value is an array of floats."""
    return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)


def _moved(value: Any, size: float, rng: np.random.Generator) -> Any:
    """A number or an array, moved where it is not 0."""
    if isinstance(value, float):
        return value + size * rng.uniform(-1, 1) if value else value
    if not _is_float(value):
        return value
    return np.where(value, value + size * rng.uniform(-1, 1, value.shape), value).astype(value.dtype)


def _is_among(figure: Figure | None, outcomes: Sequence[Figure | None], within: float) -> bool:
    """Whether a figure is one that was reached: absent, a word or number that was, or between two numbers."""
    if figure is None:
        return None in outcomes
    reached = [list(map(plain_value, figure_parts(one))) for one in outcomes if one is not None]
    parts = map(plain_value, figure_parts(figure))
    by_part = zip(*reached, strict=True)
    return bool(reached) and all(_reaches(part, of, within) for part, of in zip(parts, by_part, strict=True))


def _reaches(value: Value, found: Sequence[Value], within: float) -> bool:
    """Whether a value was found, or a number lies between numbers that were, within rounding."""
    numbers = [one for one in found if isinstance(one, float)]
    if isinstance(value, float) and numbers:
        room = within * max(1.0, abs(value))
        return min(numbers) - room <= value <= max(numbers) + room
    return value in found
