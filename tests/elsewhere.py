"""A device that is not there: tensors that may not be mixed with those of the main memory, as on a GPU.

Their numbers lie in the main memory all the same, so that every operation can be run. `torch.device("meta")` stands for
the device, whose own tensors have no numbers and are not used here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

DEVICE = torch.device("meta")


class Elsewhere(torch.Tensor):
    """A tensor on the device; its numbers cannot be had before it is brought to the main memory."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == torch.Tensor.device.__get__:
            return DEVICE
        if func is torch.Tensor.cpu or (func is torch.Tensor.to and torch.device("cpu") in args):
            return args[0].as_subclass(torch.Tensor)
        if func in (torch.Tensor.numpy, torch.Tensor.__array__):
            raise TypeError("a tensor of another device cannot be an array: copy it to the main memory first")
        # Numbers without axes may come from the main memory, as on a GPU.
        for one in tree_leaves((args, kwargs)):
            if isinstance(one, torch.Tensor) and not isinstance(one, Elsewhere) and one.ndim:
                raise RuntimeError(f"Expected all tensors to be on the same device ({func.__name__})")
        return super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]


class Device(TorchFunctionMode):
    """While it is entered, tensors can be made on the device and moved to it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") == DEVICE:
            return func(*args, **{**kwargs, "device": "cpu"}).as_subclass(Elsewhere)
        if func is torch.Tensor.to and DEVICE in args:
            return args[0].as_subclass(Elsewhere)
        return func(*args, **kwargs)
