"""The odds of the next token as bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.bars import Entry, bar_lines
from heedmap.drawing.labels import encodable, visible
from heedmap.drawing.palette import BLUE_BAR
from heedmap.drawing.terminal import glyphs_for, line
from heedmap.reading.odds import Odds


def odds_bars(odds: Odds) -> RenderableType:
    """The most likely next tokens, one a line, each bar as long as its probability.

    Args:
        odds: the tokens and their probabilities.
    """
    return _OddsBars(odds)


@dataclass(frozen=True)
class _OddsBars:
    """The picture, drawn when the width is known."""

    odds: Odds

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield line(f"what comes after “{self.odds.tokens.labels[-1]}”", options.encoding, "bold")
        yield Text("")
        entries = [
            Entry(
                mark=" ",
                place=str(rank),
                label=encodable(visible(candidate.text), options.encoding),
                weight=candidate.probability,
                style="",
                colour=BLUE_BAR,
            )
            for rank, candidate in enumerate(self.odds.candidates, start=1)
        ]
        yield from bar_lines(entries, options.max_width, glyphs_for(options.encoding))
        yield Text("")
        shown = sum(candidate.probability for candidate in self.odds.candidates)
        together = f"together {shown:.3f} of all that the model holds possible"
        yield line(_NO_NUMBERS if math.isnan(shown) else together, options.encoding, "dim")


_NO_NUMBERS = "not a number (nan): the model's last logits are not finite, so that no token is more likely than another"
