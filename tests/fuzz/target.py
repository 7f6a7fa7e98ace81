"""What is fuzzed: a source of cases, and what is done with each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from heedmap.errors import HeedmapError

GIBIBYTE = 2**30


@dataclass(frozen=True)
class Target:
    """One kind of hard input.

    Attributes:
        name: in a word or two, for the command line.
        says: what is fed to what, in a line of the table.
        prepare: loads what all cases need; returns the cases and what is done with one. That ends well where the
            answer is right, raises `HeedmapError` where the input is refused, and anything else is a fault.
        few: how many cases are tried by `make test`.
        many: how many by `make fuzz`.
        memory: bytes beyond what is there after `prepare` that no case may need.
        seconds: of processor time that no case may take.
    """

    name: str
    says: str
    prepare: Callable[[], tuple[SearchStrategy[Any], Callable[[Any], None]]]
    few: int
    many: int
    memory: int = GIBIBYTE
    seconds: float = 20.0


@contextmanager
def about(what: object) -> Iterator[None]:
    """Name a part of a case in the fault that is met inside the block."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from error


@contextmanager
def answers(sound: bool) -> Iterator[None]:
    """Make a refusal inside the block a fault, where nothing is wrong with the input."""
    try:
        yield
    except HeedmapError as error:
        if sound:
            raise AssertionError(f"refused though nothing is wrong with it: {error}") from error
        raise
