"""What a picture needs to know about a row or a map, as plain data: no model, no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from heedmap.errors import NumbersError

Weights = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class RowPicture:
    """One row of attention: where one word looks.

    Attributes:
        title: one line that says what is shown.
        labels: one a key token, as a person should read it.
        weights: [key] share of each key token; what stands at forbidden places is never read.
        allowed: [key] whether the word may look there; False is drawn blank, never as 0.
        special: [key] markers such as begin-of-text.
        query: the places of the word that asks, among the keys (empty where it is not one of them).
        first: the place of the first real token, drawn in sand; `None` where there is none.
        missing: the share that goes to a learned sink and so to no token.

    Raises:
        NumbersError: the parts differ in length.
    """

    title: str
    labels: Sequence[str]
    weights: Weights
    allowed: Flags
    special: Flags
    query: frozenset[int] = frozenset()
    first: int | None = 0
    missing: float = 0.0

    def __post_init__(self) -> None:
        keys = len(self.labels)
        for name in ("weights", "allowed", "special"):
            shape = np.shape(getattr(self, name))
            if shape != (keys,):
                raise NumbersError(f"a row of {keys} labels needs {keys} {name}, not an array of shape {shape}")
        outside = [place for place in sorted(self.query) if not 0 <= place < keys]
        if outside:
            raise NumbersError(f"the asking word stands at {outside}, but the row has keys 0 to {keys - 1}")


class DrawnMap(Protocol):
    """What a picture of a map asks for; the numbers are given block by block, so that they need not all be there."""

    @property
    def title(self) -> str:
        """One line that says what is shown."""

    @property
    def labels_query(self) -> Sequence[str]:
        """One a query token (a row)."""

    @property
    def labels_key(self) -> Sequence[str]:
        """One a key token (a column)."""

    @property
    def first(self) -> int | None:
        """The column of the first real token, drawn in sand; `None` where there is none."""

    @property
    def size(self) -> tuple[int, int]:
        """How many queries and keys there are."""

    def pooled(self, steps: tuple[int, int], how: Literal["mean", "largest"]) -> tuple[NDArray[np.float64], Flags]:
        """One cell for each block of `steps` rows and columns, as `heedmap.drawing.pooling.pool` makes them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MapPicture:
    """One map of attention: every row of one head, or of the mean over heads.

    Attributes:
        title: one line that says what is shown.
        labels_query: one a query token (a row).
        labels_key: one a key token (a column).
        weights: [query, key] shares; what stands at forbidden places is never read, NaN elsewhere is marked.
        allowed: [query, key] whether the row may look there; False is drawn blank, never as 0.
        first: the column of the first real token, drawn in sand; `None` where there is none.

    Raises:
        NumbersError: the parts do not fit together.
    """

    title: str
    labels_query: Sequence[str]
    labels_key: Sequence[str]
    weights: Weights
    allowed: Flags
    first: int | None = 0

    def __post_init__(self) -> None:
        check_map(self.weights, self.allowed, self.labels_query, self.labels_key)

    @property
    def size(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return len(self.labels_query), len(self.labels_key)

    def pooled(self, steps: tuple[int, int], how: Literal["mean", "largest"]) -> tuple[NDArray[np.float64], Flags]:
        """One cell for each block of cells; see `DrawnMap`."""
        from heedmap.drawing.pooling import pool

        return pool(self.weights, self.allowed, steps, how)


def check_map(weights: Weights, allowed: Flags, labels_query: Sequence[str], labels_key: Sequence[str]) -> None:
    """Refuse a map whose labels and numbers do not fit together.

    Raises:
        NumbersError: an array is not one row a query label and one column a key label, or there is no cell.
    """
    shape = (len(labels_query), len(labels_key))
    if 0 in shape:
        raise NumbersError(f"a map of {shape[0]} rows and {shape[1]} columns has no cell to show")
    for name, array in (("weights", weights), ("allowed", allowed)):
        if np.shape(array) != shape:
            raise NumbersError(
                f"{shape[0]} query labels and {shape[1]} key labels need {name} of shape {shape}, not {np.shape(array)}"
            )
