"""Whether two sets of figures agree: a report and its rerun, or a report and what was expected of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedmap.cut_text import cut_text
from heedmap.errors import ClaimError
from heedmap.lab.experiment import Figure, Value
from heedmap.lab.rounding import ROUNDING
from heedmap.lab.words import value_words

SAME, ROUNDED, DIFFERS, MISSING, NEW = "same", "same within rounding", "differs", "missing", "new"
TURNED = "turns on rounding"

_LONGEST = 1000
"""Characters of names in an error."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of both.

    Attributes:
        name: of the figure.
        before: in the report, or as it is expected.
        now: what was found.
        judgement: "same", "same within rounding", "differs", "missing" (not found now), "new", or "turns on rounding"
            (see `heedmap.lab.near_ties`).
        searched: whether it was chosen by searching.
    """

    name: str
    before: Value
    now: Value
    judgement: str
    searched: bool = False

    @property
    def agrees(self) -> bool:
        """Whether it is the same, or rounding alone makes the difference."""
        return self.judgement in (SAME, ROUNDED, TURNED)

    def __str__(self) -> str:
        return f"{self.name}: {value_words(self.before)} -> {value_words(self.now)}, {self.judgement}"


def compare(before: Mapping[str, Figure], now: Mapping[str, Figure], within: float = ROUNDING["float32"]) -> list[Line]:
    """Figure by figure, values and intervals.

    Args:
        before: the figures of the one.
        now: those of the other.
        within: how far numbers may lie apart and be the same within rounding, relative to the larger or absolutely.

    Example:
        >>> for line in compare({"x": Figure(0.5), "y": Figure(1)}, {"x": Figure(0.5), "y": Figure(2)}):
        ...     print(line)
        x: 0.500 -> 0.500, same
        y: 1 -> 2, differs
    """
    lines = []
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        searched = any(figure is not None and figure.searched for figure in (old, new))
        if old is None or new is None:
            value = None if old is None else old.value
            lines.append(
                Line(name, value, None if new is None else new.value, NEW if old is None else MISSING, searched)
            )
        else:
            lines.append(
                Line(name, old.value, new.value, _judge(figure_parts(old), figure_parts(new), within), searched)
            )
    return lines


def figure_parts(figure: Figure) -> list[Any]:
    """What must agree of a figure: its value, its n and the ends of its interval."""
    return [figure.value, figure.n, *(figure.interval or (None, None))]


def _judge(before: Sequence[Any], now: Sequence[Any], within: float) -> str:
    """One word for some values."""
    pairs = [(plain_value(one), plain_value(other)) for one, other in zip(before, now, strict=True)]
    if all(one == other and type(one) is type(other) for one, other in pairs):
        return SAME
    return ROUNDED if all(_agree(one, other, within) for one, other in pairs) else DIFFERS


def plain_value(value: Any) -> Value:
    """A value as JSON has it: one that is not a number is None, and whole numbers are numbers."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else None


def _agree(one: Value, other: Value, within: float) -> bool:
    """Whether two values are the same, numbers within rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= within * max(1.0, abs(one), abs(other))
    return type(one) is type(other) and one == other


def _listed(names: Iterable[str]) -> str:
    """Names in a line, cut where they are very many or long."""
    return cut_text(", ".join(names), _LONGEST)


def check(expected: Mapping[str, Mapping[str, Any]], figures: Mapping[str, Figure]) -> list[Line]:
    """Compare figures with expected values, each within its own stated tolerance, or else within rounding.

    Args:
        expected: by figure: {"value": ..., "tolerance": ...}.
        figures: those of a report.

    Raises:
        ClaimError: none of the expected figures is in the report.

    Example:
        >>> [line.judgement for line in check({"x": {"value": 0.5, "tolerance": 0.01}}, {"x": Figure(0.504)})]
        ['same within rounding']
    """
    if not set(expected) & set(figures):
        raise ClaimError(
            f"the report has none of the expected figures ({_listed(expected)}): it has {_listed(figures)}"
        )
    lines = []
    for name, wanted in expected.items():
        value = plain_value(wanted["value"])
        if name not in figures:
            lines.append(Line(name, value, None, MISSING))
            continue
        now = plain_value(figures[name].value)
        tolerance = wanted.get("tolerance")
        if isinstance(value, float) and isinstance(now, float) and tolerance is not None:
            agrees = abs(value - now) <= tolerance
        else:
            agrees = _agree(value, now, ROUNDING["float32"])
        judgement = SAME if value == now else ROUNDED if agrees else DIFFERS
        lines.append(Line(name, value, now, judgement, figures[name].searched))
    return lines
