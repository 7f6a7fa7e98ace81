"""The interval of a share of units, such as the pairs in which both versions are right."""

from __future__ import annotations

from heedmap.errors import NumbersError
from heedmap.lab.bootstrap import CONFIDENCE


def wilson(count: int, of: int) -> tuple[float, float] | None:
    """The 95 percent Wilson score interval of a share (Wilson 1927, JASA 22, 209 to 212), by SciPy.

    Args:
        count: how many units have the property.
        of: how many there are.

    Returns:
        lowest and highest share; None where there are no units.

    Raises:
        NumbersError: more were counted than there are.

    Example:
        >>> [round(end, 3) for end in wilson(4, 5)]
        [0.376, 0.964]
    """
    from scipy.stats import binomtest

    if not 0 <= count <= of:
        raise NumbersError(f"{count} of {of} units were given: expected a count from 0 to {of}")
    if of == 0:
        return None
    ends = binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
    return float(ends.low), float(ends.high)
