"""Tensor-parallel models, whose heads are shared out among processes: which of them this process has."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def tensor_parallel_part(module: nn.Module, heads: int) -> dict[str, Any] | None:
    """Which heads this process reads of a model that is shared out; None for a model that is not.

    Heads are numbered from 0 in each process: head 0 here is head `first_head` of the model.

    Args:
        module: a transformers model.
        heads: how many heads of a layer were heard here.
    """
    size = getattr(module, "_tp_size", None)
    if not isinstance(size, int) or size < 2:
        return None
    rank = torch.distributed.get_rank() % size if torch.distributed.is_initialized() else 0
    return {"rank": rank, "processes": size, "heads": heads, "first_head": rank * heads}
