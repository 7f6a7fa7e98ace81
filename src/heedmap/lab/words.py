"""How the lab writes numbers, intervals and cells: the same in terminal, HTML and Markdown."""

from __future__ import annotations

import math

from heedmap.lab.experiment import Figure, Value
from heedmap.text.labels import visible

SEARCHED = "chosen by searching"
"""Said wherever something was chosen because it came out best."""


def value_words(value: Value) -> str:
    """One value: floats to three digits after the point, or as many as they need.

    Example:
        >>> [value_words(value) for value in (0.50349, 2.5e-7, 0.0, 12345, True, None, "causal")]
        ['0.503', '2.5e-07', '0', '12,345', 'yes', '–', 'causal']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return visible(value)
    if not math.isfinite(value):
        return "–"
    if value == 0 or 0.0005 <= abs(value) < 1e6:
        return "0" if value == 0 else f"{value:,.3f}"
    return f"{value:.2g}"


def interval_words(figure: Figure) -> str:
    """The interval of a figure, empty where there is none.

    Example:
        >>> interval_words(Figure(0.5, (0.41, 0.62)))
        '0.410 to 0.620'
    """
    if figure.interval is None:
        return ""
    low, high = figure.interval
    return f"{value_words(low)} to {value_words(high)}"


def in_brackets(figure: Figure) -> str:
    """The interval behind a value, in brackets; nothing where there is none.

    Example:
        >>> in_brackets(Figure(0.5, (0.41, 0.62))), in_brackets(Figure(0.5))
        (' (0.410 to 0.620)', '')
    """
    return "" if figure.interval is None else f" ({interval_words(figure)})"


def says_words(figure: Figure) -> str:
    """What a figure is, with the word that it was searched for where it was."""
    return f"{figure.says} ({SEARCHED})" if figure.searched else figure.says
