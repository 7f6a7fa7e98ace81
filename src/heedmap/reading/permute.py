"""How much of what a document gets is owed to its place: the shares of the same documents in several orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedmap.reading.spans import SpanShares
from heedmap.reading.word_row import Floats, number_or_none

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "heedmap/permuted-spans/1"

_SAME = 1e-5
"""Differences of the shares below this are rounding: the same tokens run in two orders."""


@dataclass(frozen=True, slots=True)
class Owed:
    """What the differences between the shares go with, as parts of their sum of squares.

    Attributes:
        place: with the place and not with the document.
        document: with the document and not with the place.
        neither: with neither alone: how the two meet, the neighbours, and what orders that are not balanced cannot tell
            apart.
    """

    place: float
    document: float
    neither: float


@dataclass(frozen=True, slots=True, eq=False)
class PermutedSpans:
    """The shares of documents in several orders; the first is their own.

    Attributes:
        names: the documents, in their own order.
        orders: [run] the number of the document in each place.
        of_left: [run, document] the share of what the first token leaves, the mean over layers and heads.
        times: [run, document] how many times an ordinary share.
        own: the shares of all parts in the own order.
    """

    names: tuple[str, ...]
    orders: tuple[tuple[int, ...], ...]
    of_left: Floats
    times: Floats
    own: SpanShares

    @property
    def places(self) -> NDArray[np.int64]:
        """[run, document] the place of each document, from 0."""
        return np.argsort(np.array(self.orders), axis=1)

    def by_place(self, values: Floats) -> Floats:
        """[place] the mean of `of_left` or `times` over the documents that stood there."""
        places = self.places
        return np.array([np.mean(values[places == place]) for place in range(len(self.names))])

    def in_place(self, values: Floats) -> Floats:
        """[document, place] the mean over the runs in which a document stood in a place; NaN where it never did."""
        places = self.places
        table = np.full((len(self.names), len(self.names)), np.nan)
        for document, place in np.ndindex(table.shape):
            there = places[:, document] == place
            if there.any():
                table[document, place] = values[there, document].mean()
        return table

    def owed(self) -> Owed | None:
        """How the differences between the documents' shares per token (`times`) go with place and document.

        By least squares: each share is a sum of one number for the document and one for the place. What the fit gains
        when the places are added to the documents goes with the place, and the other way round; with cyclic shifts
        this is the analysis of variance of a Latin square (Fisher 1935, The Design of Experiments, chapter 5).

        Returns:
            None when the shares do not differ by more than rounding.
        """
        values = self.times.ravel()
        total = float(((values - values.mean()) ** 2).sum())
        if not np.ptp(values) > _SAME * max(abs(values).max(), 1.0):
            return None
        documents = np.tile(np.eye(len(self.names)), (len(self.orders), 1))
        places = np.eye(len(self.names))[self.places.ravel()]
        both = _misfit(np.hstack([documents, places]), values)
        place, document = _misfit(documents, values) - both, _misfit(places, values) - both
        return Owed(place / total, document / total, (total - place - document) / total)

    def rows(self) -> list[dict[str, Any]]:
        """One row a run and document: where it stood, and what it got."""
        places = self.places
        return [
            {"run": run, "place": int(places[run, number]), "document": name}
            | _pair(self.of_left[run, number], self.times[run, number])
            for run in range(len(self.orders))
            for number, name in enumerate(self.names)
        ]

    def to_json(self) -> dict[str, Any]:
        """The numbers of each document, each place and each run."""
        owed = self.owed()
        return {
            "schema": SCHEMA,
            "model": self.own.model,
            "text": self.own.parts.tokens.text,
            "of": {"name": self.own.asking.name, "tokens": list(self.own.asking.tokens)},
            "layers": [one.layer for one in self.own.layers],
            "documents": [
                {
                    "name": name,
                    "place": number,
                    "own": _pair(self.of_left[0, number], self.times[0, number]),
                    "mean": _pair(self.of_left[:, number].mean(), self.times[:, number].mean()),
                }
                for number, name in enumerate(self.names)
            ],
            "places": [
                {"place": place} | _pair(of_left, times)
                for place, (of_left, times) in enumerate(
                    zip(self.by_place(self.of_left), self.by_place(self.times), strict=True)
                )
            ],
            "owed": None if owed is None else {"place": owed.place, "document": owed.document, "neither": owed.neither},
            "orders": [list(order) for order in self.orders],
            "rows": self.rows(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw documents against places with matplotlib and return the Axes."""
        from heedmap.drawing.span_figure import plot_span_places

        return plot_span_places(self, ax=ax)

    def __str__(self) -> str:
        from heedmap.drawing.permuted import permuted_text

        return permuted_text(self)


def _pair(of_left: float, times: float) -> dict[str, float | None]:
    return {"of_left": number_or_none(float(of_left)), "times": number_or_none(float(times))}


def _misfit(columns: NDArray[np.float64], values: Floats) -> float:
    """The sum of squares that the best sum of these columns leaves."""
    weights = np.linalg.lstsq(columns, values, rcond=None)[0]
    return float(((values - columns @ weights) ** 2).sum())
