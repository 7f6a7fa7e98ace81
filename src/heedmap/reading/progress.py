"""How long work tells how far it is: a function of (done, total, what) that nobody has to give."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told how far some work is; it must be cheap, and must not raise.

    It is called with `done` 0 before the first step where that can be slow, and with `done` == `total` at the end.
    """

    def __call__(self, done: int, total: int, what: str, /) -> None:
        """`done` of `total` steps of the work called `what` ("reading layers", "statistics" ...) are over."""


def silent(done: int, total: int, what: str, /) -> None:
    """Tell nobody.

    Example:
        >>> silent(1, 30, "reading layers")
    """
