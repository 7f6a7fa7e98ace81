"""Whether more units went one way than the other: the exact sign test."""

from __future__ import annotations

from heedmap.errors import NumbersError


def sign_test(one_way: int, other_way: int) -> float | None:
    """The chance of a split at least as uneven, in either direction, if each way were as likely: exact, by SciPy.

    Args:
        one_way: how many units went one way; those that went neither way are left out.
        other_way: how many went the other.

    Returns:
        a p-value, two-sided; None where no unit went either way.

    Raises:
        NumbersError: a count below 0.

    Example:
        >>> sign_test(7, 1), sign_test(0, 0)
        (0.0703125, None)
    """
    from scipy.stats import binomtest

    if min(one_way, other_way) < 0:
        raise NumbersError(f"{one_way} units one way and {other_way} the other were given: expected counts from 0")
    if one_way + other_way == 0:
        return None
    return float(binomtest(one_way, one_way + other_way).pvalue)
