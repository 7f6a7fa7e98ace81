"""A normalisation held at the scale that one vector gave it: then it is linear, and parts of that vector add up."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from heedmap.errors import UnsupportedModel

_CLOSE = 1e-4


@dataclass(frozen=True, eq=False, slots=True)
class FrozenNorm:
    """A normalisation as a linear map.

    Attributes:
        name: of the module.
        factor: [dim], what each number is multiplied by.
        centred: whether the mean is taken off first (LayerNorm).
        constant: [dim], what is added whatever comes in: the bias.
    """

    name: str
    factor: torch.Tensor
    centred: bool
    constant: torch.Tensor

    def __call__(self, part: torch.Tensor) -> torch.Tensor:
        """A part of the vector as it comes out, [..., dim], without the constant."""
        part = part.to(self.factor.dtype)
        return (part - part.mean(-1, keepdim=True) if self.centred else part) * self.factor


def freeze(name: str, norm: nn.Module, vector: torch.Tensor) -> FrozenNorm:
    """Hold a LayerNorm or RMSNorm (however the family writes it) at the scale of one vector, [dim].

    Which of the two it is, is found by what it does: a LayerNorm does not see what is added to all numbers, an RMSNorm
    gives each number times its factor.

    Raises:
        UnsupportedModel: it is neither.

    Example:
        >>> norm = nn.LayerNorm(4)
        >>> vector = torch.tensor([1.0, 2.0, 3.0, 6.0])
        >>> frozen = freeze("norm", norm, vector)
        >>> frozen.centred, bool(torch.allclose(frozen(vector) + frozen.constant, norm(vector), atol=1e-6))
        (True, True)
    """
    exact = vector.to(torch.promote_types(vector.dtype, torch.float32))
    with torch.no_grad():
        made, zero, moved = (
            norm(one.to(vector.dtype)[None, None])[0, 0].to(exact.dtype)
            for one in (exact, torch.zeros_like(exact), exact + exact.abs().max())
        )
    centred = bool(torch.allclose(made, moved, rtol=0, atol=_CLOSE * float(made.abs().max())))
    inner = exact - exact.mean() if centred else exact
    other = torch.roll(inner, 1)  # of the same size, so that it is normalised by the same scale
    with torch.no_grad():
        expected = norm(other.to(vector.dtype)[None, None])[0, 0].to(exact.dtype)
    # Where a number is 0, its factor is told by the other vector.
    of_other = torch.where(other.abs() > 1e-12, (expected - zero) / other, 0.0)
    factor = torch.where(inner.abs() > 1e-12, (made - zero) / inner, of_other)
    frozen = FrozenNorm(name, factor, centred, zero)
    bound = (5e-2 if vector.dtype in (torch.float16, torch.bfloat16) else 1e-3) * float(expected.abs().max())
    if not torch.allclose(frozen(other) + zero, expected, rtol=0, atol=bound):
        raise UnsupportedModel(f"{name} ({type(norm).__name__}) is neither a LayerNorm nor an RMSNorm")
    return frozen
