"""How much of a document's share was its place, as two tables under one plain sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten, visible
from heedmap.drawing.terminal import glyphs_for, line
from heedmap.reading.permute import PermutedSpans

LONGEST_NAME = 26
HALF = 0.5


def permuted_table(permuted: PermutedSpans) -> RenderableType:
    """What each document gets in its own place and over all places, and what each place gives.

    Args:
        permuted: the shares in several orders.
    """
    return _PermutedTable(permuted)


def permuted_headline(permuted: PermutedSpans) -> str:
    """One plain sentence: how much of the differences is place."""
    owed, runs, parts = permuted.owed(), len(permuted.orders), len(permuted.names)
    name = visible(permuted.own.model["name"])
    about = f"from {permuted.own.asking.name} of {name}, over {runs} orders of {parts} parts"
    if owed is None:
        return f"No part gets more per token than another, whatever its place ({about})."
    sentence = (
        f"{owed.place:.0%} of the differences between the parts' shares per token go with the place, "
        f"{owed.document:.0%} with the part itself, {owed.neither:.0%} with neither alone ({about})."
    )
    if owed.place > HALF:
        return f"Mostly place: {sentence}"
    return f"Mostly what the part says: {sentence}" if owed.document > HALF else f"Not one thing: {sentence}"


def permuted_text(permuted: PermutedSpans) -> str:
    """The tables as plain text; see `PermutedSpans`."""
    from heedmap.drawing.terminal import to_text

    return to_text(permuted_table(permuted))


@dataclass(frozen=True)
class _PermutedTable:
    """The tables, drawn when the width is known."""

    permuted: PermutedSpans

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding = options.encoding
        yield line(permuted_headline(self.permuted), encoding, "bold")
        yield Text("")
        yield from _documents(self.permuted, encoding)
        yield Text("")
        yield from _places(self.permuted)
        yield Text("")
        for sentence in _notes(self.permuted):
            yield line(sentence, encoding, "dim")


def _documents(permuted: PermutedSpans, encoding: str) -> Iterator[Text]:
    """One line a document, the most looked at over all places first."""
    glyphs = glyphs_for(encoding)
    names = [shorten(printable(name, encoding), LONGEST_NAME, glyphs.ellipsis) for name in permuted.names]
    room = max(cell_len(name) for name in [*names, "part"])
    means = permuted.times.mean(0)
    yield _line("part", room, ["place", "of left: own", "mean", "times: own", "mean", "its place"], "bold")
    for number in sorted(range(len(names)), key=lambda one: -means[one]):
        own, mean = permuted.times[0, number], means[number]
        yield _line(
            names[number],
            room,
            [
                f"{number + 1}".rjust(5),
                f"{permuted.of_left[0, number]:.3f}".rjust(12),
                f"{permuted.of_left[:, number].mean():.3f}",
                f"{own:.2f}".rjust(10),
                f"{mean:.2f}",
                f"{own - mean:+.2f}".rjust(9),
            ],
        )


def _places(permuted: PermutedSpans) -> Iterator[Text]:
    """One line a place, in their order."""
    yield _line("place", 5, ["of left", "times"], "bold")
    of_left, times = permuted.by_place(permuted.of_left), permuted.by_place(permuted.times)
    for place, (left, often) in enumerate(zip(of_left, times, strict=True), start=1):
        yield _line(str(place), 5, [f"{left:.3f}".rjust(7), f"{often:.2f}".rjust(5)])


def _line(name: str, room: int, numbers: Sequence[str], style: str = "") -> Text:
    """A name and its numbers."""
    text = Text(pad(isolate(name), room), style, no_wrap=True, overflow="crop")
    for number in numbers:
        text.append("  " + number.rjust(5))
    return text


def _notes(permuted: PermutedSpans) -> Iterator[str]:
    """What the numbers are and what they do not show."""
    layers = permuted.own.layers
    heads = permuted.own.heads
    yield f"means over {len(layers)} layers x {heads} heads; places count from 1, the first in the text"
    yield (
        "of left: of what the first token and special tokens leave; times: how many times an ordinary share, so that "
        "length is out"
    )
    yield "its place: what a part gets in its own place over its mean over all places"
    moved = len(permuted.names)
    cyclic = permuted.orders == tuple(tuple((p + s) % moved for p in range(moved)) for s in range(moved))
    if cyclic:
        yield "the orders are cyclic shifts: each part stood once in each place, mostly after the same neighbour"
    yield "This does not show whether the answer depends on the place, only where the model looks."
