"""Attention that also yields the log-sum-exp of every row: the only place that calls torch's private operators.

torch's fused kernels compute the log-sum-exp and drop it on the public way. `attend` asks the private operator for
it, after checking once for each kind of call that the operator gives the public function's output and the right
log-sum-exp. Where the operator does not exist, does not agree, or does not take such a call, the public function is
called and the log-sum-exp computed beside it, by blocks.

A private operator checks little of what it is given. On torch 2.13, the one for CPUs

- ends the process (SIGFPE) without heads, queries or keys, or with fewer query heads than key heads;
- reads past the end of keys and values that have fewer texts than the queries;
- silently takes wrong numbers where those of one vector do not lie side by side, and from a float32 mask beside
  float64 queries (except with AVX-512);
- hands strides to BLAS, which refuses rows that overlap.

So `attend` refuses contradictions, goes the public way where an axis is empty, and copies into order what lies
otherwise. `tests/reading/test_kernel_sweep.py` tries this on the torch that is installed, in processes of their own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

Kernel = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor, float, bool, torch.Tensor | None],
    tuple[torch.Tensor, torch.Tensor],
]
"""(query, key, value, scale, causal, additive mask) -> (output, log-sum-exp)."""

_ALIGNED = 8
"""What the width of a vector must be a multiple of on a GPU; torch's public function pads to it as well."""

_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
"""What attention is computed in."""

_WIDEST_FLASH = 256
"""The widest vectors that torch's flash operator takes; wider ones go the way of masked calls, which has no limit."""

_BLOCK_CELLS = 1 << 22
"""Scores that the public way holds at once: 16 MiB in float32."""


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    scale: float,
    causal: bool = False,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention's output and the log-sum-exp of each row of scaled, masked scores.

    Args:
        query: [batch, head, query, dim].
        key: [batch, key_value_head, key, dim]; the query heads must be a multiple of the key-value heads.
        value: [batch, key_value_head, key, value_dim].
        scale: what the products are multiplied by.
        causal: the lower triangle; only for as many queries as keys.
        mask: additive, in the query's dtype, broadcasts to [batch, head, query, key].

    Returns:
        output [batch, head, query, value_dim] in the query's dtype, and the log-sum-exp [batch, head, query] in
        float32 (float64 for float64 inputs). A row whose mask is -inf everywhere gives an output of 0 and a
        log-sum-exp of -inf; one that looks with or at what is not a number has a log-sum-exp of nan, while its output
        is what the model's own kernel makes of it.

    Raises:
        ValueError: tensors that contradict each other, or a dtype that attention is not computed in.
    """
    _refuse_contradictions(query, key, value, causal, mask)
    width, value_dim = max(query.shape[-1], value.shape[-1]), value.shape[-1]
    if query.device.type != "cpu":
        width = -(-width // _ALIGNED) * _ALIGNED
    if not query.shape[-1] == value_dim == width:
        # The operators want one width. Zeros added to query and key leave the products as they are.
        query, key, value = (pad(tensor, (0, width - tensor.shape[-1])) for tensor in (query, key, value))
    kernel: Kernel = public_kernel
    if 0 not in (*query.shape, *key.shape):
        kernel = _kernel_for(query.device.type, query.dtype, mask is not None or width > _WIDEST_FLASH)
        query, key, value = (_laid_out(tensor) for tensor in (query, key, value))
    output, logsumexp = kernel(query, key, value, scale, causal, mask)
    if kernel is not public_kernel and not _all_finite(query, key):
        # What an operator makes of a row that is not a number differs by processor: 0, inf, nan or any number.
        logsumexp = _logsumexp_by_blocks(query, key, scale, causal, mask)
    if mask is not None:
        dead = (mask == -math.inf).all(-1).expand(logsumexp.shape)
        output = output.masked_fill(dead.unsqueeze(-1), 0.0)
        logsumexp = logsumexp.masked_fill(dead, -math.inf)
    return output[..., :value_dim], logsumexp


def _refuse_contradictions(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool, mask: torch.Tensor | None
) -> None:
    """Refuse tensors that cannot belong to one call.

    Raises:
        ValueError: saying what does not fit.
    """
    shapes = [tuple(tensor.shape) for tensor in (query, key, value)]
    if any(len(shape) != 4 for shape in shapes):
        raise ValueError(f"query, key and value need 4 axes (batch, head, token, dim), not the shapes {shapes}")
    dtypes, devices = ({getattr(one, name) for one in (query, key, value)} for name in ("dtype", "device"))
    if len(dtypes) > 1 or len(devices) > 1:
        raise ValueError(f"query, key and value need one dtype and one device, not {dtypes} on {devices}")
    if query.dtype not in _DTYPES:
        raise ValueError(f"attention is computed in {', '.join(map(str, _DTYPES))}, not in {query.dtype}")
    (batch, heads, queries, dim), (_, key_value_heads, keys, _), (_, value_heads, _, _) = shapes
    if value_heads != key_value_heads or (heads % key_value_heads if key_value_heads else heads):
        raise ValueError(f"{heads} query heads cannot share {key_value_heads} key heads and {value_heads} value heads")
    if heads < key_value_heads:
        raise ValueError(f"{heads} query heads are fewer than {key_value_heads} key heads")
    if shapes[1] != (batch, key_value_heads, keys, dim) or shapes[2][:3] != (batch, key_value_heads, keys):
        raise ValueError(f"query, key and value do not fit each other: {shapes}")
    if causal and queries != keys:
        raise ValueError(f"causal needs as many queries as keys, not {queries} and {keys}")
    whole = (batch, heads, queries, keys)
    if mask is not None and (
        mask.ndim != 4 or any(own not in (1, full) for own, full in zip(mask.shape, whole, strict=True))
    ):
        raise ValueError(f"a mask of shape {tuple(mask.shape)} does not broadcast to {whole}")
    if mask is not None and (mask.dtype, mask.device) != (query.dtype, query.device):
        raise ValueError(f"a mask of {mask.dtype} on {mask.device} beside a query of {query.dtype} on {query.device}")


def _laid_out(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with the numbers of each vector side by side, and no two vectors over each other."""
    return tensor if tensor.stride(-1) == 1 and tensor.stride(-2) >= tensor.shape[-1] else tensor.contiguous()


def public_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    causal: bool,
    mask: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output by torch's public function; log-sum-exp by blocks of queries, in memory linear in the length.

    Without keys the output is 0 and the log-sum-exp -inf.
    """
    batch, heads, queries, _ = query.shape
    if 0 in (batch, heads, queries, key.shape[2]):
        exact = torch.promote_types(query.dtype, torch.float32)
        nothing = query.new_full((batch, heads, queries), -math.inf, dtype=exact)
        return query.new_zeros((batch, heads, queries, value.shape[-1])), nothing
    output = scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=causal,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return output, _logsumexp_by_blocks(query, key, scale, causal, mask)


def _logsumexp_by_blocks(
    query: torch.Tensor, key: torch.Tensor, scale: float, causal: bool, mask: torch.Tensor | None
) -> torch.Tensor:
    """The log-sum-exp of each row, by blocks of queries; nan for rows that look with or at what is not a number."""
    exact = torch.promote_types(query.dtype, torch.float32)
    batch, heads, queries, _ = query.shape
    grouped = query.to(exact).unflatten(1, (key.shape[1], -1))
    keys = key.to(exact).unsqueeze(2).transpose(-1, -2)
    columns = torch.arange(key.shape[2], device=query.device)
    step = max(_BLOCK_CELLS // max(batch * heads * key.shape[2], 1), 1)
    parts = []
    for start in range(0, queries, step):
        rows = torch.arange(start, min(start + step, queries), device=query.device)
        scores = (grouped[:, :, :, rows] @ keys * scale).flatten(1, 2)
        if causal:
            scores = scores.masked_fill(columns[None, :] > rows[:, None], -math.inf)
        if mask is not None:
            added = mask if mask.shape[-2] == 1 else mask[..., rows, :]
            # What is forbidden stays so, whatever stands there: nan + -inf would be nan.
            scores = (scores + added).masked_fill(added == -math.inf, -math.inf)
        parts.append(torch.logsumexp(scores, -1))
    return torch.cat(parts, -1)


def _all_finite(*tensors: torch.Tensor) -> bool:
    """Whether tensors hold numbers alone: a sum is quick, and not finite when any of its numbers is none."""
    return all(bool(one.sum(dtype=torch.promote_types(one.dtype, torch.float32)).isfinite()) for one in tensors)


def _cpu_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    causal: bool,
    mask: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Torch's fused CPU operator; it shares key heads among query heads by itself."""
    if mask is not None:
        # Its rows must lie side by side; texts and heads may share one.
        mask = mask.expand(-1, -1, query.shape[2], key.shape[2])
        mask = mask if mask.stride(-1) == 1 else mask.contiguous()
    output, logsumexp = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, causal, attn_mask=mask, scale=scale
    )
    return output, logsumexp


def _cuda_flash_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    causal: bool,
    mask: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Torch's flash operator for half precision on a GPU; it knows no mask."""
    assert mask is None
    key, value = _repeat_heads(query, key, value)
    output, logsumexp = torch.ops.aten._scaled_dot_product_flash_attention(
        query, key, value, 0.0, causal, False, scale=scale
    )[:2]
    return output, logsumexp[..., : query.shape[2]]


def _cuda_efficient_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    causal: bool,
    mask: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Torch's memory-efficient operator for a GPU; takes an additive mask whose rows are aligned to 8 numbers."""
    key, value = _repeat_heads(query, key, value)
    if mask is not None:
        keys = key.shape[2]
        aligned = pad(mask, (0, -keys % 8))[..., :keys]
        mask = aligned.expand(query.shape[0], query.shape[1], query.shape[2], keys)
    output, logsumexp = torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, mask, True, 0.0, causal, scale=scale
    )[:2]
    return output, logsumexp[..., : query.shape[2]]


def _repeat_heads(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values repeated so that every query head has its own."""
    repeats = query.shape[1] // key.shape[1]
    if repeats == 1:
        return key, value
    return key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)


def kernel_name(device_type: str, dtype: torch.dtype, masked: bool) -> str:
    """Which kernel serves a kind of call on a device: "fused" operators of torch, or the "public" way, which is slower.

    Example:
        >>> kernel_name("cpu", torch.float32, masked=False)
        'fused (cpu)'
    """
    kernel = _kernel_for(device_type, dtype, masked)
    return "public" if kernel is public_kernel else f"fused ({kernel.__name__.strip('_').removesuffix('_kernel')})"


@functools.cache
def _kernel_for(device_type: str, dtype: torch.dtype, masked: bool) -> Kernel:
    """The fastest kernel that proves itself on this kind of call, found once a process."""
    half = dtype in (torch.float16, torch.bfloat16)
    candidates: list[Kernel] = []
    if device_type == "cpu":
        candidates = [_cpu_kernel]
    elif device_type == "cuda":
        candidates = [_cuda_flash_kernel] if half and not masked else []
        candidates.append(_cuda_efficient_kernel)
    for kernel in candidates:
        if _agrees(kernel, torch.device(device_type), dtype, masked):
            return kernel
    return public_kernel


def _agrees(kernel: Kernel, device: torch.device, dtype: torch.dtype, masked: bool) -> bool:
    """Whether a private operator exists here and gives what the public way gives, on a small grouped call."""
    # A generator of our own: the user's random numbers must not depend on whether this check ran. The tolerances are
    # a few roundings of the dtype: a wrong operator is off by orders of magnitude more.
    random = torch.Generator().manual_seed(0)
    query = torch.randn(1, 4, 19, 64, generator=random).to(device, dtype)
    key, value = (torch.randn(1, 2, 19, 64, generator=random).to(device, dtype) for _ in range(2))
    mask = torch.randn(1, 1, 19, 19, generator=random).to(device, dtype) if masked else None
    tolerance = 2e-2 if dtype in (torch.float16, torch.bfloat16) else 1e-5
    try:
        # Somebody's autocast around the first call would make the check fail, and its answer is kept for good.
        with torch.autocast(device.type, enabled=False):
            return _gives_the_same(kernel, query, key, value, mask, tolerance)
    except (RuntimeError, AttributeError, NotImplementedError, TypeError):
        return False


def _gives_the_same(
    kernel: Kernel,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    tolerance: float,
) -> bool:
    """Whether an operator gives what the public way gives, causal and not."""
    for causal in (False, True) if mask is None else (False,):
        found = kernel(query, key, value, 0.125, causal, mask)
        expected = public_kernel(query, key, value, 0.125, causal, mask)
        for left, right in zip(found, expected, strict=True):
            if not torch.allclose(left.double(), right.double(), rtol=tolerance, atol=tolerance):
                return False
    return True
