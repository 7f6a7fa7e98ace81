"""Calls of every shape, for a process of its own: `python -m tests.reading.kernel_sweep attend|rules FILE [EVERY]`.

Before each call what it is goes into FILE, so that the call is known when torch ends the process. Each answer is
compared with the whole map in NumPy; the first that differs ends the sweep too. EVERY=10 takes every tenth case.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.kernel import attend
from heedmap.reading.rule import MaskRule
from heedmap.reading.statistics_columns import COLUMNS
from heedmap.reading.statistics_measure import measure
from tests.reading.test_call import oracle, rounding
from tests.reading.test_statistics_measure import check

# Rounding of products of up to 80 numbers and of their blend, in float32 and in half precision (whose kernels round
# scores and weights to the type as well).
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10, torch.float16: 2e-2, torch.bfloat16: 1.5e-1}


def laid(numbers: np.ndarray[Any, Any], layout: str, dtype: torch.dtype) -> torch.Tensor:
    """The numbers as a tensor of another layout in memory."""
    plain = torch.from_numpy(numbers).to(dtype)
    if layout == "heads inside":
        return plain.transpose(1, 2).contiguous().transpose(1, 2)
    if layout == "tokens inside":
        return plain.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "every second":
        return torch.stack([plain, torch.full_like(plain, torch.nan)], -1).flatten(-2)[..., ::2]
    if layout == "odd address":
        return torch.cat([torch.full((1,), torch.nan, dtype=dtype), plain.flatten()])[1:].view(plain.shape)
    if layout == "one text for all" and len(plain):
        return plain[:1].expand(plain.shape)
    if layout == "one token for all" and plain.shape[2]:
        return plain[:, :, :1].expand(plain.shape)
    return plain


LAYOUTS = ["plain", "plain", "heads inside", "tokens inside", "every second", "odd address", "one text for all"]
LAYOUTS += ["one token for all"]


def attend_cases() -> Iterator[tuple[str, Any]]:
    """Queries, keys, values and masks of any size, layout and type; some contradict each other."""
    for seed in itertools.count():
        random = np.random.default_rng(seed)

        def one(*options: Any, random: np.random.Generator = random) -> Any:
            return options[int(random.integers(len(options)))]

        batch, (heads, key_heads) = one(1, 1, 2, 0), one((1, 1), (4, 2), (6, 2), (2, 2), (0, 0), (1, 2), (3, 2), (2, 0))
        queries, keys = one(0, 1, 2, 5, 33, 70), one(0, 1, 2, 9, 33, 70)
        dim, value_dim = one(0, 1, 7, 16, 64, 80), one(0, 1, 16, 64)
        dtype = one(torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16)
        shapes = [(batch, heads, queries, dim), (batch, key_heads, keys, dim), (batch, key_heads, keys, value_dim)]
        if one(*[False] * 9, True):  # one axis of one of them is another
            which, axis = one(0, 1, 2), one(0, 1, 2, 3)
            shapes[which] = tuple(size + (place == axis) for place, size in enumerate(shapes[which]))
        layouts = [one(*LAYOUTS) for _ in range(4)]
        parts = [
            laid(random.standard_normal(shape), layout, dtype) for shape, layout in zip(shapes, layouts, strict=False)
        ]
        causal = one(False, False, True)
        mask = None
        if not causal and one(True, False):
            whole = (batch, heads, queries, keys)
            shape = tuple(one(size, size, 1) for size in whole)
            if one(*[False] * 9, True):
                shape = (*shape[:-1], shape[-1] + 1)
            added = random.standard_normal(shape)
            added[random.random(shape) < 0.3] = -np.inf
            mask = laid(added, layouts[3], one(*[dtype] * 9, torch.float32, torch.bool))
        what = (
            f"seed {seed}: {shapes}, {dtype}, {layouts}, causal {causal}, mask {None if mask is None else mask.shape}"
        )
        yield what, (*parts, causal, mask)


def try_attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool, mask: Any) -> None:
    """One call, against the whole softmax; what contradicts itself must be refused."""
    heads, key_heads = query.shape[1], key.shape[1]
    whole = (*query.shape[:3], key.shape[2])
    fits = (
        key.shape[0] == value.shape[0] == query.shape[0]
        and key.shape[1:3] == value.shape[1:3]
        and key.shape[3] == query.shape[3]
        and (heads % key_heads == 0 and heads >= key_heads if key_heads else heads == 0)
        and not (causal and query.shape[2] != key.shape[2])
        and (mask is None or (mask.dtype == query.dtype and all(a in (1, b) for a, b in zip(mask.shape, whole))))  # noqa: B905
    )
    try:
        output, logsumexp = attend(query, key, value, scale=0.3, causal=causal, mask=mask)
    except ValueError as error:
        if fits:
            raise AssertionError(f"it was refused: {error}") from error
        return
    assert fits, "it contradicts itself, and was answered"
    exact = torch.promote_types(query.dtype, torch.float32)
    assert (output.dtype, logsumexp.dtype) == (query.dtype, exact)
    group = heads // key_heads if key_heads else 1
    q, k, v = (tensor.double().numpy() for tensor in (query, key, value))
    scores = 0.3 * q @ np.repeat(k, group, 1).swapaxes(-1, -2)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if mask is not None:
        scores = scores + mask.double().numpy()
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = powers.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        expected = (np.where(np.isfinite(highest), highest, 0) + np.log(total))[..., 0]
    blended = powers / np.where(total > 0, total, 1) @ np.repeat(v, group, 1)
    close = TOLERANCE[query.dtype]
    np.testing.assert_allclose(logsumexp.double().numpy(), expected, rtol=0, atol=close * 3)
    np.testing.assert_allclose(output.double().numpy(), blended, rtol=0, atol=close)


def rule_cases() -> Iterator[tuple[str, Any]]:
    """Every small band, also where no query reaches a key."""
    sizes = range(1, 6), range(1, 10), range(21), range(7), (2, 4, None), (0, None)
    for queries, keys, query_offset, key_offset, window, ahead in itertools.product(*sizes):
        rule = MaskRule(
            queries,
            keys,
            query_offset=query_offset,
            key_offset=key_offset,
            back=None if window is None else window - 1,
            ahead=ahead,
        )
        yield str(rule), (rule,)


def try_rule(rule: MaskRule) -> None:
    """The call, its weights and all statistics under one rule, against the whole map."""
    random = np.random.default_rng(rule.queries * 100 + rule.keys)
    query, key = (
        torch.from_numpy(random.standard_normal((1, heads, size, 8), dtype=np.float32))
        for heads, size in ((4, rule.queries), (2, rule.keys))
    )
    call = AttentionCall(query, key, rule, 0.35)
    output, logsumexp = call.compute(key)
    weights, expected, _ = oracle(call, key)
    close = rounding(call)
    np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=10 * close)
    call = replace(call, logsumexp=logsumexp)
    np.testing.assert_allclose(call.weights(slice(None), slice(None)).numpy(), weights, rtol=0, atol=close)
    special = torch.arange(rule.keys) % 3 == 0
    check(call, measure(call, COLUMNS, special, received=True), special)


SWEEPS: dict[str, tuple[Any, Any, int]] = {
    "attend": (attend_cases, try_attend, 20_000),
    "rules": (rule_cases, try_rule, 1_000_000),
}


def main(name: str, file: str, every: str = "1") -> None:
    """Run one sweep and print how many calls it made."""
    torch.set_num_threads(1)
    cases, attempt, most = SWEEPS[name]
    tried = 0
    with Path(file).open("w", buffering=1) as log:
        for what, given in itertools.islice(cases(), 0, most, int(every)):
            log.seek(0)
            log.truncate()
            log.write(what)
            log.flush()
            attempt(*given)
            tried += 1
    sys.stdout.write(f"{tried}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
