"""Another machine's rounding: what torch adds up differs by a unit in the last place.

Which numbers differ, and to which side, depends on the shapes and strides of what an operator is given, as with BLAS:
two calls on one layout agree bit by bit, and two layouts of the same numbers do not. Tests that fail with
HEEDMAP_TEST_LAYOUT=rounded, and not without, compare too exactly for some processor.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

SUMS = {
    "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "mv", "dot", "linear", "einsum",
    "tensordot", "conv1d", "conv2d", "layer_norm", "rms_norm", "logsumexp", "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
}  # fmt: skip
"""Operators that sum products, in an order of the processor's own."""


class Rounded(TorchFunctionMode):
    """While it is on, the operators above give what another processor might."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        if torch.compiler.is_compiling() or func.__name__ not in SUMS:
            return found
        layout = [(tuple(one.shape), one.stride()) for one in args if isinstance(one, torch.Tensor)]
        seed = zlib.crc32(f"{func.__name__} {layout}".encode())
        return tuple(moved(one, seed) for one in found) if isinstance(found, tuple) else moved(found, seed)


def moved(numbers: torch.Tensor, seed: int) -> torch.Tensor:
    """The numbers, a third of them a unit up, a third a unit down; whole numbers stay, whose sums are exact.

    What is differentiated stays as it is (its steps are counted when they run again), and so do half precision, whose
    unit is far more than an order of adding up, and tensors without numbers.
    """
    if numbers.requires_grad or numbers.dtype not in (torch.float32, torch.float64) or numbers.device.type == "meta":
        return numbers
    units = torch.randint(-1, 2, numbers.shape, generator=torch.Generator().manual_seed(seed)).to(numbers.device)
    other = numbers * (1 + units.to(numbers.dtype) * torch.finfo(numbers.dtype).eps)
    return torch.where(numbers == numbers.round(), numbers, other)
