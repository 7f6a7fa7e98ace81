"""What the tokens of a text receive, in the terminal: those that get most of the looks they could get."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten
from heedmap.drawing.palette import BLUE_BAR
from heedmap.drawing.statistics import one_line
from heedmap.drawing.terminal import glyphs_for, line, to_text
from heedmap.reading.statistics_received import Received

FEWEST_LOOKERS = 0.05
"""Tokens are ranked by what they receive where at least this share of the text may look at them."""

BAR_CELLS = 20
LABEL_CELLS = 24


def received_lines(received: Received, count: int = 10) -> RenderableType:
    """The tokens that receive most, with how many tokens may look at them.

    Args:
        received: what each token receives.
        count: how many tokens to show.

    Example:
        >>> import numpy as np
        >>> from heedmap.text.tokens import Token, Tokens
        >>> tokens = Tokens("The cat", (Token(0, 1, "The", 0, 3), Token(1, 2, " cat", 3, 7)))
        >>> model = {"name": "smollm2"}
        >>> sums, lookers = np.array([1.75, 0.25]), np.array([2, 1])
        >>> print(to_text(received_lines(Received(tokens, 12, 3, sums, lookers, model), 1)))
        what tokens receive in smollm2: layer 12, head 3
        <BLANKLINE>
          received  all of it  lookers  token
             0.875       1.75        2      0  The  ████████████████████
        <BLANKLINE>
        received: mean weight from the tokens that may look at it; all of it: the sum
    """
    return _ReceivedLines(received, count)


def received_text(received: Received) -> str:
    """What tokens receive in plain text."""
    return to_text(received_lines(received))


@dataclass(frozen=True)
class _ReceivedLines:
    """The tokens that receive most."""

    received: Received
    count: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        received, encoding = self.received, options.encoding
        place = ", ".join(
            f"{name} {n}" for name, n in (("layer", received.layer), ("head", received.head)) if n is not None
        )
        over = place if received.head is not None else f"{place or 'all layers'}, the mean over heads"
        glyphs = glyphs_for(encoding)
        fewest = int(FEWEST_LOOKERS * len(received.tokens))
        shown = received.largest(self.count, lookers=fewest)
        top = max((float(received.corrected[index]) for index in shown), default=0.0)
        yield line(f"what tokens receive in {received.model['name']}: {over}", encoding, "bold")
        yield Text("")
        yield one_line("  received  all of it  lookers  token", "bold")
        labels = {index: printable(received.tokens[index].label, encoding) for index in shown}
        room = min(max((len(label) for label in labels.values()), default=0), LABEL_CELLS)
        for index, label in labels.items():
            share = float(received.corrected[index])
            numbers = f"{share:10.3f}  {received.sums[index]:9.2f}  {received.lookers[index]:7.0f}  {index:5}  "
            named = pad(isolate(shorten(label, room, glyphs.ellipsis)), room)
            bar = glyphs.drawn_bar(BAR_CELLS * share / top) if top else ""
            yield one_line(numbers + named + "  ").append(bar, BLUE_BAR)
        yield Text("")
        yield line("received: mean weight from the tokens that may look at it; all of it: the sum", encoding, "dim")
        if fewest > 1:
            yield line(f"ranked: tokens that at least {fewest} may look at", encoding, "dim")
