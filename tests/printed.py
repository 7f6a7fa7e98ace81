"""What is printed, compared as another pass or machine would print it: rounding moves last digits, and no word."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.conftest import ROUNDING

NUMBER = re.compile(r"[-−]?\d+(?:\.(\d+)(?:e([-+]\d+))?|%)")
"""A number that was rounded to be printed: one with decimals, or a percentage."""

BAR = re.compile("[▏▎▍▌▋▊▉█]+")
"""A bar, drawn to an eighth of a cell."""

TINY = 1e-4
"""Numbers that are printed with a power of ten and lie below this are differences of rounding themselves."""


def alike(printed: str, committed: str) -> bool:
    """Whether two outputs are equal but for what the order of additions moves, which is the processor's own.

    A number may differ by one in its last digit, a bar by an eighth of a cell: that is what a difference of 1e-7 does
    to a number that lies beside the middle of two printed ones. Differences of rounding itself (2.1e-07) are other
    numbers on every machine.
    """
    outputs = printed, committed
    # A sign that comes or goes with the last digit (-0.00) moves the spaces before it.
    first, second = (re.sub(" +", " ", BAR.sub("#", NUMBER.sub("#", text))) for text in outputs)
    if first != second:
        return False
    numbers = zip(*(NUMBER.finditer(text) for text in outputs), strict=True)
    bars = zip(*(BAR.findall(text) for text in outputs), strict=True)
    return all(numbers_alike(*pair) for pair in numbers) and all(
        abs(eighths(one) - eighths(other)) <= 1 for one, other in bars
    )


def numbers_alike(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two printed numbers differ by one in the last digit at most."""
    values = [float(found[0].replace("−", "-").rstrip("%")) for found in (one, other)]
    if one[2] and other[2] and max(map(abs, values)) < TINY:
        return True
    unit = max(10.0 ** (int(found[2] or 0) - len(found[1] or "")) for found in (one, other))
    # A hundredth more, since 0.566 - 0.565 is not 0.001 in binary.
    return abs(values[0] - values[1]) <= 1.01 * unit


def eighths(bar: str) -> int:
    """The length of a bar in eighths of a cell."""
    return sum(1 + "▏▎▍▌▋▊▉█".index(cell) for cell in bar)


def assert_same_json(found: Any, expected: Any, tolerance: float = ROUNDING, where: str = "") -> None:
    """Two values as JSON has them: equal, but for the rounding of fractions.

    Args:
        found: lists, dictionaries, texts and numbers.
        expected: the same.
        tolerance: of a fraction, of itself or of 1; by default that of two ways to a weight.
        where: the place of both in a larger value, for the message.
    """
    if isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert list(found) == list(expected), where
        for key, value in expected.items():
            assert_same_json(found[key], value, tolerance, f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), where
        assert len(found) == len(expected), where
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same_json(one, other, tolerance, f"{where}[{index}]")
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        assert math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance), f"{where}: {found} for {expected}"
    else:
        assert found == expected, where
