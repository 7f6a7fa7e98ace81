"""How much of a prompt's attention goes to each named part, as a table that can be acted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten, visible
from heedmap.drawing.layers import ShareColumn, layer_table
from heedmap.drawing.palette import BLUE_BAR, ORANGE, QUIET, SAND_BAR
from heedmap.drawing.terminal import glyphs_for, line
from heedmap.reading.spans import PartShare, SpanShares, rank
from heedmap.reading.word_row import number_or_none
from heedmap.text.spans import SET_APART, Part

LONGEST_NAME = 26
SMALLEST_BAR = 4
NOT_SHARED_OUT = (*SET_APART, "sink")
HEADS_NAMED = 3
CUTS_NAMED = 3

COLUMNS = ("tokens", "share", "of left", "a token", "times")
"""What stands over the numbers; the notes say what they are."""


def spans_table(shares: SpanShares, *, head: int | None = None) -> RenderableType:
    """The parts of a prompt with what each gets, the most looked at per token first, under one plain sentence.

    Args:
        shares: the shares.
        head: from 0; None is the mean over heads.
    """
    return _SpansTable(shares, head)


def span_layers(shares: SpanShares, *, head: int | None = None) -> RenderableType:
    """The named spans layer by layer: one line a layer, the first token at the end."""
    columns = []
    tables = [shares.table(one.layer, head) for one in shares.layers]
    for number, part in enumerate(shares.parts.parts):
        if part.kind in ("first", "span"):
            columns.append(
                ShareColumn(
                    label=part.name,
                    shares=[table[number].share for table in tables],
                    tokens=len(part.tokens),
                    first=part.kind == "first",
                )
            )
    columns.sort(key=lambda column: column.first)
    title = f"share of each part, layer by layer: {'mean over heads' if head is None else f'head {head}'}"
    return layer_table(title, [one.layer for one in shares.layers], columns)


def strongest_heads(shares: SpanShares) -> list[str]:
    """For each named span the heads that look at it most, per token, one line a span."""
    lines = []
    for number, part in enumerate(shares.parts.parts):
        if part.kind != "span":
            continue
        found = [
            (one.layer, head, table.times, table.share)
            for one in shares.layers
            for head in range(shares.heads)
            if (table := shares.table(one.layer, head)[number]).times is not None
        ]
        best = sorted(found, key=lambda entry: -(number_or_none(entry[2]) or 0.0))[:HEADS_NAMED]
        named = ", ".join(f"layer {at} head {head} ({times:.1f} times, {share:.3f})" for at, head, times, share in best)
        lines.append(f"{visible(part.name)}: {named or 'no head can look at it'}")
    return lines


def headline(shares: SpanShares, head: int | None = None) -> str:
    """One plain sentence: what the asking tokens look at most.

    Example:
        >>> import heedmap
        >>> shares = heedmap.load("smollm2").spans("The cat sat on the mat.", {"cat": (4, 7), "mat": (19, 22)})
        >>> headline(shares)
        'From its last token, smollm2 looks most at “cat” (0.11 of what the first token leaves, 0.6 times an ordinary share).'
    """  # noqa: E501 - the sentence is one line
    who, name = shares.asking.name, visible(shares.model["name"])
    table, ranked = shares.table(None, head), shares.ranked(None, head)
    best = ranked[0]
    if all(one.share is None for one in table if one.kind not in NOT_SHARED_OUT):
        return f"From {who}, {name} can look at nothing but {_takers(shares)}: what that leaves is undefined."
    if best.share is None:
        return f"From {who}, {name} can look at none of the named parts."
    if np.isnan(best.share):
        return f"From {who}, the shares of {name} are not numbers (nan): there is nothing to compare."
    if best.of_left is None:
        return f"From {who}, {name} looks at {_takers(shares)} alone: what that leaves is too little to be shared out."
    sentence = (
        f"From {who}, {name} looks most at “{visible(best.name)}” ({best.of_left:.2f} of {_left(shares)}, "
        f"{best.times:.1f} times an ordinary share)"
    )
    if best.part is not None and _stands_in(shares, best.part) and len(ranked) > 1 and ranked[1].of_left is not None:
        other = ranked[1]
        sentence += (
            f", the part it asks from; of the others at “{visible(other.name)}” ({other.of_left:.2f}, "
            f"{other.times:.1f} times)"
        )
    return f"{sentence}."


def spans_text(shares: SpanShares) -> str:
    """The table as plain text; see `SpanShares`."""
    from heedmap.drawing.terminal import to_text

    return to_text(spans_table(shares))


@dataclass(frozen=True)
class _SpansTable:
    """The table, drawn when the width is known."""

    shares: SpanShares
    head: int | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding = options.encoding
        yield line(headline(self.shares, self.head), encoding, "bold")
        yield Text("")
        entries = _in_order(self.shares.table(None, self.head))
        names = [_full_name(self.shares, one) for one in entries]
        yield from _rows(entries, names, options.max_width, encoding)
        yield Text("")
        for sentence in _notes(self.shares, self.head, entries):
            yield line(sentence, encoding, "dim")


def _in_order(table: Sequence[PartShare]) -> list[PartShare]:
    """Named spans first, the most looked at per token on top; then the rest, special tokens, first token and sink."""
    kinds = ("span", "rest", "special", "first", "sink")
    return sorted(table, key=lambda one: (kinds.index(one.kind), *rank(one)))


def _full_name(shares: SpanShares, one: PartShare) -> str:
    """The part's name, with the tokens it stands for where nobody named it."""
    tokens = shares.parts.tokens
    if one.kind == "first" and one.part is not None:
        return f"{one.name} “{tokens[one.part.tokens[0]].label}”"
    return one.name


def _rows(entries: Sequence[PartShare], names: Sequence[str], width: int, encoding: str) -> Iterator[Text]:
    """The lines of the table, and what the shares add up to."""
    glyphs = glyphs_for(encoding)
    shown = [shorten(printable(name, encoding), LONGEST_NAME, glyphs.ellipsis) for name in names]
    room = max(cell_len(name) for name in [*shown, "part"])
    bar = width - room - sum(len(column) + 2 for column in COLUMNS) - 2
    most = max(number_or_none(one.times) or 0.0 for one in entries)
    head = Text(pad("part", room), "bold", no_wrap=True, overflow="crop")
    yield head.append("".join(f"  {column}" for column in COLUMNS), "dim")
    for one, name in zip(entries, shown, strict=True):
        text = Text(pad(isolate(name), room), "" if one.kind == "span" else "dim", no_wrap=True, overflow="crop")
        count = "-" if one.part is None else str(len(one.part.tokens))
        numbers = (
            (count, "tokens"),
            (_number(one.share, 3), "share"),
            (_number(one.of_left, 3), "of left"),
            (_number(one.per_token, 4), "a token"),
            (_number(one.times, 1), "times"),
        )
        for number, column in numbers:
            text.append(f"  {number.rjust(len(column))}", ORANGE if number == "nan" else "")
        length = one.share if one.kind == "first" else (one.times or 0.0) / (most or 1.0)
        if bar >= SMALLEST_BAR and number_or_none(length):
            colour = {"first": SAND_BAR, "span": BLUE_BAR}.get(one.kind, QUIET)
            text.append("  ").append(glyphs.drawn_bar(bar * (length or 0.0)), colour)
        text.rstrip()
        yield text
    total = sum(one.share or 0.0 for one in entries)
    tokens = sum(len(one.part.tokens) for one in entries if one.part is not None)
    yield Text(f"{pad('all', room)}  {str(tokens).rjust(len('tokens'))}  {_number(total, 3)}", "dim")


def _number(value: float | None, digits: int) -> str:
    """A number, or a dash where there is none.

    Example:
        >>> _number(0.25, 3), _number(None, 3), _number(float("nan"), 3)
        ('0.250', '-', 'nan')
    """
    return "-" if value is None else f"{value:.{digits}f}"


def _takers(shares: SpanShares) -> str:
    """What is taken away before "what is left"."""
    takers = ["the first token"] if any(part.kind == "first" for part in shares.parts.parts) else []
    takers += ["special tokens"] if any(part.kind == "special" for part in shares.parts.parts) else []
    takers += ["the learned sink"] if any(one.sink.any() for one in shares.layers) else []
    return " and ".join([", ".join(takers[:-1]), takers[-1]] if len(takers) > 1 else takers)


def _left(shares: SpanShares) -> str:
    """What is shared out among the other parts."""
    takers = _takers(shares)
    return f"what {takers} {'leaves' if takers == 'the first token' else 'leave'}"


def _notes(shares: SpanShares, head: int | None, entries: Sequence[PartShare]) -> Iterator[str]:
    """What the numbers are, what was counted where, and what they do not show."""
    layers = _layers_named([one.layer for one in shares.layers])
    heads = f"mean over {shares.heads} heads" if head is None else f"head {head}"
    rows = len(shares.asking.tokens)
    yield f"{layers}, {heads}; from {shares.asking.name}{f' (mean over {rows} rows)' if rows > 1 else ''}"
    yield f"of left: of {_left(shares)}; a token: the share divided by the part's tokens that can be seen"
    yield "times: how many times an ordinary share, which an equal look at all other tokens would give"
    yield from _apart(shares)
    yield from _cuts(shares)
    if any(one.share is None for one in entries):
        yield "- as a share: cannot be looked at from there"
    if any(one.share is not None and one.of_left is None for one in entries if one.kind not in NOT_SHARED_OUT):
        yield "- as a part of what is left: undefined, since next to nothing is left"
    for number, count in shares.not_a_number().items():
        yield f"layer {number}: {count} heads are not a number (nan)"
    yield from _nearby(shares)
    yield (
        "This does not show what is done with what is looked at, nor whether the answer depends on it; "
        "and a part can be looked at for its place (--permute tells)."
    )


def _layers_named(numbers: Sequence[int]) -> str:
    """The layers that a mean is over."""
    if len(numbers) == 1:
        return f"layer {numbers[0]}"
    if list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"mean over layers {numbers[0]} to {numbers[-1]}"
    return f"mean over layers {', '.join(map(str, numbers))}"


def _apart(shares: SpanShares) -> Iterator[str]:
    """Which tokens are kept apart, and from which parts."""
    tokens = shares.parts.tokens
    for part in shares.parts.parts:
        if part.kind == "special":
            names = ", ".join(dict.fromkeys(tokens[index].label for index in part.tokens))
            holders = [visible(one.name) for one in shares.parts.parts if set(part.tokens).intersection(one.apart)]
            where = f", also those in {', '.join(holders)}" if holders else ""
            yield f"special tokens have a line of their own: {names}{where}"
        if part.kind == "first":
            holder = next((one.name for one in shares.parts.parts if part.tokens[0] in one.apart), None)
            where = "" if holder is None else f" and not counted in “{visible(holder)}”, which holds it"
            yield f"the first token, where a sink of attention often sits, is kept apart{where}"


def _cuts(shares: SpanShares) -> Iterator[str]:
    """Which tokens the ends of parts cut through, and where they count."""
    cut = shares.parts.cut
    for one in cut[:CUTS_NAMED]:
        label = shares.parts.tokens[one.token].label
        others = " and ".join(f"“{other}”" for other in one.others)
        yield f"token {one.token} ({label}) lies in “{one.part}” and {others}: it counts in “{one.part}” alone"
    if len(cut) > CUTS_NAMED:
        yield f"{len(cut) - CUTS_NAMED} more tokens are cut by the ends of parts, and count where most of each lies"


def _nearby(shares: SpanShares) -> Iterator[str]:
    """Whether the asking tokens look at the part they stand in."""
    if len(shares.asking.tokens) == len(shares.parts.tokens):
        yield "every token is asked, and each looks much at what is near: long parts get much from themselves"
        return
    for part in shares.parts.parts:
        if part.kind == "span" and _stands_in(shares, part):
            yield f"{shares.asking.name} stands in “{visible(part.name)}”, which gains by being near"


def _stands_in(shares: SpanShares, part: Part) -> bool:
    """Whether tokens that look stand in a part, while others do not look."""
    asking = shares.asking.tokens
    return len(asking) < len(shares.parts.tokens) and not set(asking).isdisjoint(part.tokens)
