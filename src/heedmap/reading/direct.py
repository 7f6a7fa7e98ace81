"""What each head adds directly to a logit: its own vector, through the last normalisation and the word table.

The residual stream is a sum, so that the difference of two logits is one too, once the last normalisation is held at
the scale that the text gave it (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): every head,
every feed-forward part and the word's own vector add their share. What a head adds by way of later layers is not in
it. Families join their parts in different ways; here the way is found by the numbers, and refused where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from heedmap.errors import UnsupportedModel
from heedmap.reading.editor import refuse_own_code
from heedmap.reading.frozen_norm import FrozenNorm, freeze
from heedmap.reading.output_table import straight_tables
from heedmap.reading.tap import Heard
from heedmap.reading.word_row import Floats
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model

_CLOSE = 1e-4
"""How far sums of float32 may be off, as a share of their largest number."""


@dataclass(frozen=True, eq=False, slots=True)
class Direct:
    """What each head adds to the difference of two logits after a text's last token.

    Attributes:
        heads: by layer, [head].
        difference: the difference of the two logits itself, of which the heads are a part.
    """

    heads: dict[int, Floats]
    difference: float


class _Seen:
    """What a forward pass showed at the last token: inputs and outputs of modules, by name."""

    def __init__(self) -> None:
        self.entered: dict[str, torch.Tensor] = {}
        self.left: dict[str, torch.Tensor] = {}

    def watch(self, name: str, part: nn.Module) -> Any:
        """Keep the last token's row of what enters and leaves a module."""

        def hook(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
            given = arguments[0] if arguments else named.get("hidden_states")
            made = output[0] if isinstance(output, tuple) else output
            for store, tensor in ((self.entered, given), (self.left, made)):
                if isinstance(tensor, torch.Tensor) and tensor.ndim == 3:
                    store[name] = tensor[0, -1].detach()

        return part.register_forward_hook(hook, with_kwargs=True)


def direct_contributions(model: Model, tokens: Tokens, first: int, second: int) -> Direct:
    """What each head adds directly to logit `first` minus logit `second`, after the last token.

    Args:
        model: a causal language model.
        tokens: the text.
        first: a token id.
        second: a token id.

    Raises:
        UnsupportedModel: it is not known how the model joins its parts; the message names the part.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> tokens = model.tokenize("The cat sat on the")
        >>> mat, dog = (model.tokenize(word).ids[0] for word in (" mat", " dog"))
        >>> direct = direct_contributions(model, tokens, mat, dog)
        >>> len(direct.heads), direct.heads[12].shape, bool(direct.difference > 0)
        (30, (9,), True)
    """
    refuse_own_code(model.module)
    seen, heard = _Seen(), {}
    handles = [seen.watch(name, part) for name, part in model.module.named_modules() if name]
    try:
        answer = model.listen(tokens, lambda number, one: heard.update({number: one}))[0, -1]
    finally:
        for handle in handles:
            handle.remove()
    towards, last = _output_direction(model.module, seen, answer, first, second)
    tables = straight_tables(model.module)
    heads = {}
    for layer in model.layers:
        if layer.module not in tables:
            raise UnsupportedModel(f"the heads of {layer.module} do not go straight into an output table that is known")
        table = tables[layer.module]
        after = _way_to_the_stream(model.module, seen, layer.module, table)
        own = _by_head(model.module.get_submodule(table), heard[layer.number])
        own = own if after is None else after(own)
        heads[layer.number] = (last(own) @ towards).double().cpu().numpy()
    return Direct(heads, float(last(seen.entered[last.name]) @ towards + last.constant @ towards))


def _output_direction(
    module: Any, seen: _Seen, logits: torch.Tensor, first: int, second: int
) -> tuple[torch.Tensor, FrozenNorm]:
    """The difference of the two rows of the output table, [dim], and the last normalisation, frozen.

    Raises:
        UnsupportedModel: the logits are not the table times a normalised state.
    """
    kind = type(module).__name__
    table = module.get_output_embeddings()
    name = next((name for name, part in module.named_modules() if part is table), None)
    if table is None or name is None or name not in seen.left:
        raise UnsupportedModel(f"{kind} has no output table, so that heads add to no logit")
    final = seen.entered[name]
    norm = next(
        (
            one
            for one in reversed(seen.left)
            if one != name and torch.equal(seen.left[one], final) and not list(module.get_submodule(one).children())
        ),
        None,
    )
    if norm is None:
        raise UnsupportedModel(f"what enters the output table of {kind} comes from no normalisation that is known")
    weight = table.weight.detach()
    towards = weight[first] - weight[second]
    bias = 0.0 if table.bias is None else float((table.bias[first] - table.bias[second]).detach())
    expected = float(logits[first] - logits[second])
    # A cap hardly bends small logits, so that the numbers of one text need not show it.
    capped = getattr(module.config.get_text_config(), "final_logit_softcapping", None) is not None
    if capped or abs(float(final @ towards) + bias - expected) > _CLOSE * max(float(logits.abs().max()), 1.0):
        raise UnsupportedModel(f"the logits of {kind} are not its output table times the last state")
    return towards.to(torch.float32), freeze(norm, module.get_submodule(norm), seen.entered[norm])


def _way_to_the_stream(module: nn.Module, seen: _Seen, attention: str, table: str) -> FrozenNorm | None:
    """What stands between an output table and the residual stream: nothing (None), or a normalisation, frozen.

    Found by what the decoder layer gives: its input, and what two of its parts made of it, added up.

    Raises:
        UnsupportedModel: no two parts add up to it.
    """
    layer = attention.rpartition(".")[0]
    while layer and not (layer in seen.entered and layer in seen.left):
        layer = layer.rpartition(".")[0]
    if not layer:
        raise UnsupportedModel(f"the layer around {attention} takes and gives nothing that is known")
    parts = [
        name for name in seen.left if name.startswith(f"{layer}.") and seen.left[name].shape == seen.left[layer].shape
    ]
    made, given = seen.left[table], seen.entered[layer]
    after = [name for name in parts if name in seen.entered and _close(seen.entered[name], made)]
    size = max(float(seen.left[layer].abs().max()), 1.0)
    for name in (None, *after):
        added = made if name is None else seen.left[name]
        rest = seen.left[layer] - given - added
        if any(float((rest - seen.left[part]).abs().max()) <= _CLOSE * size for part in parts if part != name):
            return None if name is None else freeze(name, module.get_submodule(name), made)
    raise UnsupportedModel(
        f"{layer} does not give its input plus what two of its parts make of it, so that it is not known what a head "
        "adds"
    )


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two rows are the same."""
    return one.shape == other.shape and torch.equal(one, other)


def _by_head(table: nn.Module, heard: Heard) -> torch.Tensor:
    """Each head's part of what the output table gives for the last token, without its bias, [head, dim]."""
    last = heard.output[0, :, -1]
    apart = torch.block_diag(*last.unsqueeze(1))
    with torch.no_grad():
        made: torch.Tensor = table(apart) - table(torch.zeros_like(apart[:1]))
    return made


def first_difference(options: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The first token by which two continuations differ: the one that decides after the common beginning.

    Raises:
        UnsupportedModel: one begins with the other, as this model spells them: no token decides between them.

    Example:
        >>> first_difference([(5, 7), (5, 9)])
        (7, 9)
    """
    for one, other in zip(*options, strict=False):
        if one != other:
            return one, other
    raise UnsupportedModel("one answer begins with the other, so that no token decides between them")


def as_array(direct: Direct) -> Floats:
    """All heads in one axis, layer by layer."""
    return np.concatenate([direct.heads[layer] for layer in sorted(direct.heads)])
