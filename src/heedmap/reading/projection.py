"""From a word's vector to the query and key of one head: the learned tables, the normalisation and the rotation.

Nothing is recomputed from a family's source code. A forward pass is watched: the vectors that enter the attention
module, what its tables give, and what reaches the attention call. Where the table's output lies in a fused table is
found by the values, which no rotation changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from heedmap.errors import ReadingError
from heedmap.reading.again import Ran, run_again
from heedmap.reading.layers import own_module
from heedmap.reading.progress import Progress
from heedmap.reading.tap import Heard
from heedmap.reading.word_row import Floats

if TYPE_CHECKING:
    from heedmap.reading.kept_calls import KeptCalls

_TABLES = {
    "query": ("q_proj", "query", "q_lin"),
    "key": ("k_proj", "key", "k_lin"),
}
_FUSED_TABLES = ("c_attn", "query_key_value", "qkv_proj", "qkv")
_NORMS = {"query": ("q_norm", "query_layernorm"), "key": ("k_norm", "key_layernorm")}


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """How one head's query or key came from a token's vector.

    Attributes:
        role: "query" or "key".
        token: index of the token.
        vector: [hidden], what enters the attention module: the token's vector after the layer's normalisation.
        table: name of the learned table.
        projected: [dim], the vector by this head's part of the table (with its bias).
        normalised: [dim], after the head's own normalisation; None where the family has none.
        final: [dim], what took part in attention.
        rotation: [pair], the angle in degrees by which each pair of dimensions was turned for the token's position;
            None where the family does not rotate.
        difference: the largest difference between `final` and the steps worked again; 0 without rotation.
    """

    role: str
    token: int
    vector: Floats
    table: str
    projected: Floats
    normalised: Floats | None
    final: Floats
    rotation: Floats | None
    difference: float

    def to_json(self) -> dict[str, Any]:
        """The steps as JSON."""
        return {
            "role": self.role,
            "token": self.token,
            "vector": self.vector.tolist(),
            "table": self.table,
            "projected": self.projected.tolist(),
            "normalised": None if self.normalised is None else self.normalised.tolist(),
            "rotation": None if self.rotation is None else self.rotation.tolist(),
            "final": self.final.tolist(),
            "difference": self.difference,
        }


class _Watch:
    """What one forward pass showed of an attention module."""

    def __init__(self, module: nn.Module, name: str, ran: Ran, length: int) -> None:
        self.ran = ran
        self.length = length
        self.attention = module.get_submodule(name)
        self.vectors: torch.Tensor | None = None
        self.rotation: tuple[torch.Tensor, torch.Tensor] | None = None
        self.outputs: dict[str, torch.Tensor] = {}
        self.heard: Heard | None = None

    def hooks(self) -> list[Any]:
        """Watch what enters the module, and what its parts give."""

        def entering(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            candidates = [*arguments, named.get("hidden_states")]
            whole = next(one for one in candidates if isinstance(one, torch.Tensor) and one.ndim == 3)
            self.vectors = self.ran.own_part(whole, self.length)
            pair = named.get("position_embeddings")
            if isinstance(pair, tuple) and len(pair) == 2:
                self.rotation = (self.ran.own_part(pair[0], self.length), self.ran.own_part(pair[1], self.length))

        def leaving(part: str) -> Any:
            def hook(_: nn.Module, __: Any, output: Any) -> None:
                if isinstance(output, torch.Tensor):
                    # Normalised heads have 4 dimensions, of which the token's may be the second or the third.
                    own = self.ran.own_row(output) if output.ndim == 4 else self.ran.own_part(output, self.length)
                    self.outputs[part] = own.detach()

            return hook

        handles = [self.attention.register_forward_pre_hook(entering, with_kwargs=True)]
        handles += [part.register_forward_hook(leaving(name)) for name, part in self.attention.named_children()]
        return handles

    def receive(self, _: int, heard: Heard) -> None:
        """Keep the attention call of this module."""
        self.heard = heard


def watch_projections(reading: KeptCalls, layer: int, progress: Progress | None = None) -> _Watch:
    """Run what was read once more and watch one layer's attention module.

    Raises:
        ReadingError: there is no live model, or the second pass is not the first one.
    """
    if reading.reader is None:
        raise ReadingError("the way from the vectors needs the live model, not a saved reading: load it and read again")
    watch = _Watch(reading.reader.module, own_module(reading.reader.layers, layer), reading.ran, len(reading.tokens))
    handles = watch.hooks()
    try:
        run_again(reading, watch.receive, layers=layer, progress=progress)
    finally:
        for handle in handles:
            handle.remove()
    return watch


def project(watch: _Watch, role: str, token: int, head: int) -> Projection:
    """The steps from a token's vector to one head's query or key.

    Args:
        watch: a watched forward pass.
        role: "query" or "key".
        token: index of the token.
        head: the query head, or for keys the key-value head.

    Raises:
        ReadingError: the family's tables are not known.
    """
    assert watch.heard is not None
    assert watch.vectors is not None
    call = watch.heard.call
    final = (call.query if role == "query" else call.key)[0, head, token].double()
    table, projected = _projected(watch, role, head)
    projected = projected[token].double()
    normalised = next((watch.outputs[name][0] for name in _NORMS[role] if name in watch.outputs), None)
    if normalised is None:
        before, (angles, difference) = projected, _rotation(watch, token, projected, final)
    else:
        # Families differ in which axis comes first, head or token: the right one leads to the model's own vector.
        at = watch.ran.start + token
        places = [place for place in ((at, head), (head, at)) if np.less(place, normalised.shape[:2]).all()]
        worked = [
            (normalised[place].double(), _rotation(watch, token, normalised[place].double(), final)) for place in places
        ]
        before, (angles, difference) = min(worked, key=lambda one: one[1][1])
    return Projection(
        role=role,
        token=token,
        vector=_numbers(watch.vectors[0, token]),
        table=table,
        projected=_numbers(projected),
        normalised=None if normalised is None else _numbers(before),
        final=_numbers(final),
        rotation=angles,
        difference=difference,
    )


def _projected(watch: _Watch, role: str, head: int) -> tuple[str, torch.Tensor]:
    """Name of the table, and its output for one head, [token, dim]."""
    assert watch.heard is not None
    call, value = watch.heard.call, watch.heard.value
    heads = call.heads if role == "query" else call.key_value_heads
    for name in _TABLES[role]:
        if name in watch.outputs:
            return name, watch.outputs[name][0].unflatten(-1, (heads, -1))[:, head]
    for name in _FUSED_TABLES:
        if name not in watch.outputs:
            continue
        for split in (_split_by_part, _split_by_head):
            parts = split(watch.outputs[name][0], call.heads, call.key_value_heads, call.query.shape[-1])
            if parts is not None and torch.equal(parts["value"].transpose(0, 1), value[0]):
                return name, parts[role][:, head]
    known = sorted({*_TABLES["query"], *_TABLES["key"], *_FUSED_TABLES})
    raise ReadingError(
        f"the learned tables of {type(watch.attention).__name__} are not known "
        f"(looked for {', '.join(known)}; there are {', '.join(watch.outputs)}): explain without --from-vector"
    )


def _split_by_part(fused: torch.Tensor, heads: int, key_value_heads: int, dim: int) -> dict[str, torch.Tensor] | None:
    """All queries, then all keys, then all values (GPT-2, Phi-3): each [token, head, dim]."""
    sizes = [heads * dim, key_value_heads * dim, key_value_heads * dim]
    if fused.shape[-1] != sum(sizes):
        return None
    parts = fused.split(sizes, dim=-1)
    return {name: part.unflatten(-1, (-1, dim)) for name, part in zip(("query", "key", "value"), parts, strict=True)}


def _split_by_head(fused: torch.Tensor, heads: int, key_value_heads: int, dim: int) -> dict[str, torch.Tensor] | None:
    """Query, key and value of a head side by side, head after head (GPT-NeoX): each [token, head, dim]."""
    if heads != key_value_heads or fused.shape[-1] != 3 * heads * dim:
        return None
    parts = fused.unflatten(-1, (heads, 3, dim)).unbind(-2)
    return dict(zip(("query", "key", "value"), parts, strict=True))


def _rotation(watch: _Watch, token: int, before: torch.Tensor, final: torch.Tensor) -> tuple[Floats | None, float]:
    """The angle of each pair of dimensions in degrees, and how far the rotation worked again is from the model's.

    Rotary position embedding: Su et al. 2021, "RoFormer", in the half-split form of GPT-NeoX: dimensions i and
    i + n/2 are one pair, turned by position x frequency.
    """
    if watch.rotation is None and torch.equal(before, final):
        return None, 0.0
    if watch.rotation is None:
        raise ReadingError(
            f"{type(watch.attention).__name__} changes query and key in a way that is not known: "
            "explain without --from-vector"
        )
    cosine, sine = (part[0, token].double() for part in watch.rotation)
    turned = len(cosine)
    first, second = before[: turned // 2], before[turned // 2 : turned]
    halves = torch.cat([-second, first])
    again = torch.cat([before[:turned] * cosine + halves * sine, before[turned:]])
    angles = torch.rad2deg(torch.atan2(sine, cosine))[: turned // 2]
    return _numbers(angles), float((again - final).abs().max())


def _numbers(tensor: torch.Tensor) -> Floats:
    """A tensor as a NumPy array of float64."""
    return np.asarray(tensor.detach().double().cpu().numpy())
