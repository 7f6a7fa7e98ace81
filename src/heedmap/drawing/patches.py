"""Where in a picture a token looks, as a shaded grid in the terminal: one cell a patch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.grid import BROKEN, SHADE_EDGES
from heedmap.drawing.palette import BLUE, BLUE_256, ORANGE
from heedmap.drawing.readings import place
from heedmap.drawing.terminal import background, glyphs_for, in_colour, line, to_text
from heedmap.reading.patch_row import PatchRow

CELLS = 2
"""Terminal cells that a patch is wide: they are about twice as high as wide."""


def patch_grid(patches: PatchRow) -> RenderableType:
    """The patches where they stand, shaded from 0 to the largest weight among them."""
    return _PatchGrid(patches)


def patches_text(patches: PatchRow) -> str:
    """The same as plain text; see `PatchRow.__str__`."""
    return to_text(patch_grid(patches))


@dataclass(frozen=True)
class _PatchGrid:
    """The picture, drawn when the width is known."""

    patches: PatchRow

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from heedmap.drawing.picture_notes import notes

        row = self.patches.row
        label = row.tokens.labels[row.query[0]]
        yield line(f"where “{label}” looks: {place(row)}", options.encoding, "bold")
        yield Text("")
        yield from self._lines(console, options)
        yield Text("")
        for sentence in notes(self.patches):
            yield line(sentence, options.encoding, "dim")

    def _lines(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """A line for each row of patches, with its number."""
        weights = self.patches.weights
        allowed = self.patches.row.allowed[self.patches.places]
        top = float(np.nanmax(weights, initial=0.0, where=np.isfinite(weights))) or 1.0
        shades, digits = glyphs_for(options.encoding).shades, len(str(len(weights) - 1))
        for number, (shares, reachable) in enumerate(zip(weights / top, allowed, strict=True)):
            text = Text(f"r{number:<{digits}} ", no_wrap=True, overflow="crop")
            for share, may in zip(shares, reachable, strict=True):
                if not may:
                    text.append(" " * CELLS)
                elif np.isnan(share):
                    text.append(BROKEN * CELLS, ORANGE)
                elif in_colour(console):
                    text.append(" " * CELLS, background(float(share), BLUE, BLUE_256, console))
                else:
                    text.append(shades[int(np.searchsorted(SHADE_EDGES, share, side="right"))] * CELLS)
            yield text
