"""How much of a text's attention goes to each named part: which of my documents does the model look at?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.errors import OutOfRange, ReadingError, TextError
from heedmap.reading.cost import Cost, estimate
from heedmap.reading.forward import predicts_next_token
from heedmap.reading.progress import Progress
from heedmap.reading.span_shares import LayerShares, SpanMeter
from heedmap.reading.tap import Heard
from heedmap.reading.word_row import Floats, number_or_none
from heedmap.text.asking import ALL, LAST, Asking, asking
from heedmap.text.ranges import NamedSpan, SpansGiven, named_spans
from heedmap.text.spans import SET_APART, Part, Parts, partition
from heedmap.text.split import split as split_text
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.reading.model import Model
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/spans/1"
SINK = "learned sink"

_LEAST_LEFT = 1e-4
"""What the tokens set apart leave must be more than this to be divided by: float32 knows it to about 1e-6."""


@dataclass(frozen=True, slots=True)
class PartShare:
    """What one part gets, in one head or as a mean over heads or layers.

    Attributes:
        part: the part; None for a learned sink.
        share: the sum of the weights on its tokens, the mean over the rows that look; None when none of them may look
            at it.
        of_left: the share divided by what the first token, special tokens and a learned sink leave; None where that is
            nothing (or under 1e-4, too little to divide by), and for these.
        per_token: the share divided by how many of its tokens a row may look at.
        ordinary: the share that an equal look at all tokens but those would give it.
        times: the share divided by the ordinary one: 1 is what an equal look would give, whatever the length; None
            where `of_left` is.
    """

    part: Part | None
    share: float | None
    of_left: float | None = None
    per_token: float | None = None
    ordinary: float | None = None
    times: float | None = None

    @property
    def name(self) -> str:
        """What the part is called."""
        return SINK if self.part is None else self.part.name

    @property
    def kind(self) -> str:
        """The part's kind: "first", "span", "special", "rest" or "sink"."""
        return "sink" if self.part is None else self.part.kind

    def to_json(self) -> dict[str, Any]:
        """The numbers by their names; null where there is none."""
        numbers = ("share", "of_left", "per_token", "ordinary", "times")
        return {"part": self.name, "kind": self.kind} | {name: number_or_none(getattr(self, name)) for name in numbers}


@dataclass(frozen=True, slots=True, eq=False)
class SpanShares:
    """The shares of all parts of a text, layer by layer and head by head; `print` shows them as a table.

    Attributes:
        parts: the parts, and which tokens belong to each.
        asking: the tokens that look; every number is a mean over their rows.
        layers: the layers measured.
        model: what the numbers were measured on.
    """

    parts: Parts
    asking: Asking
    layers: tuple[LayerShares, ...]
    model: dict[str, Any]

    @property
    def heads(self) -> int:
        """Number of heads in a layer."""
        return len(self.layers[0].shares)

    def table(self, layer: int | None = None, head: int | None = None) -> list[PartShare]:
        """What each part gets, in the order of `parts`; with a learned sink, its line at the end.

        Args:
            layer: from 0; None is the mean over the layers measured.
            head: from 0; None is the mean over heads.

        Raises:
            ReadingError: the layer was not measured.
            OutOfRange: no such head.
        """
        shares, ordinary, seen, sink = self._means(layer, head)
        others = np.array([part.kind not in SET_APART for part in self.parts.parts])
        left = 1.0 - float(shares[~others].sum()) - sink if seen[others].any() else 0.0
        lines = [
            _part_share(part, float(shares[number]), float(ordinary[number]), float(seen[number]), left)
            for number, part in enumerate(self.parts.parts)
        ]
        return [*lines, PartShare(None, sink)] if sink else lines

    def share(self, name: str, layer: int | None = None, head: int | None = None) -> PartShare:
        """What one part gets; arguments as in `table`.

        Raises:
            TextError: no part of this name; their names are listed.

        Example:
            >>> import heedmap
            >>> shares = heedmap.load("smollm2").spans("The cat sat on the mat.", {"cat": (4, 7), "mat": (19, 22)})
            >>> 0 < shares.share("cat").share < 1
            True
        """
        lines = {line.name: line for line in self.table(layer, head)}
        if name not in lines:
            raise TextError(f"no part is called '{name}'; there are: {', '.join(lines)}")
        return lines[name]

    def ranked(self, layer: int | None = None, head: int | None = None) -> list[PartShare]:
        """The named spans, the most looked at per token first; those that cannot be looked at, or are nan, last."""
        spans = [line for line in self.table(layer, head) if line.kind == "span"]
        return sorted(spans, key=rank)

    def not_a_number(self) -> dict[int, int]:
        """How many heads of which layers are not a number though a row may look; layers without any are left out."""
        counts = {one.layer: int((np.isnan(one.shares) & ~np.isnan(one.seen)).any(1).sum()) for one in self.layers}
        return {layer: count for layer, count in counts.items() if count}

    def _means(self, layer: int | None, head: int | None) -> tuple[Floats, Floats, Floats, float]:
        """Shares, ordinary shares and tokens seen, each [part], and the sink's share."""
        chosen = [one for one in self.layers if layer in (None, one.layer)]
        if not chosen:
            there = ", ".join(str(one.layer) for one in self.layers)
            raise ReadingError(f"layer {layer} was not measured (measured: {there}): ask for it with layers={layer}")
        if head is not None and not 0 <= head < self.heads:
            raise OutOfRange(f"head {head} is out of range: a layer has {self.heads} heads, 0 to {self.heads - 1}")
        heads = slice(None) if head is None else slice(head, head + 1)
        shares, ordinary, seen = (
            np.mean([getattr(one, name)[heads].mean(0) for one in chosen], axis=0)
            for name in ("shares", "ordinary", "seen")
        )
        return shares, ordinary, seen, float(np.mean([one.sink[heads].mean() for one in chosen]))

    def rows(self, *, per_head: bool = False) -> list[dict[str, Any]]:
        """All numbers, one row a part: for the mean over layers (layer None), then layer by layer (head None).

        Args:
            per_head: also one row a part for each head of each layer.
        """
        heads: list[int | None] = [None, *(range(self.heads) if per_head else [])]
        places = [(None, None), *((one.layer, head) for one in self.layers for head in heads)]
        return [
            {"layer": layer, "head": head} | line.to_json()
            for layer, head in places
            for line in self.table(layer, head)
        ]

    def to_json(self, *, per_head: bool = False) -> dict[str, Any]:
        """The parts, who looks, and all `rows`, as JSON."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.parts.tokens.text,
            "tokens": self.parts.tokens.to_json(),
            "of": {"name": self.asking.name, "tokens": list(self.asking.tokens)},
            "parts": [_part_json(part) for part in self.parts.parts],
            "cut": [{"token": one.token, "part": one.part, "others": list(one.others)} for one in self.parts.cut],
            "rows": self.rows(per_head=per_head),
        }

    def plot(self, ax: Axes | None = None, *, head: int | None = None) -> Axes:
        """Draw layers against parts with matplotlib, for one head or the mean, and return the Axes."""
        from heedmap.drawing.span_figure import plot_span_layers

        return plot_span_layers(self, head=head, ax=ax)

    def __str__(self) -> str:
        from heedmap.drawing.spans import spans_text

        return spans_text(self)


def rank(line: PartShare) -> tuple[bool, float]:
    """What to sort by, so that the most looked at per token comes first, and what has no number last."""
    often = number_or_none(line.times)
    return often is None, -(often or 0.0)


def _part_share(part: Part, share: float, ordinary: float, seen: float, left: float) -> PartShare:
    """One line of the table from the means."""
    if np.isnan(seen) or seen == 0.0:
        return PartShare(part, None)
    if part.kind in SET_APART:
        return PartShare(part, share, per_token=share if part.kind == "first" else share / seen)
    if left <= _LEAST_LEFT:
        return PartShare(part, share, None, share / seen, ordinary)
    return PartShare(part, share, share / left, share / seen, ordinary, share / ordinary)


def _part_json(part: Part) -> dict[str, Any]:
    span = part.span
    return {
        "name": part.name,
        "kind": part.kind,
        "tokens": list(part.tokens),
        "apart": list(part.apart),
        "ranges": None if span is None else [list(one) for one in span.ranges],
        "unit": None if span is None else span.unit,
    }


def parts_of_text(tokens: Tokens, spans: SpansGiven | None, split: str | None = None) -> Parts:
    """The parts of a text by named spans, by a rule for splitting, or by both: then the rule cuts what no span holds.

    What a rule finds where the text was cut off, or without a token that counts, is no part.

    Raises:
        TextError: neither was given, or they do not fit the text.
        OutOfRange: a span reaches outside the text.
    """
    if spans is None and split is None:
        raise TextError("no part was named: give spans (instructions=0:812) or a rule to split by (paragraphs)")
    named = [] if spans is None else named_spans(spans, tokens)
    if split is None:
        return partition(tokens, named)
    outside = [one for span in named for one in characters_of(span, tokens)]
    if tokens.cut_off:
        outside.append((tokens.seen[1], len(tokens.text)))
    found = split_text(tokens.text, split, outside=outside)
    return partition(tokens, named or None, found=found)


def characters_of(span: NamedSpan, tokens: Tokens) -> list[tuple[int, int]]:
    """The characters that a span holds, also of one that counts tokens."""
    if span.unit == "characters":
        return list(span.ranges)
    places = [(token.start, token.end) for start, end in span.ranges for token in tokens[start:end]]
    return [(start, end) for start, end in places if start is not None and end is not None and start < end]


def cost_of_spans(model: Model, tokens: Tokens) -> Cost:
    """What measuring one text costs at most: the pass, and one more attention call a layer."""
    return estimate(model.module, model.layers, len(tokens), attention_calls=2)


def spans_of_text(
    model: Model,
    parts: Parts,
    *,
    of: str | None = None,
    layers: int | Iterable[int] | None = None,
    progress: Progress | None = None,
) -> SpanShares:
    """The body of `Model.spans`: each layer is measured as it passes, and nothing of it is kept."""
    who = asking(parts.tokens, of or (LAST if predicts_next_token(model.module) else ALL))
    cost_of_spans(model, parts.tokens).require()
    meter = SpanMeter(parts, who.tokens)
    measured: list[LayerShares] = []

    def receive(layer: int, heard: Heard) -> None:
        measured.append(meter.measure(layer, heard.call))

    model.listen(parts.tokens, receive, layers=layers, progress=progress)
    return SpanShares(parts, who, tuple(measured), model.describe())


def spans_of_reading(
    reading: Reading,
    spans: SpansGiven | None,
    split: str | None,
    *,
    of: str | None,
    layers: int | Sequence[int] | None,
) -> SpanShares:
    """The body of `Reading.spans`."""
    numbers = reading.kept_numbers(layers)
    who = asking(reading.tokens, of or (ALL if reading.logits is None else LAST))
    meter = SpanMeter(parts_of_text(reading.tokens, spans, split), who.tokens)
    measured = tuple(meter.measure(number, reading.call(number)) for number in numbers)
    return SpanShares(meter.parts, who, measured, reading.model)
