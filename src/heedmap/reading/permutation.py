"""Running the same documents in several orders: planned first, so that its cost can be told before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heedmap.errors import TextError
from heedmap.reading.permute import PermutedSpans
from heedmap.reading.progress import Progress, silent
from heedmap.reading.spans import SpanShares, characters_of, spans_of_text
from heedmap.text.asking import ALL, LAST, asking
from heedmap.text.ranges import NamedSpan, Range, SpansGiven, named_spans
from heedmap.text.reorder import Reordered, chosen, orders, reorder, whole_range
from heedmap.text.spans import partition
from heedmap.text.split import split as split_text
from heedmap.text.tokens import Tokens
from heedmap.whole_numbers import one_or_several

if TYPE_CHECKING:
    from heedmap.reading.model import Model


@dataclass(frozen=True, slots=True)
class Permutation:
    """Documents to be run in several orders: planned first, so that its cost can be told.

    Attributes:
        model: the model.
        tokens: the text in its own order.
        spans: all spans, in characters.
        documents: those that change places, in the order of the text.
        orders: the orders, the own one first.
        of: who looks: "last", "all", or a span that moves with the text.
        special_tokens: as in `Model.read`.
    """

    model: Model
    tokens: Tokens
    spans: tuple[NamedSpan, ...]
    documents: tuple[NamedSpan, ...]
    orders: tuple[tuple[int, ...], ...]
    of: str | NamedSpan
    special_tokens: bool | None

    def run(self, *, layers: int | Iterable[int] | None = None, progress: Progress | None = None) -> PermutedSpans:
        """Run every order.

        Args:
            layers: the layers to measure, from 0; None measures all.
            progress: told how many orders have run.

        Raises:
            TextError: a document cannot be looked at from where it is asked, in one of the orders.
        """
        tell = progress or silent
        layers = None if layers is None else one_or_several(layers)
        ranges = [whole_range(span) for span in self.documents]
        measured = []
        for number, order in enumerate(self.orders):
            tell(number, len(self.orders), "orders")
            measured.append(self._measure(reorder(self.tokens.text, ranges, order), layers))
        tell(len(self.orders), len(self.orders), "orders")
        names = tuple(span.name for span in self.documents)
        lines = [{line.name: line for line in one.table()} for one in measured]
        of_left, times = (
            np.array([[getattr(line[name], number) for name in names] for line in lines], dtype=np.float64)
            for number in ("of_left", "times")
        )
        if np.isnan(times).any():
            hidden = names[int(np.argwhere(np.isnan(times))[0, 1])]
            raise TextError(
                f"from {measured[0].asking.name} '{hidden}' cannot be looked at in every order, so the orders cannot "
                "be compared: ask from the last token"
            )
        return PermutedSpans(names, self.orders, of_left, times, measured[0])

    def _measure(self, text: Reordered, layers: list[int] | None) -> SpanShares:
        """The shares in one order."""
        tokens = self.model.tokenize(text.text, special_tokens=self.special_tokens)
        parts = partition(tokens, [text.moved(span) for span in self.spans])
        of = self.of
        if isinstance(of, NamedSpan):
            start, end = text.moved(of).ranges[0]
            of = f"{start}:{end}"
        shares = spans_of_text(self.model, parts, of=of, layers=layers)
        return replace(shares, asking=replace(shares.asking, name=_said(self.of)))


def _said(of: str | NamedSpan) -> str:
    """Who looks, in words that hold in every order."""
    return {LAST: "its last token", ALL: "all its tokens"}[of] if isinstance(of, str) else of.name


def plan_permutation(
    model: Model,
    text: str,
    spans: SpansGiven | None = None,
    *,
    split: str | None = None,
    documents: Sequence[str] | None = None,
    of: str = LAST,
    runs: int | None = None,
    seed: int = 0,
    special_tokens: bool | None = None,
) -> Permutation:
    """Plan the orders in which documents are run.

    Args:
        model: the model.
        text: the text, in its own order.
        spans: named parts as in `Model.spans`.
        split: cut what no span holds into parts.
        documents: the names of the parts that change places; by default those that `split` found, or all spans.
        of: who looks: "last" or "all" tokens, a word, or a range, which moves with what it stands in.
        runs: how many orders, the own one included; None for all cyclic shifts.
        seed: of the random orders.
        special_tokens: as in `Model.read`.

    Raises:
        TextError: a part cannot be moved, or there is none of a name.
        OutOfRange: fewer than two documents or orders.
    """
    tokens = model.tokenize(text, special_tokens=special_tokens)
    named = [] if spans is None else named_spans(spans, tokens)
    fixed = [_in_characters(span, tokens) for span in named]
    found = []
    if split is not None:
        found = split_text(text, split, outside=[one for span in fixed for one in span.ranges])
    everything = [*fixed, *found]
    partition(tokens, everything)
    moving = (found or fixed) if documents is None else chosen(everything, documents)
    moving = sorted(moving, key=whole_range)
    return Permutation(
        model,
        tokens,
        tuple(everything),
        tuple(moving),
        tuple(orders(len(moving), runs, seed)),
        of if of in (LAST, ALL) else _asking_span(tokens, of),
        special_tokens,
    )


def _asking_span(tokens: Tokens, of: str) -> NamedSpan:
    """The characters of who looks, so that they can be followed into another order."""
    who = asking(tokens, of)
    places = characters_of(NamedSpan(who.name, ((who.tokens[0], who.tokens[-1] + 1),), "tokens"), tokens)
    if not places:
        raise TextError(f"{who.name} stands for no character of the text, so it cannot be followed: ask from the last")
    start, end = _hull(places)
    inside = tokens.text[start:end]
    return NamedSpan(who.name, ((start + len(inside) - len(inside.lstrip()), end),))


def _in_characters(span: NamedSpan, tokens: Tokens) -> NamedSpan:
    """The span as ranges of characters."""
    places = characters_of(span, tokens)
    if span.unit == "characters" or not places:
        return span
    return NamedSpan(span.name, (_hull(places),))


def _hull(places: Sequence[Range]) -> Range:
    """The range that holds them all."""
    return min(start for start, _ in places), max(end for _, end in places)
