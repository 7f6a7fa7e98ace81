"""The odds of the next token as bars."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import encodable, isolate, pad, shorten, visible
from heedmap.drawing.palette import BLUE_BAR
from heedmap.drawing.terminal import glyphs_for, line
from heedmap.reading.odds import Odds

_NUMBER_CELLS = len("0.000")
_SMALLEST_BAR = 4


def odds_bars(odds: Odds, width: int | None = None) -> RenderableType:
    """The most likely next tokens, one a line, each bar as long as its probability.

    Args:
        odds: the tokens and their probabilities.
        width: at most so many cells, default all the terminal has.
    """
    return _OddsBars(odds, width)


@dataclass(frozen=True)
class _OddsBars:
    """The picture, drawn when the width is known."""

    odds: Odds
    width: int | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(self.width or options.max_width, options.max_width)
        glyphs = glyphs_for(options.encoding)
        candidates = self.odds.candidates
        labels = [encodable(visible(candidate.text), options.encoding) for candidate in candidates]
        label_cells = min(max(cell_len(label) for label in labels), 2 * width // 5)
        bar_cells = width - label_cells - _NUMBER_CELLS - 4
        yield line(f"what comes after “{self.odds.tokens.labels[-1]}”", options.encoding, "bold")
        yield Text("")
        for candidate, label in zip(candidates, labels, strict=True):
            text = Text(pad(isolate(shorten(label, label_cells, glyphs.ellipsis)), label_cells), no_wrap=True)
            text.append(f"  {candidate.probability:.3f}")
            if bar_cells >= _SMALLEST_BAR:
                text.append(f"  {glyphs.drawn_bar(bar_cells * candidate.probability)}", BLUE_BAR)
            yield text
        yield Text("")
        shown = sum(candidate.probability for candidate in candidates)
        yield line(f"together {shown:.3f} of all that the model holds possible", options.encoding, "dim")
