"""The names that figures can have, written short: they are known before a run, so that a claim can be checked."""

from __future__ import annotations

import re
from itertools import product


def spelled(*names: str) -> tuple[str, ...]:
    """Names with their alternatives spelled out; `*` stays, for a layer's number and whatever else a run tells.

    Args:
        names: each several names with spaces between, alternatives in braces.

    Example:
        >>> spelled("p best.{layer,head}", "layer*.median")
        ('p', 'best.layer', 'best.head', 'layer*.median')
    """
    words = [word for one in names for word in one.split()]
    choices = [[piece.split(",") for piece in re.split("[{}]", word)] for word in words]
    return tuple("".join(choice) for one in choices for choice in product(*one))
