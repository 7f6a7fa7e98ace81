"""One text out of a batch: its own row of an attention call, without the padding around it."""

from __future__ import annotations

from dataclasses import replace

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.rule import MaskFunction, MaskRule


def text_call(call: AttentionCall, text: int, start: int, stop: int) -> AttentionCall:
    """The attention call of one text, as a batch of one, with tokens `start` to `stop` (exclusive) alone.

    The positions keep their distances, so windows and masks stay right; what is left count from 0.

    Args:
        call: a call with as many queries as keys.
        text: row of the batch.
        start: its first real token.
        stop: one past its last real token.
    """
    one = slice(text, text + 1)

    def own(tensor: torch.Tensor) -> torch.Tensor:
        """The text's own row of a tensor that may be shared by the batch."""
        return tensor if tensor.shape[0] == 1 else tensor[one]

    bias, sinks = call.bias, call.sinks
    if bias is not None:
        bias = _cut_table(own(bias), start, stop)
    if sinks is not None:
        sinks = own(sinks) if sinks.shape[-1] == 1 else own(sinks)[..., start:stop]
    return replace(
        call,
        query=call.query[one, :, start:stop],
        key=call.key[one, :, start:stop],
        rule=_cut_rule(call.rule.for_text(text), start, stop),
        bias=bias,
        sinks=sinks,
        logsumexp=None if call.logsumexp is None else call.logsumexp[one, :, start:stop],
        value=None if call.value is None else call.value[one, :, start:stop],
        output=None if call.output is None else call.output[one, :, start:stop],
        output_mark=None if call.output_mark is None else call.output_mark[one, :, start:stop],
    )


def _cut_rule(rule: MaskRule, start: int, stop: int) -> MaskRule:
    """The rule for a run of tokens, which count from 0; patterns go on seeing the places that they were made for."""
    present = None if rule.present is None else rule.present[:, start:stop]
    return replace(
        rule,
        queries=stop - start,
        keys=stop - start,
        query_offset=rule.query_offset - rule.key_offset,
        key_offset=0,
        pattern=None if rule.pattern is None else _shift(rule.pattern, rule.key_offset + start),
        present=None if present is None or bool(present.all()) else present,
        table=None if rule.table is None else _cut_table(rule.table, start, stop),
        cuts=tuple(cut.moved(-rule.key_offset - start) for cut in rule.cuts),
    )


def _shift(pattern: MaskFunction, places: int) -> MaskFunction:
    """A pattern that is asked about places counted from another one on."""

    def shifted(batch: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        cells: torch.Tensor = pattern(batch, head, query + places, key + places)
        return cells

    return shifted


def _cut_table(table: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """Rows and columns of a table [.., query|1, key|1] for a run of tokens."""
    if table.shape[-2] > 1:
        table = table[..., start:stop, :]
    return table[..., start:stop] if table.shape[-1] > 1 else table
