"""The same numbers at other strides and addresses: what another machine's memory would look like.

Matrix products round otherwise there, so that what was compared bit by bit, and came from two layouts, differs. The
tests run so with HEEDMAP_TEST_LAYOUT=shifted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.kept_calls import KeptCalls
from heedmap.reading.reading import Reading
from heedmap.reading.tap import Heard
from heedmap.reading.two_stacks import CrossReading

TENSORS = ("query", "key", "value", "output", "bias", "sinks", "logsumexp")


def odd_address(tensor: torch.Tensor) -> torch.Tensor:
    """In order, from the address of a single number."""
    return torch.cat([tensor.new_zeros(1), tensor.flatten()])[1:].view(tensor.shape)


def with_gaps(tensor: torch.Tensor) -> torch.Tensor:
    """Three numbers that belong to nothing after each vector."""
    return torch.cat([tensor, tensor.new_zeros((*tensor.shape[:-1], 3))], -1)[..., : tensor.shape[-1]]


def heads_inside(tensor: torch.Tensor) -> torch.Tensor:
    """Token by token, the heads of each beside each other, as a model's projection leaves them."""
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


LAYOUTS = (odd_address, with_gaps, heads_inside)


def move(call: AttentionCall, draws: random.Random) -> None:
    """Put the tensors of a call into a layout that is drawn: turns could give a live and a saved call the same."""
    layout = draws.choice(LAYOUTS)
    for name in TENSORS:
        tensor = getattr(call, name)
        if isinstance(tensor, torch.Tensor) and tensor.ndim > 1 and tensor.numel():
            object.__setattr__(call, name, layout(tensor))


def shift_all_calls() -> None:
    """From now on each call that is captured, and each that a reading holds, lies in one of these layouts."""
    draws = random.Random(0)

    def shift(of: Any, calls_of: Callable[[Any], Iterable[AttentionCall]]) -> None:
        made = of.__init__

        def shifted(self: Any, *args: Any, **kwargs: Any) -> None:
            made(self, *args, **kwargs)
            for call in calls_of(self):
                move(call, draws)

        of.__init__ = shifted

    shift(Heard, lambda heard: [heard.call])
    for kind in (KeptCalls, Reading, CrossReading):
        shift(kind, lambda kept: kept.calls.values())
