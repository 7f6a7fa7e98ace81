"""Parts of an attention call: one text without its padding, a block of queries over a slice of keys.

Whatever is computed for statistics works on calls of one text. Padding before and after it is cut off here, so that
a padded causal text is a plain causal one again and needs no mask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from heedmap.reading.call import AttentionCall, in_one_layout
from heedmap.reading.rule import MaskRule

Range = tuple[int, int]
"""First index and one past the last."""


@dataclass(frozen=True, slots=True, eq=False)
class TextCall:
    """The call of one text of a batch, cut to its tokens that are not padding.

    Attributes:
        call: a batch of one, of the queries and keys from `rows` and `columns`.
        rows: which queries of the whole call these are.
        columns: which keys of the whole call these are.
    """

    call: AttentionCall
    rows: Range
    columns: Range

    @property
    def own(self) -> int:
        """What leads from the number of a query in `call` to the number of its own key there."""
        return self.call.rule.query_offset - self.call.rule.key_offset

    @property
    def first(self) -> int | None:
        """The number of the first token as a key of `call`; None when a sliding cache has dropped it."""
        return 0 if self.columns[0] > 0 or self.call.rule.key_offset == 0 else None

    def real_queries(self) -> torch.Tensor:
        """Which queries of `call` are tokens of the text, [query] bool: also inside it there may be padding."""
        rule = self.call.rule
        own = torch.arange(rule.queries, device=self.call.query.device) + self.own
        if rule.present is None:
            return torch.ones_like(own, dtype=torch.bool)
        return rule.present[0, own.clamp(0, rule.keys - 1)] | (own < 0) | (own >= rule.keys)

    def after_first(self) -> torch.Tensor:
        """Which queries of `call` stand after the first token, [query] bool."""
        own = torch.arange(self.call.rule.queries, device=self.call.query.device) + self.own
        return own > 0 if self.first is not None else torch.ones_like(own, dtype=torch.bool)


def text_call(call: AttentionCall, text: int = 0) -> TextCall | None:
    """The call of one text of the batch without the padding around it; None when all its queries are padding."""
    rule = call.rule.for_text(text)
    call = replace(
        call,
        rule=rule,
        query=call.query[text : text + 1],
        key=call.key[text : text + 1],
        bias=_of_text(call.bias, text),
        sinks=_of_text(call.sinks, text),
        logsumexp=_of_text(call.logsumexp, text),
        value=None,
        output=None,
    )
    if rule.present is None:
        return TextCall(call, (0, rule.queries), (0, rule.keys))
    present = rule.present[0].nonzero().flatten()
    if len(present) == 0:
        return None
    columns = int(present[0]), int(present[-1]) + 1
    shift = rule.query_offset - rule.key_offset
    rows = (
        0 if columns[0] == 0 else min(max(columns[0] - shift, 0), rule.queries),
        rule.queries if columns[1] == rule.keys else min(max(columns[1] - shift, 0), rule.queries),
    )
    return TextCall(part_of(call, rows, columns), rows, columns) if rows[0] < rows[1] else None


def _of_text(tensor: torch.Tensor | None, text: int) -> torch.Tensor | None:
    """One row of a tensor whose first axis is the batch, or has one row for all of it."""
    return tensor if tensor is None or tensor.shape[0] == 1 else tensor[text : text + 1]


def part_of(call: AttentionCall, rows: Range, columns: Range) -> AttentionCall:
    """The call of some queries over some keys: its rule says what the whole call's rule says of these cells."""
    row, column = slice(*rows), slice(*columns)
    bias, sinks, logsumexp = call.bias, call.sinks, call.logsumexp
    return replace(
        call,
        rule=_part_of_rule(call.rule, rows, columns),
        query=call.query[:, :, row],
        key=call.key[:, :, column],
        bias=None if bias is None else _cells(bias, row, column),
        sinks=sinks if sinks is None or sinks.shape[-1] == 1 else sinks[..., row],
        logsumexp=None if logsumexp is None else logsumexp[..., row],
    )


def _part_of_rule(rule: MaskRule, rows: Range, columns: Range) -> MaskRule:
    """The rule for some queries and keys."""
    present = None if rule.present is None else rule.present[:, slice(*columns)]
    return replace(
        rule,
        queries=rows[1] - rows[0],
        keys=columns[1] - columns[0],
        query_offset=rule.query_offset + rows[0],
        key_offset=rule.key_offset + columns[0],
        present=None if present is None or bool(present.all()) else present,
        table=None if rule.table is None else _cells(rule.table, slice(*rows), slice(*columns)),
    )


def _cells(table: torch.Tensor, row: slice, column: slice) -> torch.Tensor:
    """A part of a table whose query axis may have one row for all."""
    return (table if table.shape[-2] == 1 else table[..., row, :])[..., column]


def is_linear(call: AttentionCall) -> bool:
    """Whether a score is a product of query and key and nothing else, so that its mean is one of the mean key."""
    return call.softcap is None and call.bias is None and not call.rule.bias_is_added


def raised(call: AttentionCall) -> AttentionCall:
    """The call in float32 or float64, its queries and keys in one layout."""
    exact = call.exact_dtype
    bias, sinks = call.bias, call.sinks
    return replace(
        call,
        query=in_one_layout(call.query, exact),
        key=in_one_layout(call.key, exact),
        bias=None if bias is None else bias.to(exact),
        sinks=None if sinks is None else sinks.to(exact),
    )


def centred(call: AttentionCall) -> AttentionCall:
    """The same weights from keys around their head's mean; the log-sum-exp is left out, since it is another one.

    Softmax does not see what is added to all scores of a row, but float32 does: where all keys point the same way,
    scores near 900 leave 5e-4 nats of the entropy to rounding, and scores around their mean do not.
    """
    if call.rule.present is None:
        mean = call.key.mean(-2, keepdim=True)
    else:
        present = call.rule.present[:, None, :, None].to(call.key.dtype)
        mean = (call.key * present).sum(-2, keepdim=True) / present.sum(-2, keepdim=True)
    mean = torch.nan_to_num(mean, nan=0.0, posinf=0.0, neginf=0.0)  # any vector will do, but one that is none
    sinks = call.sinks
    if sinks is not None:
        common = by_key_head(call.query, call) @ mean.unsqueeze(2).transpose(-1, -2)
        sinks = sinks - common.squeeze(-1).flatten(1, 2) * call.scale
    return replace(call, key=call.key - mean, sinks=sinks, logsumexp=None)


def by_key_head(query: torch.Tensor, call: AttentionCall) -> torch.Tensor:
    """[1, head, ...] as [1, key_value_head, head of its group, ...]: what shares a key stands together."""
    return query.reshape(query.shape[0], call.key_value_heads, -1, *query.shape[2:])
