"""One token's look at the patches of a picture: which share of its attention each gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedmap.reading.row import Row
from heedmap.reading.word_row import Floats, number_or_none

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = "heedmap/patches/1"


@dataclass(frozen=True, slots=True, eq=False)
class PatchRow:
    """Where in a picture one token looks, in one layer, in one head or in the mean over heads.

    Attributes:
        row: its whole row, with what stands beside the picture.
        places: the positions of the patches in the row, [row, column].
        picture: [height, width, 3], what the model saw.
    """

    row: Row
    places: NDArray[np.int64]
    picture: NDArray[np.uint8]

    @property
    def weights(self) -> Floats:
        """The weight on each patch, [row, column], as shares of the whole row; NaN where it cannot look."""
        found = np.where(self.row.allowed, self.row.weights, np.nan)
        return np.asarray(found[self.places])

    @property
    def share(self) -> float:
        """The share of the look that goes to the picture; the rest goes to the class token, and to text."""
        return float(self.row.weights[self.places].sum())

    def largest(self, count: int = 3) -> list[tuple[int, int]]:
        """The patches with the largest weights, largest first, by row and column."""
        weights = self.weights
        order = np.argsort(-np.nan_to_num(weights, nan=-1.0), axis=None, kind="stable")[:count]
        pairs = [np.unravel_index(int(one), weights.shape) for one in order]
        return [(int(row), int(column)) for row, column in pairs if not np.isnan(weights[row, column])]

    def to_json(self) -> dict[str, Any]:
        """The look as JSON: a list of weights for each row of patches, null where the token cannot look."""
        return {
            "schema": SCHEMA,
            "model": self.row.model,
            "word": self.row.word,
            "query": list(self.row.query),
            "layer": self.row.layer,
            "head": self.row.head,
            "height": self.picture.shape[0],
            "width": self.picture.shape[1],
            "patches": [[number_or_none(weight) for weight in line] for line in self.weights.tolist()],
            "share": number_or_none(self.share),
            "sum": number_or_none(self.row.sum),
            "sink": number_or_none(self.row.sink),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the weights over the picture with matplotlib and return the Axes."""
        from heedmap.drawing.picture_figure import plot_patches

        return plot_patches(self, ax=ax)

    def __str__(self) -> str:
        from heedmap.drawing.patches import patches_text

        return patches_text(self)
