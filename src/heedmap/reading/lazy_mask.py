"""Takes the place of transformers' N x N masks: a tensor that carries its rule and is made only if somebody looks.

transformers builds the mask once a forward pass and hands it to every layer. Under the tap it gets a `LazyMask`: it
has the shape, dtype and device of the real mask, and turns into it as soon as any operation touches it, so that code
which works on masks stays right. The tap's own attention function only reads the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    sdpa_mask,
)

from heedmap.reading.rule import MaskFunction, MaskRule

_CHECKED_QUERIES = 16
"""How many queries, evenly spread, a recognised rule is compared on with the function it came from."""


class LazyMask(torch.Tensor):
    """A mask of shape [batch, 1, query, key] that is known by its rule and materialised only when used."""

    rule: MaskRule
    _whole: torch.Tensor | None

    @staticmethod
    def __new__(cls, rule: MaskRule, dtype: torch.dtype, device: torch.device) -> LazyMask:
        """Make a tensor without storage."""
        shape = (rule.batch, 1, rule.queries, rule.keys)
        mask: LazyMask = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=dtype, device=device)
        mask.rule = rule
        mask._whole = None
        return mask

    def materialise(self) -> torch.Tensor:
        """The real mask, made once."""
        if self._whole is None:
            self._whole = self.rule.materialise(self.dtype, self.device)
        return self._whole

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run any operation on the real mask; but a move to another device leaves it known by its rule."""
        if func is torch.ops.aten._to_copy.default and isinstance(args[0], LazyMask) and args[0].rule.pattern is None:
            device, dtype = (kwargs or {}).get("device"), (kwargs or {}).get("dtype")
            if device is not None and dtype in (None, args[0].dtype):
                return LazyMask(args[0].rule.to(device), args[0].dtype, torch.device(device))

        def whole(value: Any) -> Any:
            return value.materialise() if isinstance(value, LazyMask) else value

        return func(*tree_map(whole, args), **tree_map(whole, kwargs or {}))

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"LazyMask({self.rule})"


def lazy_bool_mask(**arguments: Any) -> LazyMask:
    """Mask function for models loaded with SDPA: a `LazyMask` that turns into a bool tensor."""
    return _lazy_mask(torch.bool, **arguments)


def lazy_float_mask(**arguments: Any) -> LazyMask:
    """Mask function for models loaded with eager attention: a `LazyMask` that turns into an additive tensor."""
    return _lazy_mask(arguments.get("dtype") or torch.float32, **arguments)


def _lazy_mask(
    mask_dtype: torch.dtype,
    *,
    batch_size: int,
    kv_length: int,
    q_length: int = 0,
    q_offset: int | torch.Tensor = 0,
    kv_offset: int = 0,
    mask_function: MaskFunction = causal_mask_function,
    attention_mask: torch.Tensor | None = None,
    use_vmap: bool = False,
    device: torch.device | str = "cpu",
    cache_position: torch.Tensor | None = None,
    **_: Any,
) -> LazyMask:
    """The lazy form of transformers' `sdpa_mask`, whose argument names these are.

    The first releases of transformers 5 say with `cache_position` where the queries stand: the later ones say it with
    `q_length` and `q_offset`, and name the device.
    """
    sizes: dict[str, Any] = {"batch_size": batch_size, "kv_length": kv_length, "kv_offset": kv_offset}
    if cache_position is None:
        sizes |= {"q_length": q_length, "q_offset": q_offset, "device": torch.device(device)}
    else:
        sizes["cache_position"] = cache_position
        q_length, q_offset, device = len(cache_position), cache_position[0], cache_position.device
    device = torch.device(device)
    rule = MaskRule(int(q_length), int(kv_length), batch_size, int(q_offset), int(kv_offset))
    if use_vmap:
        # Such a function need not broadcast over index tensors: let transformers write it out.
        table = sdpa_mask(**sizes, mask_function=mask_function, allow_is_causal_skip=False, use_vmap=True)
        rule = replace(rule, table=table)
    else:
        rule = recognise(replace(rule, pattern=mask_function), device)
    if attention_mask is not None:
        rule = replace(rule, present=_present_keys(attention_mask, rule))
    return LazyMask(rule, mask_dtype, device)


def _present_keys(attention_mask: torch.Tensor, rule: MaskRule) -> torch.Tensor | None:
    """[batch, key] bool from the model's 2-d padding mask; keys past its end are not filled yet."""
    stop = rule.key_offset + rule.keys
    padded = torch.nn.functional.pad(attention_mask.bool(), (0, max(stop - attention_mask.shape[-1], 0)))
    present = padded[:, rule.key_offset : stop]
    return None if bool(present.all()) else present


def recognise(rule: MaskRule, device: torch.device) -> MaskRule:
    """Turn the index function of a rule into a band where it is one that is known.

    The functions of transformers are closures. Their parts are recognised by name, and the band found is compared
    with the function itself on evenly spread queries against all keys; when anything is unknown or differs, the
    function is kept as it is, which is exact too, only slower.
    """
    if rule.pattern is None:
        return rule
    parts = [_band_of(part) for part in _conjunction(rule.pattern)]
    back = min((part.back for part in parts if part.back is not None), default=None)
    ahead = min((part.ahead for part in parts if part.ahead is not None), default=None)
    if not all(part.says_everything for part in parts):
        # Keep the whole function, inside the band that is certain to hold everything it allows.
        return replace(rule, back=back, ahead=ahead)
    band = replace(rule, back=back, ahead=ahead, pattern=None)
    step = max(rule.queries // _CHECKED_QUERIES, 1)
    last = torch.tensor([rule.queries - 1], device=device)
    rows = torch.cat([torch.arange(0, rule.queries, step, device=device), last])
    columns = torch.arange(rule.keys, device=device)
    same = torch.equal(rule.allowed(rows, columns), band.allowed(rows, columns))
    return band if same else rule


def _conjunction(function: MaskFunction) -> list[MaskFunction]:
    """The parts of transformers' `and_masks`, or the function itself."""
    if _closure_name(function) != "and_masks":
        return [function]
    return [part for inner in _captured(function)["mask_functions"] for part in _conjunction(inner)]


class _Band(NamedTuple):
    """What is known of an index function: its band, and whether that is all there is to it."""

    back: int | None
    ahead: int | None
    says_everything: bool


def _band_of(function: MaskFunction) -> _Band:
    """The band of one of transformers' index functions; one without limits when it is not known."""
    if function is causal_mask_function:
        return _Band(None, 0, True)
    if function is bidirectional_mask_function:
        return _Band(None, None, True)
    name = _closure_name(function)
    if name == "sliding_window_overlay":
        return _Band(int(_captured(function)["sliding_window"]) - 1, None, True)
    if name == "sliding_window_bidirectional_overlay":
        window = int(_captured(function)["sliding_window"])
        return _Band(window, window, True)
    if name == "chunked_overlay":
        furthest = int(_captured(function)["chunk_size"]) - 1
        return _Band(furthest, furthest, False)
    return _Band(None, None, False)


def _closure_name(function: Callable[..., Any]) -> str:
    """The function that made this closure, for transformers' masks only."""
    if getattr(function, "__module__", "") != "transformers.masking_utils":
        return ""
    return str(getattr(function, "__qualname__", "")).split(".<locals>")[0]


def _captured(function: Callable[..., Any]) -> dict[str, Any]:
    """The variables that a closure captured, by name."""
    cells = getattr(function, "__closure__", None) or ()
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in cells), strict=True))
