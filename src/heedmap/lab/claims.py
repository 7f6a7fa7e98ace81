"""Claims about a report: `sink.median > 0.4 and causal`, so that a claim can guard a model.

    claim      = condition { "and" condition }
    condition  = term comparison term | verdict | figure
    comparison = "<" | "<=" | ">" | ">=" | "==" | "!="
    term       = figure | number | word
    figure     = a figure's name, with ".low", ".high" or ".n" for the ends of its interval and its n

A verdict stands for itself (`causal`), and for those that begin with it and a comma (`not causal` is met by `not
causal, as built`); a figure alone must be true. Words are compared by == and !=.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from heedmap.errors import ClaimError
from heedmap.lab.experiment import Figure, Value
from heedmap.lab.words import value_words

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
PARTS = ("low", "high", "n")

_AND = re.compile(r"\s+and\s+")
_COMPARISON = re.compile(r"\s*(<=|>=|==|!=|<|>)\s*")
_NAME = re.compile(r"[A-Za-z][\w.@-]*(?:,? [\w.@-]+)*")


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a claim.

    Attributes:
        left: a figure, number, word or verdict.
        comparison: one of `COMPARISONS`; None where `left` stands alone.
        right: as `left`; None where `left` stands alone.
    """

    left: str
    comparison: str | None = None
    right: str | None = None

    def __str__(self) -> str:
        return self.left if self.comparison is None else f"{self.left} {self.comparison} {self.right}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition is met.

    Attributes:
        condition: as it was written.
        met: whether it is.
        found: what was found, in words.
    """

    condition: Condition
    met: bool
    found: str


def parse_claim(text: str) -> list[Condition]:
    """The conditions of a claim, all of which must be met.

    Raises:
        ClaimError: it is not of the grammar above; the message says where.

    Example:
        >>> [str(condition) for condition in parse_claim("causal and sink.median>0.4")]
        ['causal', 'sink.median > 0.4']
    """
    return [_condition(part, text) for part in _AND.split(text.strip())]


def _condition(part: str, claim: str) -> Condition:
    """One condition."""
    pieces = _COMPARISON.split(part.strip())
    terms = pieces[::2]
    for term in terms:
        if not _is_number(term) and not _NAME.fullmatch(term):
            raise ClaimError(
                f"the claim {claim!r} cannot be read at {part.strip()!r}: expected a verdict such as causal, or a "
                "comparison such as sink.median > 0.4; several are joined by and"
            )
    if len(terms) > 2:
        raise ClaimError(f"the claim {claim!r} compares three things in {part.strip()!r}: join two comparisons by and")
    if len(terms) == 1:
        if _is_number(terms[0]):
            raise ClaimError(f"the claim {claim!r} has a number alone: compare it with a figure")
        return Condition(terms[0])
    return Condition(terms[0], pieces[1], terms[1])


def check_claim(
    conditions: list[Condition], figures: Mapping[str, Figure], verdicts: Mapping[str, str], known: set[str]
) -> list[Outcome]:
    """Whether each condition of a claim is met.

    Args:
        conditions: what `parse_claim` gave.
        figures: those of the report.
        verdicts: by experiment.
        known: every verdict that the experiments can reach: another word is a mistake, not a claim that is not met.

    Raises:
        ClaimError: a figure or verdict that is not there; those that are there are listed.
    """
    return [_outcome(condition, figures, verdicts, known) for condition in conditions]


def refuse_unknown(conditions: list[Condition], patterns: Sequence[str], verdicts: set[str]) -> None:
    """Refuse a claim about what no report can have, before anything runs.

    Args:
        conditions: what `parse_claim` gave.
        patterns: every figure that there can be, `*` for what only a run tells: "sink.layer*.median".
        verdicts: every verdict that the experiments can reach.

    Raises:
        ClaimError: a figure or verdict that cannot be there; those that can are listed.

    Example:
        >>> refuse_unknown(parse_claim("sink.layer3.median.low > 0.4 and sink"), ["sink.layer*.median"], {"sink"})
    """
    for condition in conditions:
        for name in _figures_named(condition, verdicts):
            whole, _, part = name.rpartition(".")
            asked = [name, whole] if part in PARTS else [name]
            if not any(fnmatchcase(one, pattern) for one in asked for pattern in patterns):
                raise _no_such_figure(name, patterns, sorted(verdicts))


def _figures_named(condition: Condition, verdicts: set[str]) -> list[str]:
    """The terms of a condition that can only be figures: no numbers, no verdicts, no words to compare with."""
    if condition.comparison is None:
        return [] if condition.left in verdicts else [condition.left]
    words_allowed = condition.comparison in ("==", "!=")
    terms = [term for term in (condition.left, condition.right) if term is not None and not _is_number(term)]
    return [term for term in terms if "." in term or not words_allowed]


def _outcome(
    condition: Condition, figures: Mapping[str, Figure], verdicts: Mapping[str, str], known: set[str]
) -> Outcome:
    """Whether one condition is met."""
    if condition.comparison is None:
        if condition.left in known | set(verdicts.values()):
            found = "; ".join(f"{name}: {verdict}" for name, verdict in verdicts.items())
            met = any(f"{verdict}, ".startswith(f"{condition.left}, ") for verdict in verdicts.values())
            return Outcome(condition, met, found)
        value = _value(condition.left, figures, sorted(known | set(verdicts.values())))
        if not isinstance(value, bool):
            raise ClaimError(f"{condition.left} is {value_words(value)}, not true or false: compare it with a number")
        return Outcome(condition, value, f"{condition.left} is {value_words(value)}")
    assert condition.right is not None
    words_allowed = condition.comparison in ("==", "!=")
    left, right = (_term(term, figures, words_allowed) for term in (condition.left, condition.right))
    if left is None or right is None or isinstance(left, str) != isinstance(right, str):
        met = condition.comparison == "!=" and left is not None and right is not None
    else:
        met = bool(COMPARISONS[condition.comparison](left, right))
    named = [
        f"{term} is {value_words(value)}"
        for term, value in ((condition.left, left), (condition.right, right))
        if term != value and not _is_number(term)
    ]
    return Outcome(condition, met, "; ".join(named))


def _term(text: str, figures: Mapping[str, Figure], words_allowed: bool) -> Value:
    """The value of one side of a comparison; what is no figure is a word, where words can be compared."""
    if _is_number(text):
        return float(text)
    if text in ("true", "false") and words_allowed:
        return text == "true"
    if words_allowed and "." not in text and text not in figures:
        return text
    value = _value(text, figures, [])
    if isinstance(value, str) and not words_allowed:
        raise ClaimError(f"{text} is the word {value!r}, which is neither more nor less: compare it by == or !=")
    return value


def _value(name: str, figures: Mapping[str, Figure], words: list[str]) -> Value:
    """The value of a figure, or of an end of its interval.

    Raises:
        ClaimError: there is no such figure.
    """
    if name in figures:
        return figures[name].value
    whole, _, part = name.rpartition(".")
    if whole in figures and part in PARTS:
        figure = figures[whole]
        if part == "n":
            return figure.n
        if figure.interval is None:
            raise ClaimError(f"{whole} has no interval, so there is no {name}")
        return figure.interval[PARTS.index(part)]
    raise _no_such_figure(name, list(figures), words)


def _no_such_figure(name: str, figures: Sequence[str], words: Sequence[str]) -> ClaimError:
    """The error that names what is near, and lists what there is."""
    near = get_close_matches(name, [*figures, *words], n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    verdicts = f"; the verdicts: {', '.join(words)}" if words else ""
    return ClaimError(f"there is no figure {name!r}{hint} The figures: {_listed(figures)}{verdicts}")


def _listed(figures: Sequence[str]) -> str:
    """The figures by name, without those of single layers, heads and lengths, which are hundreds.

    Example:
        >>> _listed(["sink.median", "sink.layer0.median", "sink.layer1.median"])
        'sink.median, and those of single layers, heads or lengths (--json has all)'
    """
    named = [name for name in figures if not re.search(r"[\d*]", name)] or figures[:12]
    rest = ", and those of single layers, heads or lengths (--json has all)" if len(named) < len(figures) else ""
    return ", ".join(named) + rest


def _is_number(text: str) -> bool:
    """Whether a term is a number, and a finite one."""
    try:
        return math.isfinite(float(text)) and not text.isalpha()
    except ValueError:
        return False
