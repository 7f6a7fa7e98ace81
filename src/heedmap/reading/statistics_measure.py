"""The statistics of one attention call: their values for every head and position."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.statistics_allowed import keys_allowed, queries_allowed
from heedmap.reading.statistics_call import TextCall, centred, is_linear, raised, text_call
from heedmap.reading.statistics_cells import share_at_distance, share_on_key
from heedmap.reading.statistics_linear import blend
from heedmap.reading.statistics_tiles import largest, sums_by_tiles
from heedmap.reading.statistics_transposed import column_sums

_FROM_ENTROPY = frozenset({"entropy", "normalised_entropy", "effective_tokens"})


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSums:
    """What each token receives in one layer.

    Attributes:
        sums: [head, key], the weights from all real queries together; not a number for padding.
        lookers: [head|1, key], how many real queries may look at it.
    """

    sums: torch.Tensor
    lookers: torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The statistics of one attention call, for each head and position of one text.

    Attributes:
        values: by column, [head, query]; not a number where a row is absent (padding, or nothing allowed).
        after_first: [query] bool, the real tokens after the first.
        padding: [query] bool.
        dead: [head, query] bool, real tokens that may look at nothing.
        not_a_number: [head, query] bool, rows whose scores are not numbers.
        received: what each token receives, when it was asked for.
    """

    values: dict[str, torch.Tensor]
    after_first: torch.Tensor
    padding: torch.Tensor
    dead: torch.Tensor
    not_a_number: torch.Tensor
    received: ColumnSums | None = None


def measure(
    call: AttentionCall, columns: Collection[str], special: torch.Tensor, *, received: bool = False, text: int = 0
) -> Measured:
    """The statistics of one text of a call, in memory that grows with its length.

    Args:
        call: with its log-sum-exp, of any precision.
        columns: names of `COLUMNS`; only what they need is computed.
        special: [key] bool, the special tokens of the text.
        received: whether the attention that each token receives is wanted too.
        text: which row of the batch.
    """
    cut = text_call(call, text)
    if cut is None:
        return _all_padding(call, columns, text, received=received)
    ready, values = _from_whole_rows(cut.call, set(columns), special[slice(*cut.columns)])
    values.update(_from_cells(ready, cut, set(columns)))
    assert ready.logsumexp is not None
    live = keys_allowed(ready.rule, ready.query.device) > 0
    real = cut.real_queries()
    row, shape = slice(*cut.rows), (call.heads, call.rule.queries)

    def spread(value: torch.Tensor, absent: float | bool) -> torch.Tensor:
        whole = value.new_full(shape, absent)
        whole[:, row] = value
        return whole

    return Measured(
        {name: spread(values[name].masked_fill(~live | ~real, torch.nan), torch.nan) for name in columns},
        spread(real & cut.after_first(), False)[0],
        ~spread(real, False)[0],
        spread(real & ~live, False),
        spread(real & live & ready.logsumexp[0].isnan(), False),
        _column_sums(call, ready, cut, real & live) if received else None,
    )


def _all_padding(call: AttentionCall, columns: Collection[str], text: int, *, received: bool) -> Measured:
    """The statistics of a text whose queries are nothing but padding: all absent, and its keys receive nothing."""
    absent = torch.full(call.query.shape[1:3], torch.nan, dtype=call.exact_dtype, device=call.query.device)
    nothing = absent.new_zeros((call.heads, call.rule.keys))
    present = call.rule.present
    none = absent[0] > 0
    return Measured(
        dict.fromkeys(columns, absent),
        none,
        ~none,
        absent > 0,
        absent > 0,
        ColumnSums(nothing if present is None else nothing.masked_fill(~present[text], torch.nan), nothing[:1].long())
        if received
        else None,
    )


def _from_whole_rows(
    call: AttentionCall, columns: set[str], special: torch.Tensor
) -> tuple[AttentionCall, dict[str, torch.Tensor]]:
    """The call in full precision with its log-sum-exp, and the columns that need all weights of a row."""
    marks_wanted = "special" in columns and bool(special.any())
    if not (marks_wanted or _FROM_ENTROPY & columns or "distance" in columns):
        return raised(call.made_exact()), {"special": torch.zeros_like(call.query[0, ..., 0], dtype=call.exact_dtype)}
    if not is_linear(call):
        call = raised(call.made_exact())
        sums = sums_by_tiles(call, special)
        allowed = keys_allowed(call.rule, special.device)
        entropy = sums["entropy"].clamp(min=0)
        if call.sinks is None:
            entropy = _at_most_even(entropy, allowed)
        return call, sums | _forms_of_entropy(entropy, allowed)
    call = centred(raised(call))
    blended = blend(
        call,
        entropy=bool(_FROM_ENTROPY & columns),
        distance="distance" in columns,
        special=special if marks_wanted else None,
    )
    total = blended.logsumexp
    if call.sinks is not None:
        total = torch.logaddexp(total, call.sinks[0].expand_as(total))
    # What a learned sink takes is missing from every sum over the real keys.
    share = torch.exp(blended.logsumexp - total)
    call = replace(call, logsumexp=total.unsqueeze(0))
    values = {"special": torch.zeros_like(total) if blended.special is None else share * blended.special}
    if blended.distance is not None:
        values["distance"] = share * blended.distance
    if blended.entropy is not None:
        allowed = keys_allowed(call.rule, special.device)
        entropy = _at_most_even(blended.entropy.clamp(min=0), allowed)
        # With p the share on real keys and H their entropy, their terms add up to p (H - log p).
        values |= _forms_of_entropy(share * entropy - torch.xlogy(share, share), allowed)
    return call, values


def _at_most_even(entropy: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """The entropy without what rounding adds beyond that of an even look at all keys allowed."""
    return torch.minimum(entropy, torch.log(allowed.to(entropy.dtype)))


def _forms_of_entropy(entropy: torch.Tensor, allowed: torch.Tensor) -> dict[str, torch.Tensor]:
    """The entropy in nats, beside the largest there could be, and as a number of tokens.

    Args:
        entropy: [head, query].
        allowed: [head|1, query], how many keys may be looked at: an even look at all has the largest entropy.
    """
    most = torch.log(allowed.to(entropy.dtype))
    return {
        "entropy": entropy,
        "normalised_entropy": torch.where(most > 0, entropy / most, torch.nan),
        "effective_tokens": torch.exp(entropy),
    }


def _from_cells(call: AttentionCall, cut: TextCall, columns: set[str]) -> dict[str, torch.Tensor]:
    """The columns that need one weight a row, or the largest."""
    values: dict[str, torch.Tensor] = {}
    if "first" in columns:
        values["first"] = share_on_key(call, cut.first)
    if "itself" in columns:
        values["itself"] = share_at_distance(call, 0)
    if "previous" in columns:
        values["previous"] = share_at_distance(call, 1).masked_fill(~cut.after_first(), torch.nan)
    if "largest" in columns:
        values["largest"] = largest(call)
    if "sink" in columns:
        sink = call.sink_share(slice(None))
        values["sink"] = call.query.new_full(call.query.shape[1:3], torch.nan) if sink is None else sink[0]
    return values


def _column_sums(whole: AttentionCall, call: AttentionCall, cut: TextCall, counted: torch.Tensor) -> ColumnSums:
    """What each token receives, at its place in the whole call; rows that are not numbers give nothing."""
    assert call.logsumexp is not None
    present, column = call.rule.present, slice(*cut.columns)
    found = column_sums(call, counted & ~call.logsumexp[0].isnan())
    lookers = queries_allowed(call.rule, cut.real_queries())
    sums = found.new_full((whole.heads, whole.rule.keys), torch.nan)
    sums[:, column] = found if present is None else found.masked_fill(~present, torch.nan)
    spread = lookers.new_zeros((len(lookers), whole.rule.keys))
    spread[:, column] = lookers
    return ColumnSums(sums, spread)
