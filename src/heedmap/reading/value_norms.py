"""Weights times the length of what they weigh: how much each token's transformed value adds to a word."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.again import run_again
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import own_module
from heedmap.reading.output_table import TABLES, candidates
from heedmap.reading.progress import Progress
from heedmap.reading.tap import Heard
from heedmap.reading.word_row import Floats, WordRow, largest_of, number_or_none, or_null

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/norms/1"

_BLOCK_NUMBERS = 1 << 22
"""Numbers of vectors that are transformed at once."""

Table = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormRow(WordRow):
    """How much each token adds to one word in one layer: the weight times the norm of the transformed value.

    Attributes, beside those of `WordRow`:
        layer: the layer, from 0.
        head: the head, from 0; None is the sum of the heads' vectors.
        norms: [key], the norm of each transformed value of the head; None where the heads are summed.
        products: [key], the norm of what each token adds.
        table: the name of the output table in the model.
        difference: how far the attention module's own output is from the heads through the table, worked again for
            the last token, as a share of its largest number.
    """

    layer: int
    head: int | None
    norms: Floats | None
    products: Floats
    table: str
    difference: float

    def largest(self, count: int = 3) -> list[int]:
        """The tokens that add most, largest first."""
        return largest_of(self.products, self.allowed, count)

    def to_json(self) -> dict[str, Any]:
        """The row as JSON: null where the word cannot look."""
        return {
            "schema": SCHEMA,
            **self.asked_to_json(),
            "layer": self.layer,
            "head": self.head,
            "weights": or_null(self.weights, self.allowed),
            "norms": None if self.norms is None else or_null(self.norms, self.allowed),
            "products": or_null(self.products, self.allowed),
            "table": self.table,
            "difference": number_or_none(self.difference),
        }

    def __str__(self) -> str:
        from heedmap.drawing.flows import norms_text

        return norms_text(self)


def value_norms(
    reading: Reading, word: str, layer: int | None, head: int | None, query_rule: str, progress: Progress | None
) -> NormRow:
    """What each token adds to a word; see `Reading.value_norms`."""
    row = reading.row(word, layer, head, query_rule=query_rule)
    if reading.reader is None:
        raise ReadingError(
            "the norms need the live model's output table, which a saved reading does not hold: load it and read again"
        )
    seen = _output_table(reading, reading.reader, row.layer, progress)
    queries = row.query if query_rule == "mean" else row.query[-1:]
    if head is None:
        norms = None
        products = torch.stack([_sums_of_heads(seen, query) for query in queries]).mean(0)
    else:
        norms = _norms_of_head(seen, head)
        products = torch.from_numpy(row.weights) * norms
    return NormRow(
        tokens=reading.tokens,
        word=row.word,
        query=row.query,
        query_rule=row.query_rule,
        layer=row.layer,
        head=head,
        weights=row.weights,
        norms=None if norms is None else norms.numpy(),
        products=products.numpy(),
        allowed=row.allowed,
        table=seen.name,
        difference=seen.difference,
        model=reading.model,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A layer's attention call with its values, and its output table as a linear function without the bias."""

    name: str
    call: AttentionCall
    value: torch.Tensor
    transform: Table
    difference: float


def _norms_of_head(seen: _Seen, head: int) -> torch.Tensor:
    """The norm of each token's value through one head's part of the table, [key] in float64."""
    shared = seen.value[0, head // (seen.call.heads // seen.call.key_value_heads)]
    width = shared.shape[-1]
    parts = []
    for block in shared.split(max(_BLOCK_NUMBERS // (seen.call.heads * width), 1)):
        joined = block.new_zeros(len(block), seen.call.heads * width)
        joined[:, head * width : (head + 1) * width] = block
        parts.append(seen.transform(joined).double().norm(dim=-1).cpu())
    return torch.cat(parts)


def _sums_of_heads(seen: _Seen, query: int) -> torch.Tensor:
    """The norm of what each token adds to one query over all heads, [key] in float64."""
    weights = seen.call.weights(slice(query, query + 1), slice(None))[0, :, 0]
    repeats = seen.call.heads // seen.call.key_value_heads
    parts = []
    step = max(_BLOCK_NUMBERS // (seen.call.heads * seen.value.shape[-1]), 1)
    for start in range(0, seen.value.shape[2], step):
        keys = slice(start, start + step)
        value = seen.value[0, :, keys].repeat_interleave(repeats, 0)
        joined = (weights[:, keys, None] * value).transpose(0, 1).flatten(1)
        parts.append(seen.transform(joined).double().norm(dim=-1).cpu())
    return torch.cat(parts)


def _output_table(reading: Reading, model: Model, layer: int, progress: Progress | None) -> _Seen:
    """Run what was read once more, and find the table that the joined heads of a layer go through.

    Raises:
        ReadingError: the second pass is not the first one.
        UnsupportedModel: none of the tables known by name does, or it does not give the module's own output.
    """
    attention = own_module(model.layers, layer)
    tables = candidates(model.module, attention)
    entered: dict[str, torch.Tensor] = {}
    left: dict[str, torch.Tensor] = {}
    heard: list[Heard] = []

    def notice(name: str) -> Any:
        def hook(_: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            own = [reading.ran.own_part(one.detach(), len(reading.tokens)) for one in (arguments[0], output)]
            entered[name], left[name] = own

        return hook

    handles = [table.register_forward_hook(notice(name)) for name, table in tables.items()]
    try:
        run_again(reading, lambda _, one: heard.append(one), layers=layer, progress=progress)
    finally:
        for handle in handles:
            handle.remove()
    joined = heard[0].output.transpose(1, 2).flatten(2)
    for name, table in tables.items():
        if name in entered and entered[name].shape == joined.shape and torch.equal(entered[name], joined):
            # The weights are the reading's own.
            return _checked(name, table, replace(heard[0], call=reading.call(layer)), left[name])
    kind = type(model.module.get_submodule(attention)).__name__
    raise UnsupportedModel(
        f"the output table of {kind} is not known, or its heads do not go straight into it "
        f"(looked for {', '.join(TABLES)} in {attention}, and output.dense beside it)"
    )


def _checked(name: str, table: nn.Module, heard: Heard, output: torch.Tensor) -> _Seen:
    """The table as a function, after it gave the module's own output for the last token, head by head."""
    call = heard.call.made_exact()
    exact = table if heard.value.dtype == call.exact_dtype else copy.deepcopy(table).to(call.exact_dtype)
    with torch.no_grad():
        bias = exact(heard.output.new_zeros(1, call.heads * heard.output.shape[-1], dtype=call.exact_dtype))

    def transform(joined: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            result: torch.Tensor = exact(joined) - bias
        return result

    last = heard.output[0, :, -1].to(call.exact_dtype)
    apart = torch.block_diag(*last.unsqueeze(1))  # [head, head x dim]: each head alone
    again = transform(apart).sum(0) + bias[0]
    largest = max(float(output[0, -1].abs().max()), 1e-6)
    difference = float((again - output[0, -1]).abs().max()) / largest
    # Rounding: eight bits of bfloat16, and a few units in the last place of float32 over some thousand additions.
    if not difference <= (5e-2 if output.dtype in (torch.float16, torch.bfloat16) else 1e-4):
        raise UnsupportedModel(
            f"{name} does not give the attention module's own output (off by {difference:.1g} of it)"
        )
    return _Seen(name, call, heard.value.to(call.exact_dtype), transform, difference)
