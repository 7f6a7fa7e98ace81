"""Families with attention code of their own, which no switch reaches: read from the weights that eager attention makes.

Such a family makes the whole map of a layer anyway, and returns it when asked. A hook takes it from each attention
module as it passes and leaves an empty one of the same shape, so that one layer's map is in memory, and those kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from heedmap.errors import UnsupportedModel
from heedmap.reading.call import AttentionCall
from heedmap.reading.cost import layers_text
from heedmap.reading.forward import evaluating, run
from heedmap.reading.memory import require_memory
from heedmap.reading.rule import MaskRule
from heedmap.reading.tap import Heard, lock_of

KNOWN = (
    "bloom",
    "deberta",
    "deberta-v2",
    "falcon",
    "flaubert",
    "gpt_neo",
    "gpt_neox_japanese",
    "megatron-bert",
    "mpnet",
    "mpt",
    "openai-gpt",
    "rembert",
    "roformer",
    "trocr",
    "xglm",
    "xlm",
    "xlnet",
)
"""The families that are known to be read rightly in this way; tests compare each with what it reports itself."""

NO_PLAIN_MAP = {
    "big_bird": "it looks at blocks",
    "bigbird_pegasus": "it looks at blocks",
    "fnet": "it mixes tokens by Fourier transforms",
    "funnel": "it pools tokens between its layers",
    "led": "it looks at a band and at a few chosen tokens",
    "longformer": "it looks at a band and at a few chosen tokens",
    "mra": "it approximates attention by blocks of several sizes",
    "nystromformer": "it approximates attention by landmarks",
    "reformer": "it looks at buckets of hashed tokens",
    "rwkv": "it has no attention",
    "swin": "it looks within windows, and merges its patches from stage to stage",
    "vit_mae": "it drops three patches of four at random",
    "yoso": "it approximates attention by hashing",
}
"""Families without a weight from every token to every token, and why."""

EAGER = "eager attention"
"""What the model's JSON says of where such a family's weights come from."""

_TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 3e-2}
"""How far the sum of a row may lie from 1: the rounding of so many weights in half precision; else 1e-4."""


def has_own_code(module: nn.Module) -> bool:
    """Whether a part of a transformers model has attention code of its own."""
    return any(
        isinstance(part, PreTrainedModel) and not part._can_set_attn_implementation() for part in module.modules()
    )


def refuse_without_map(module: nn.Module) -> None:
    """Refuse families that have no weight from every token to every token.

    Raises:
        UnsupportedModel: the message names the family, and why.
    """
    kind = getattr(getattr(module, "config", None), "model_type", "")
    if kind in NO_PLAIN_MAP:
        raise UnsupportedModel(
            f"{type(module).__name__} ({kind}) has no weight from every token to every token: {NO_PLAIN_MAP[kind]}"
        )


def refuse_unknown_code(module: nn.Module) -> None:
    """Refuse families of whose own attention code it is not known how to read it.

    Raises:
        UnsupportedModel: the message names the family.
    """
    kind = module.config.model_type  # type: ignore[union-attr]
    if kind not in KNOWN:
        raise UnsupportedModel(
            f"{type(module).__name__} ({kind}) has attention code of its own, which is not known to be read "
            "rightly: take a family that is (docs/conformance.md)"
        )


def refuse_values(module: nn.Module, values: bool) -> None:
    """Refuse to keep what is not heard.

    Raises:
        UnsupportedModel: values were asked for.
    """
    if values:
        raise UnsupportedModel(
            f"{type(module).__name__} has attention code of its own: its weights are read, but not its values, so that "
            "there is no explanation (read without values)"
        )


def require_layer_maps(layers: int, heads: int, tokens: int, device: torch.device) -> None:
    """Refuse a text whose maps do not fit: the model makes one layer's in full, and those kept stay.

    Raises:
        TooLarge: they do not fit the memory.
    """
    # At its peak the model holds scores, weights, and what is kept of them: three maps beside the layers before.
    needed = 4.0 * (layers + 3) * heads * tokens * tokens
    what = f"{layers_text(layers)} x {heads} heads of {tokens:,} x {tokens:,} weights, which this family makes in full"
    require_memory(needed, device, what, "keep fewer layers (layers=...), or read a shorter text")


def run_own_code(module: nn.Module, ids: torch.Tensor, receive: Callable[[Heard], None]) -> torch.Tensor:
    """Run one text with eager attention, and let `receive` hear every layer's weights.

    Args:
        module: a model of one of the families in `KNOWN`.
        ids: [1, token] int64, on the model's device.
        receive: called once a layer, in order; there are no values in what it hears.

    Returns:
        the model's answer, see `heedmap.reading.forward.run`.

    Raises:
        UnsupportedModel: a layer's weights are not shares.
    """
    length = ids.shape[1]
    handles = []
    taken: set[int] = set()
    empty: list[torch.Tensor] = []

    def watch(name: str) -> Any:
        def hook(part: nn.Module, _: Any, output: Any) -> Any:
            if not isinstance(output, tuple | list):
                return None
            replaced = list(output)
            for index, one in enumerate(output):
                # What an inner module has left comes out of the outer ones too.
                weights = None if id(one) in taken else _as_map(one, length)
                if weights is not None:
                    _refuse_other_sums(part, name, weights)
                    receive(_heard(name, weights))
                    empty.append(one.new_zeros(()).expand(one.shape))
                    taken.add(id(empty[-1]))
                    replaced[index] = empty[-1]
                    return type(output)(replaced)
            return None

        return hook

    with lock_of(module), evaluating(module), _eager(module):
        try:
            for name, part in module.named_modules():
                if "Attention" in type(part).__name__:
                    handles.append(part.register_forward_hook(watch(name)))
            return run(module, ids, output_attentions=True)
        finally:
            for handle in handles:
                handle.remove()


@contextlib.contextmanager
def _eager(module: nn.Module) -> Iterator[None]:
    """The model's own eager attention inside the block; what was set before it afterwards."""
    configurations = {id(part.config): part.config for part in module.modules() if isinstance(part, PreTrainedModel)}
    before = [(one, one._attn_implementation_internal) for one in configurations.values()]
    try:
        for one, _ in before:
            one._attn_implementation_internal = "eager"
        yield
    finally:
        for one, loaded in before:
            one._attn_implementation_internal = loaded


def _as_map(tensor: Any, length: int) -> torch.Tensor | None:
    """An attention module's output as weights [1, head, query, key], if that is what it is."""
    if not isinstance(tensor, torch.Tensor) or tensor.ndim != 4 or not tensor.is_floating_point():
        return None
    if tensor.shape[0] == 1 and tuple(tensor.shape[2:]) == (length, length):
        return tensor.detach()
    if tensor.shape[2] == 1 and tuple(tensor.shape[:2]) == (length, length):
        return tensor.detach().permute(2, 3, 0, 1)  # XLNet's order is query, key, batch, head
    return None


def _refuse_other_sums(part: nn.Module, name: str, weights: torch.Tensor) -> None:
    """Refuse what looks like weights by its shape, but is none."""
    known = weights[weights.isnan().logical_not().all(-1)]
    if not known.numel():
        return  # broken layers are to be shown, not refused
    off = float((known.sum(-1, dtype=torch.float32) - 1).abs().max())
    if off > _TOLERANCE.get(weights.dtype, 1e-4) or bool((known < 0).any()):
        raise UnsupportedModel(f"{name} ({type(part).__name__}): its weights are not shares of 1 (off by {off:.2g})")


def _heard(name: str, weights: torch.Tensor) -> Heard:
    """A map as an attention call, whose scores are the weights' logarithms.

    Small weights are 0 too, in half precision many: what the mask forbids is what lies further back or ahead than any
    weight of any head.
    """
    seen = (weights != 0).any(1, keepdim=True)
    if bool(seen.any()):
        places = torch.arange(weights.shape[-1], device=weights.device)
        ahead = places - torch.arange(weights.shape[-2], device=weights.device)[:, None]
        reached = ahead[seen[0, 0]]
        seen = ((ahead >= reached.min()) & (ahead <= reached.max()))[None, None]
    weights = weights.to(torch.promote_types(weights.dtype, torch.float32))
    _, heads, queries, keys = weights.shape
    nothing = weights.new_zeros(())
    call = AttentionCall(
        query=nothing.expand(1, heads, queries, 1),
        key=nothing.expand(1, heads, keys, 1),
        rule=MaskRule(queries, keys, table=seen),
        scale=1.0,
        bias=weights.clamp(min=torch.finfo(weights.dtype).tiny).log(),
        logsumexp=nothing.expand(1, heads, queries),
    )
    return Heard(name, call, value=nothing.expand(1, heads, keys, 0), output=nothing.expand(1, heads, queries, 0))
