"""Whether two sets of figures agree: a report and its rerun, or a report and what was expected of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedmap.cut_text import cut_text
from heedmap.errors import ClaimError
from heedmap.lab.experiment import Figure, Value
from heedmap.lab.words import value_words

SAME, ROUNDED, DIFFERS, MISSING, NEW = "same", "same within rounding", "differs", "missing", "new"

_LONGEST = 1000
"""Characters of names in an error."""

ROUNDING = 1e-5
"""How far numbers may lie apart, relative to the larger one or absolutely, and still be the same within rounding: what
other kernels or another machine make of float32, whose own step is 1e-7."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of both.

    Attributes:
        name: of the figure.
        before: in the report, or as it is expected.
        now: what was found.
        judgement: "same", "same within rounding", "differs", "missing" (not found now) or "new".
        searched: whether it was chosen by searching.
    """

    name: str
    before: Value
    now: Value
    judgement: str
    searched: bool = False

    @property
    def agrees(self) -> bool:
        """Whether it is the same, or the same within rounding."""
        return self.judgement in (SAME, ROUNDED)

    def __str__(self) -> str:
        return f"{self.name}: {value_words(self.before)} -> {value_words(self.now)}, {self.judgement}"


def compare(before: Mapping[str, Figure], now: Mapping[str, Figure]) -> list[Line]:
    """Figure by figure, values and intervals.

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
            lines.append(Line(name, old.value, new.value, _judge(_numbers(old), _numbers(new)), searched))
    return lines


def _numbers(figure: Figure) -> list[Any]:
    """What must agree of a figure: its value, its n and the ends of its interval."""
    return [figure.value, figure.n, *(figure.interval or (None, None))]


def _judge(before: Sequence[Any], now: Sequence[Any]) -> str:
    """One word for some values."""
    pairs = [(plain_value(one), plain_value(other)) for one, other in zip(before, now, strict=True)]
    if all(one == other and type(one) is type(other) for one, other in pairs):
        return SAME
    return ROUNDED if all(_close(one, other) for one, other in pairs) else DIFFERS


def plain_value(value: Any) -> Value:
    """A value as JSON has it: one that is not a number is None, and whole numbers are numbers."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else None


def _close(one: Value, other: Value, tolerance: float | None = None) -> bool:
    """Whether two values agree within a tolerance, or within rounding."""
    if isinstance(one, float) and isinstance(other, float):
        if tolerance is not None:
            return abs(one - other) <= tolerance
        return abs(one - other) <= ROUNDING * max(1.0, abs(one), abs(other))
    return type(one) is type(other) and one == other


def _listed(names: Iterable[str]) -> str:
    """Names in a line, cut where they are very many or long."""
    return cut_text(", ".join(names), _LONGEST)


def check(expected: Mapping[str, Mapping[str, Any]], figures: Mapping[str, Figure]) -> list[Line]:
    """Compare figures with expected values, each within its own stated tolerance.

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
        agrees = _close(value, now, float(wanted.get("tolerance") or 0.0))
        judgement = SAME if value == now else ROUNDED if agrees else DIFFERS
        lines.append(Line(name, value, now, judgement, figures[name].searched))
    return lines
