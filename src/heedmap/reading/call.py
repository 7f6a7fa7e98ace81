"""One attention call: what went into it, and any of its weights, computed when somebody looks.

The weight of one cell is exp(score - log-sum-exp of its row). A call keeps query, key, the rule of its mask and one
number a row, so its memory grows with the length and not with its square.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch

from heedmap.reading.kernel import attend
from heedmap.reading.rule import MaskFunction, MaskRule

Heads: TypeAlias = slice
"""Query heads by slice."""

_BLOCK_CELLS = 1 << 22
"""Cells of the mask or of the scores that one block of queries may hold."""

_SMALLEST_BLOCK = 64
"""Queries a block holds at least: below that the calls cost more than what they save."""


@dataclass(frozen=True, slots=True, eq=False)
class AttentionCall:
    """What one attention call worked on.

    Attributes:
        query: [batch, head, query, dim], after rotation and normalisation.
        key: [batch, key_value_head, key, dim], after rotation and the cache.
        rule: which keys each query may look at.
        scale: what the products are multiplied by.
        softcap: cap c of scores, c·tanh(score / c) (Gemma 2); None for none.
        bias: added to the scores, broadcasts to [batch, head, query, key] (T5); None for none.
        sinks: a learned score a head, [batch|1, head, query|1], that takes part in softmax and has no value.
        logsumexp: [batch, head, query], with the sink's share; filled by `compute`.
        value: [batch, key_value_head, key, value_dim] when it was kept.
        output: [batch, head, query, value_dim] when it was kept.
        output_mark: [batch, head, query], one number for each row of the output, by which a later pass is proved to
            give the same; None where it was not marked.
    """

    query: torch.Tensor
    key: torch.Tensor
    rule: MaskRule
    scale: float
    softcap: float | None = None
    bias: torch.Tensor | None = None
    sinks: torch.Tensor | None = None
    logsumexp: torch.Tensor | None = None
    value: torch.Tensor | None = None
    output: torch.Tensor | None = None
    output_mark: torch.Tensor | None = None

    @property
    def heads(self) -> int:
        """Number of query heads."""
        return self.query.shape[1]

    @property
    def key_value_heads(self) -> int:
        """Number of key-value heads; each is shared by heads / key_value_heads consecutive query heads."""
        return self.key.shape[1]

    @property
    def exact_dtype(self) -> torch.dtype:
        """The dtype of scores and weights: float32, or float64 for float64 models."""
        return torch.promote_types(self.query.dtype, torch.float32)

    def compute(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The call's output, [batch, head, query, value_dim], and its log-sum-exp, [batch, head, query]."""
        with as_given(self.query):
            return self._compute(value)

    def _compute(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same, outside of autocast."""
        if self.softcap is None and self.bias is None and self.rule.is_full_causal:
            output, logsumexp = attend(self.query, self.key, value, scale=self.scale, causal=True)
        elif self.softcap is None and self.bias is None and self.rule.allows_everything:
            output, logsumexp = attend(self.query, self.key, value, scale=self.scale)
        else:
            output, logsumexp = self._compute_by_blocks(value)
        return self._add_sinks(output, logsumexp)

    def _compute_by_blocks(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Blocks of queries over the slice of keys that they can reach."""
        outputs, sums = [], []
        for start, stop, low, high in self.blocks():
            rows, columns = self._indices(start, stop, low, high)
            if self.softcap is None:
                output, logsumexp = attend(
                    self.query[:, :, start:stop],
                    self.key[:, :, low:high],
                    value[:, :, low:high],
                    scale=self.scale,
                    mask=self._additive_mask(rows, columns),
                )
            else:
                scores = self.scores(slice(start, stop), slice(low, high))
                logsumexp = torch.logsumexp(scores, -1)
                # A row that may look at nothing has weights exp(-inf + inf): absent, so its output is 0.
                absent = (logsumexp == -torch.inf).unsqueeze(-1)
                weights = torch.exp(scores - logsumexp.unsqueeze(-1)).masked_fill(absent, 0.0).to(value.dtype)
                output = (
                    weights.unflatten(1, (self.key_value_heads, -1)) @ value[:, :, low:high].unsqueeze(2)
                ).flatten(1, 2)
            outputs.append(output)
            sums.append(logsumexp)
        return torch.cat(outputs, 2), torch.cat(sums, 2)

    def blocks(self) -> list[tuple[int, int, int, int]]:
        """(first query, past the last, first key, past the last): blocks that hold a bounded number of cells.

        A block whose queries reach no key, as outside of a window, has none.
        """
        with_heads = self.softcap is not None or self.bias is not None or self.rule.heads > 1
        cells = self.query.shape[0] * (self.heads if with_heads else 1)
        blocks, start = [], 0
        while start < self.rule.queries:
            low, high = self.rule.key_range(start, start + _SMALLEST_BLOCK)
            size = max(_BLOCK_CELLS // max(cells * (high - low), 1), _SMALLEST_BLOCK)
            if self.rule.back is not None:
                # A window: longer blocks would mostly compute cells outside of it.
                size = min(size, max(self.rule.back, _SMALLEST_BLOCK))
            stop = min(start + size, self.rule.queries)
            low, high = self.rule.key_range(start, stop)
            while size > _SMALLEST_BLOCK and cells * (stop - start) * (high - low) > _BLOCK_CELLS:
                # In a causal layer the later queries of the block reach further than its first.
                size = max(size // 2, _SMALLEST_BLOCK)
                stop = min(start + size, self.rule.queries)
                low, high = self.rule.key_range(start, stop)
            blocks.append((start, stop, low, high))
            start = stop
        return blocks

    def _indices(self, start: int, stop: int, low: int, high: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Row and column numbers as tensors on the call's device."""
        device = self.query.device
        return torch.arange(start, stop, device=device), torch.arange(low, high, device=device)

    def _additive_mask(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """-inf where forbidden, and what biases add elsewhere, in the query's dtype."""
        mask = torch.zeros((), dtype=self.query.dtype, device=self.query.device)
        for bias in (self.rule.bias(rows, columns), self._bias_cells(rows, columns)):
            if bias is not None:
                mask = mask + bias.to(self.query.dtype)
        return torch.where(self.rule.allowed(rows, columns), mask, -torch.inf)

    def _bias_cells(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor | None:
        """The given cells of the position bias."""
        if self.bias is None:
            return None
        cells = self.bias if self.bias.shape[-2] == 1 else self.bias.index_select(-2, rows)
        return cells.index_select(-1, columns)

    def _add_sinks(self, output: torch.Tensor, logsumexp: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Let the learned sink take its share of every row."""
        if self.sinks is None:
            return output, logsumexp
        total = torch.logaddexp(logsumexp, self.sinks.to(logsumexp.dtype).expand_as(logsumexp))
        return output * torch.exp(logsumexp - total).unsqueeze(-1).to(output.dtype), total

    def scores(self, rows: slice, columns: slice, heads: Heads = slice(None)) -> torch.Tensor:
        """Scaled, capped, biased scores of a tile before softmax; -inf where forbidden.

        Args:
            rows: queries, as a slice of step 1.
            columns: keys, as a slice of step 1.
            heads: query heads, as a slice of step 1.

        Returns:
            [batch, head, query, key] in float32 or float64.
        """
        first, stop, _ = heads.indices(self.heads)
        repeats = self.heads // self.key_value_heads
        query = in_one_layout(self.query[:, first:stop, rows], self.exact_dtype)
        shared = in_one_layout(self.key[:, first // repeats : -(-stop // repeats), columns], self.exact_dtype)
        owners = torch.arange(first, stop, device=query.device) // repeats - first // repeats
        with as_given(query):
            scores = query @ shared[:, owners].transpose(-1, -2) * self.scale
        if self.softcap is not None:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        row_numbers = torch.arange(self.rule.queries, device=query.device)[rows]
        column_numbers = torch.arange(self.rule.keys, device=query.device)[columns]
        for bias in (
            self.rule.bias(row_numbers, column_numbers),
            self._bias_cells(row_numbers, column_numbers),
        ):
            if bias is not None:
                scores = scores + (bias if bias.shape[1] == 1 else bias[:, first:stop]).to(self.exact_dtype)
        allowed = self.rule.allowed(row_numbers, column_numbers)
        if allowed.shape[1] > 1:
            allowed = allowed[:, first:stop]
        return scores.masked_fill(~allowed, -torch.inf)

    def weights(self, rows: slice, columns: slice, heads: Heads = slice(None)) -> torch.Tensor:
        """Attention weights of a tile, [batch, head, query, key]; 0 where forbidden and in rows that are absent."""
        assert self.logsumexp is not None
        logsumexp = self.logsumexp[:, heads, rows].unsqueeze(-1)
        scores = self.scores(rows, columns, heads)
        weights = torch.exp(scores - logsumexp)
        return weights.masked_fill(scores == -torch.inf, 0.0)

    def sink_share(self, rows: slice, heads: Heads = slice(None)) -> torch.Tensor | None:
        """The share of each row that the learned sink took, [batch, head, query]; None for models without one."""
        if self.sinks is None:
            return None
        assert self.logsumexp is not None
        return torch.exp(self.sinks.to(self.exact_dtype).expand_as(self.logsumexp) - self.logsumexp)[:, heads, rows]

    def rows_not_a_number(self) -> int:
        """How many rows, over all heads, hold a weight that is not a number."""
        assert self.logsumexp is not None
        if self.query.isfinite().all() and self.key.isfinite().all() and not self.logsumexp.isnan().any():
            return 0
        # A kernel may give a broken row an ordinary log-sum-exp, so the weights themselves decide.
        return sum(
            int(self.weights(slice(start, stop), slice(low, high)).isnan().any(-1).sum())
            for start, stop, low, high in self.blocks()
        )

    def on_cpu(self) -> AttentionCall:
        """The same call with its tensors in the main memory; a pattern is still asked where its own tensors are."""
        if self.query.device.type == "cpu":
            return self
        cpu = torch.device("cpu")
        rule = self.rule.to(cpu)
        if rule.pattern is not None:
            rule = replace(rule, pattern=_asked_on(self.query.device, rule.pattern))
        tensors: dict[str, Any] = {
            name: None if (one := getattr(self, name)) is None else one.to(cpu) for name in _TENSORS
        }
        return replace(self, rule=rule, **tensors)

    def made_exact(self) -> AttentionCall:
        """The same call with a log-sum-exp of full precision.

        Kernels for half precision round the scores, so their own log-sum-exp is off by up to 0.03: then it is
        computed again from query and key raised to float32.
        """
        if self.query.dtype == self.exact_dtype:
            return self
        raised = replace(
            self,
            query=in_one_layout(self.query, self.exact_dtype),
            key=in_one_layout(self.key, self.exact_dtype),
            bias=None if self.bias is None else self.bias.to(self.exact_dtype),
        )
        nothing = raised.key.new_zeros(*raised.key.shape[:-1], raised.query.shape[-1])
        _, logsumexp = raised.compute(nothing)
        return replace(self, logsumexp=logsumexp)


_TENSORS = ("query", "key", "bias", "sinks", "logsumexp", "value", "output")


def _asked_on(device: torch.device, pattern: MaskFunction) -> MaskFunction:
    """A pattern that is asked on one device, and answers in the main memory."""

    def asked(*indices: torch.Tensor) -> torch.Tensor:
        cells: torch.Tensor = pattern(*(one.to(device) for one in indices))
        return cells.to(torch.device("cpu"))

    return asked


def as_given(tensor: torch.Tensor) -> contextlib.AbstractContextManager[Any]:
    """Compute in the dtype that tensors have: autocast around a reading would round its scores."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else contextlib.nullcontext()


def in_one_layout(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A copy whose numbers lie in order from an aligned address.

    Matrix products take another path, and round otherwise, where their numbers lie at other strides or addresses. From
    such copies the same numbers give the same weights to the last bit, whether a model has just made them or a file
    held them.
    """
    return tensor.to(dtype, copy=True, memory_format=torch.contiguous_format)
