"""The sentences under a look at a picture, in the terminal and in figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heedmap.reading.patch_row import PatchRow
from heedmap.reading.pictures import patch_name


def notes(patches: PatchRow) -> Iterator[str]:
    """What must be known to read the look, in sentences."""
    largest = ", ".join(f"{patch_name(*at)} {patches.weights[at]:.3f}" for at in patches.largest())
    rows, columns = patches.places.shape
    yield f"{rows} × {columns} patches, row and column from 0; largest: {largest}"
    even = patches.share / (rows * columns)
    yield f"{patches.share:.3f} of the look is on the picture: {even:.4f} a patch, were it even"
    broken = int((patches.row.allowed[patches.places] & np.isnan(patches.weights)).sum())
    if broken:
        yield f"not a number (nan): {broken} of {rows * columns} patches"
