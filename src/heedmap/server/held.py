"""The models and readings that the worker holds: as many as fit a bound, the longest unused let go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Held(Generic[Thing]):
    """Things by name, with a bound on what they weigh together.

    Args:
        bound: the most they may weigh; the newest is held whatever it weighs.

    Example:
        >>> held = Held[str](10)
        >>> [held.put(name, name.upper(), 6) for name in ("a", "b")]
        [[], ['a']]
        >>> held.get("a"), held.get("b")
        (None, 'B')
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._things: OrderedDict[str, tuple[Thing, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Thing | None:
        """The thing of a name, now the one used last; None when it is not held."""
        with self._lock:
            if name not in self._things:
                return None
            self._things.move_to_end(name)
            return self._things[name][0]

    def put(self, name: str, thing: Thing, weight: int) -> list[str]:
        """Hold a thing, and let go what no longer fits; the names let go."""
        with self._lock:
            self._things[name] = (thing, weight)
            self._things.move_to_end(name)
            gone = []
            while len(self._things) > 1 and sum(one for _, one in self._things.values()) > self._bound:
                gone.append(self._things.popitem(last=False)[0])
            return gone

    def drop(self, name: str) -> bool:
        """Let a thing go; whether it was held."""
        with self._lock:
            return self._things.pop(name, None) is not None

    def get_or_make(self, name: str, make: Callable[[], Thing], weight: int) -> Thing:
        """The thing of a name, made when it is not held; by one thread at a time."""
        found = self.get(name)
        if found is None:
            found = make()
            self.put(name, found, weight)
        return found

    @property
    def weight(self) -> int:
        """What all of them weigh together."""
        with self._lock:
            return sum(weight for _, weight in self._things.values())
