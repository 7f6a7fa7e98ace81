"""The statistics there are: what each is, and how it is called and written everywhere. A new one begins here."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from heedmap.errors import OutOfRange


class Column(NamedTuple):
    """One statistic of a row of weights.

    Attributes:
        says: what it is.
        title: how the page and figures call it.
        heading: the word over its column in the terminal.
        unit: "share" (from 0 to 1), "nats" or "tokens".
        digits: after the point, in the terminal.
    """

    says: str
    title: str
    heading: str
    unit: str = "share"
    digits: int = 3


COLUMNS = {
    "first": Column("the share on the first token that is not padding", "Share on the first token", "first"),
    "itself": Column("the share on the token itself", "Share on the token itself", "itself"),
    "previous": Column("the share on the token before", "Share on the token before", "prev."),
    "special": Column(
        "the share on special tokens (begin of text, separators ...)", "Share on special tokens", "special"
    ),
    "sink": Column(
        "the share that a learned sink takes; only in models that have one", "Share on the learned sink", "sink"
    ),
    "entropy": Column("in nats, over the real tokens (a sink's own term is left out)", "Entropy", "entropy", "nats", 2),
    "normalised_entropy": Column(
        "the entropy divided by ln(keys allowed): 1 is an even look; absent where that is 0",
        "Entropy, of the largest possible",
        "of max",
        digits=2,
    ),
    "effective_tokens": Column(
        "exp(entropy): how many tokens it looks at", "Tokens it looks at, effectively", "tokens", "tokens", 1
    ),
    "distance": Column(
        "how many places back it looks on average; what looks ahead counts negative, a sink counts 0",
        "Mean distance looked back",
        "back",
        "tokens",
        1,
    ),
    "largest": Column(
        "the largest weight of the row; computed by tiles, only when asked for", "Largest weight of a row", "largest"
    ),
}
"""Every statistic by its name, in the order of the table; `statistics_measure` computes them."""

STANDARD = tuple(name for name in COLUMNS if name != "largest")
"""What is computed when nothing is said."""


def chosen_columns(only: Collection[str] | None, *, largest: bool = False) -> tuple[str, ...]:
    """The columns asked for, in the order of the table.

    Raises:
        OutOfRange: there is no such column; those there are are named.

    Example:
        >>> chosen_columns({"previous", "first"}, largest=True)
        ('first', 'previous', 'largest')
    """
    wanted = set(STANDARD if only is None else only) | ({"largest"} if largest else set())
    for name in wanted:
        if name not in COLUMNS:
            raise OutOfRange(f"there is no statistic {name!r}: take {', '.join(COLUMNS)}")
    return tuple(name for name in COLUMNS if name in wanted)
