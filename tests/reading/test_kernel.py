"""The guarded kernels: private and public ways against a full NumPy softmax, and what the guard refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedmap.reading import kernel
from heedmap.reading.kernel import attend, public_kernel


def oracle(query: Any, key: Any, value: Any, scale: float, causal: bool, mask: Any) -> tuple[Any, Any]:
    """Attention in float64 with the whole map."""
    query, key, value = (tensor.double().numpy() for tensor in (query, key, value))
    repeats = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, repeats, 1), np.repeat(value, repeats, 1)
    scores = scale * query @ key.swapaxes(-1, -2)
    if causal:
        scores = np.where(np.tri(query.shape[2], key.shape[2]) > 0, scores, -np.inf)
    if mask is not None:
        scores = scores + mask.double().numpy()
    highest = scores.max(-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    total = exponentials.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        output = np.where(total > 0, exponentials / total, 0) @ value
        return output, (highest + np.log(total))[..., 0]


@given(
    batch=st.integers(1, 2),
    groups=st.integers(1, 3),
    key_heads=st.integers(1, 3),
    length=st.integers(1, 70),
    dim=st.sampled_from([1, 7, 16, 64]),
    value_dim=st.sampled_from([1, 16, 80]),
    kind=st.sampled_from(["none", "causal", "mask", "mask with dead rows"]),
    size=st.sampled_from([1.0, 30.0]),
    public=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 999),
)
def test_output_and_logsumexp_equal_the_whole_softmax(
    batch: int,
    groups: int,
    key_heads: int,
    length: int,
    dim: int,
    value_dim: int,
    kind: str,
    size: float,
    public: bool,
    dtype: torch.dtype,
    seed: int,
) -> None:
    random = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, dtype=dtype)

    query = draw(batch, groups * key_heads, length, dim) * size
    key, value = draw(batch, key_heads, length, dim) * size, draw(batch, key_heads, length, value_dim)
    mask = None
    if kind.startswith("mask"):
        mask = draw(batch, 1, length, length)
        mask[torch.rand(mask.shape, generator=random) < 0.3] = -torch.inf
        mask[..., 0] = -torch.inf if kind == "mask with dead rows" else 0.0
        if kind == "mask with dead rows":
            mask[:, :, : length // 2 + 1] = -torch.inf
    scale = dim**-0.5
    call = public_kernel if public and kind != "mask with dead rows" else None
    if call is not None:
        output, logsumexp = call(query, key, value, scale, kind == "causal", mask)
    else:
        output, logsumexp = attend(query, key, value, scale=scale, causal=kind == "causal", mask=mask)
    expected_output, expected_logsumexp = oracle(query, key, value, scale, kind == "causal", mask)
    # A score is known to its own rounding, eps x |score|, and exp turns that into a relative error of the weight.
    largest = float((query.abs().amax() * key.abs().amax() * dim * scale).clamp(min=1))
    tolerance = torch.finfo(dtype).eps * largest * 8
    np.testing.assert_allclose(logsumexp.double().numpy(), expected_logsumexp, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        output.double().numpy(), expected_output, rtol=0, atol=tolerance * float(value.abs().max())
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_runs_and_sums_in_float32(dtype: torch.dtype) -> None:
    query, key, value = (torch.randn(1, 2, 33, 64).to(dtype) for _ in range(3))
    output, logsumexp = attend(query, key, value, scale=0.125, causal=True)
    assert output.dtype == dtype
    assert logsumexp.dtype == torch.float32


def test_heads_that_cannot_share_are_refused_before_torch_sees_them() -> None:
    """The CPU operator ends the process on these (a division by zero in its C++ code)."""
    few, many = torch.randn(1, 2, 5, 8), torch.randn(1, 4, 5, 8)
    with pytest.raises(ValueError, match="2 query heads cannot share 4 key heads and 4 value heads"):
        attend(few, many, many, scale=1.0)
    with pytest.raises(ValueError, match="4 query heads cannot share 3 key heads"):
        attend(many, many[:, :3], many[:, :3], scale=1.0)
    with pytest.raises(ValueError, match="causal needs as many queries as keys, not 2 and 5"):
        attend(many[:, :, :2], many, many, scale=1.0, causal=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("masked", [True, False])
def test_the_fast_way_is_the_one_in_use_here(dtype: torch.dtype, masked: bool) -> None:
    """A later torch that drops the private operator falls back silently: this says so, loudly."""
    assert kernel._kernel_for("cpu", dtype, masked) is kernel._cpu_kernel


def broken(*_: Any) -> Any:
    raise AttributeError("no such operator")


def wrong(*arguments: Any) -> Any:
    output, logsumexp = public_kernel(*arguments)
    return output, logsumexp + 0.1


@pytest.mark.parametrize("operator", [broken, wrong])
def test_an_operator_that_is_gone_or_wrong_gives_way_to_the_public_one(
    monkeypatch: pytest.MonkeyPatch, operator: Any
) -> None:
    monkeypatch.setattr(kernel, "_cpu_kernel", operator)
    kernel._kernel_for.cache_clear()
    try:
        assert kernel._kernel_for("cpu", torch.float32, False) is public_kernel
        query, key, value = (torch.randn(1, 2, 9, 8) for _ in range(3))
        found = attend(query, key, value, scale=0.5, causal=True)[1]
        np.testing.assert_allclose(found, oracle(query, key, value, 0.5, True, None)[1], atol=1e-5)
    finally:
        kernel._kernel_for.cache_clear()


def test_the_check_leaves_random_numbers_alone() -> None:
    kernel._kernel_for.cache_clear()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    kernel._kernel_for("cpu", torch.float32, True)
    assert torch.rand(3).equal(expected)


def test_the_public_way_works_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    query, key, value = (torch.randn(1, 2, 50, 8) for _ in range(3))
    whole = public_kernel(query, key, value, 0.5, True, None)[1]
    monkeypatch.setattr(kernel, "_BLOCK_CELLS", 300)
    assert public_kernel(query, key, value, 0.5, True, None)[1].allclose(whole)


@pytest.mark.parametrize("part", ["query", "key", "value"])
@pytest.mark.parametrize("masked", [True, False])
def test_vectors_whose_numbers_do_not_lie_side_by_side(part: str, masked: bool) -> None:
    """Keys that come out of a convolution lie so; torch's private operator is silently wrong on them."""
    random = torch.Generator().manual_seed(0)
    parts = {
        name: torch.randn(1, heads, 9, 16, generator=random) for name, heads in (("query", 4), ("key", 2), ("value", 2))
    }
    mask = torch.randn(1, 4, 9, 9, generator=random) if masked else None
    expected = oracle(parts["query"], parts["key"], parts["value"], 0.25, False, mask)
    parts[part] = parts[part].transpose(-1, -2).contiguous().transpose(-1, -2)
    assert parts[part].stride(-1) != 1
    for found, right in zip(
        attend(parts["query"], parts["key"], parts["value"], scale=0.25, mask=mask), expected, strict=True
    ):
        np.testing.assert_allclose(found.numpy(), right, atol=1e-6)  # a few roundings of float32


@pytest.mark.parametrize("kind", ["plain", "causal", "mask"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_that_are_no_numbers_have_no_ordinary_logsumexp(kind: str, dtype: torch.dtype) -> None:
    """Torch's operator gives them an output of 0 and a log-sum-exp of 0."""
    query, key, value = (
        torch.randn(1, 2, 8, 16, generator=torch.Generator().manual_seed(0)).to(dtype) for _ in range(3)
    )
    query[0, 1, 3] = torch.nan
    key[0, 0, 5] = torch.nan
    mask = torch.zeros(1, 1, 8, 8, dtype=dtype)
    mask[..., 5:] = -torch.inf
    given = {"causal": True} if kind == "causal" else {"mask": mask} if kind == "mask" else {}
    _, logsumexp = attend(query, key, value, scale=0.25, **given)
    broken = torch.zeros(2, 8, dtype=torch.bool)
    broken[1, 3] = True
    broken[0, 5:] = kind != "mask"
    broken[0] |= kind == "plain"
    assert torch.equal(logsumexp[0].isnan(), broken)
