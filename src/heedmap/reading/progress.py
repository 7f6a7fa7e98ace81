"""How long work tells how far it is: a function of (done, total, what) that nobody has to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

Item = TypeVar("Item")


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


def counted(
    receive: Callable[[Item], None], total: int, what: str, progress: Progress | None
) -> Callable[[Item], None]:
    """A receiver that also tells, after each item, how many have been received.

    Args:
        receive: what is done with each item.
        total: how many will come.
        what: the work's name.
        progress: whom to tell; None tells nobody, and gives `receive` back.

    Example:
        >>> receive = counted(lambda item: None, 2, "items", lambda *state: print(state))
        (0, 2, 'items')
        >>> receive("first")
        (1, 2, 'items')
    """
    if progress is None:
        return receive
    progress(0, total, what)
    done = 0

    def tell(item: Item) -> None:
        nonlocal done
        receive(item)
        done += 1
        progress(done, total, what)

    return tell
