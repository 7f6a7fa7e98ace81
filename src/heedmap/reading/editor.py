"""Carries out edits during one forward pass: what the tap asks before and after each attention call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from heedmap.errors import OutOfRange, ReadingError, UnsupportedModel
from heedmap.reading.call import AttentionCall
from heedmap.reading.cut import Cut
from heedmap.reading.edits import Edit, Forbidden, Removal, Words
from heedmap.reading.listening import AttentionLayer
from heedmap.reading.output_table import straight_tables
from heedmap.reading.own_code import has_own_code
from heedmap.reading.parallel import tensor_parallel_part
from heedmap.text.tokens import Tokens, Word


@dataclass(frozen=True, slots=True)
class EditedText:
    """One row of the batch and what is edited in it.

    Attributes:
        edit: what is on.
        tokens: the tokens of its queries by stack; "" in models of one stack.
        keys: the tokens of its keys by stack.
        start: where its first token stands in the padded batch.
    """

    edit: Edit
    tokens: dict[str, Tokens]
    keys: dict[str, Tokens]
    start: int = 0


def edited_text(edit: Edit, tokens: Tokens, start: int = 0) -> EditedText:
    """One text of a model of one stack."""
    return EditedText(edit, {"": tokens}, {"": tokens}, start)


class Editor:
    """The edits of one forward pass; make a new one for each.

    Args:
        module: a transformers model that the tap reaches.
        layers: all its layers.
        texts: the rows of the batch, in order.
        model: the model as JSON, to tell whether means are its own.

    Raises:
        UnsupportedModel: it is not known how to edit this model; the message says why.
        OutOfRange: there is no such layer, head or stack.
        ReadingError: means or readings of another model, or of a text of another length.
        WordNotFound, AmbiguousWord: a word is not in the text, or several times.
    """

    def __init__(
        self, module: nn.Module, layers: Sequence[AttentionLayer], texts: Sequence[EditedText], model: dict[str, Any]
    ) -> None:
        refuse_own_code(module)
        if tensor_parallel_part(module, layers[0].heads):
            raise UnsupportedModel("a model that is split over processes cannot be edited: each sees its own heads")
        self._layers = {(layer.module, layer.call): layer for layer in layers}
        self._parts = {layer.module: layer.parts for layer in layers}
        self._begun: Counter[str] = Counter()
        self._cuts: dict[tuple[str, int], list[Cut]] = {}
        self._outputs: dict[tuple[str, int], list[_Replacement]] = {}
        for row, text in enumerate(texts):
            for forbidden in text.edit.forbidden:
                self._add_cuts(layers, row, text, forbidden)
            for removal in text.edit.removals:
                self._add_removal(module, layers, row, text, removal, model)

    def _add_cuts(self, layers: Sequence[AttentionLayer], row: int, text: EditedText, forbidden: Forbidden) -> None:
        """Cut the forbidden cells out of the masks of their layers."""
        stack = _stack(layers, forbidden.stack)
        numbers = [layer.number for layer in stack] if forbidden.layers is None else forbidden.layers
        queries = places(text.tokens[forbidden.stack], forbidden.queries)
        keys = places(text.keys[forbidden.stack], forbidden.keys)
        for number in numbers:
            layer = _layer(stack, number)
            for head in forbidden.heads or ():
                _check_head(layer, head)
            cut = Cut(queries, keys, forbidden.heads, layer.heads, text=row).moved(text.start)
            self._cuts.setdefault((forbidden.stack, number), []).append(cut)

    def _add_removal(
        self,
        module: nn.Module,
        layers: Sequence[AttentionLayer],
        row: int,
        text: EditedText,
        removal: Removal,
        model: dict[str, Any],
    ) -> None:
        """Find what stands in for a removed head."""
        layer = _layer(_stack(layers, removal.stack), removal.layer)
        _check_head(layer, removal.head)
        if layer.module not in straight_tables(module):
            kind = type(module.get_submodule(layer.module)).__name__
            raise UnsupportedModel(
                f"the heads of {kind} ({layer.module}) do not go straight into an output table that is known, so that "
                "a head cannot be removed by its own part of it: forbid a look instead"
            )
        tokens = text.tokens[removal.stack]
        at = range(len(tokens)) if removal.at is None else places(tokens, removal.at)
        self._outputs.setdefault((removal.stack, removal.layer), []).append(
            _Replacement(row, removal.head, tuple(at), text.start, _stand_in(removal, tokens, tuple(at), model))
        )

    def before(self, module: str, call: AttentionCall) -> AttentionCall:
        """The call with what is forbidden cut out of its mask; called once for each call of a module, in order.

        Raises:
            ReadingError: a token may look at nothing any more.
        """
        cuts = self._cuts.get(self._next(module))
        if not cuts:
            return call
        edited = replace(call, rule=replace(call.rule, cuts=tuple(cuts)))
        if call.sinks is None:
            _refuse_empty_rows(call, edited, module)
        return edited

    def after(self, module: str, output: torch.Tensor) -> torch.Tensor:
        """The output, [text, head, query, value_dim], with the removed heads replaced; called after `before`."""
        replacements = self._outputs.get(self._current(module))
        if not replacements:
            return output
        edited = output.clone()
        for one in replacements:
            rows = torch.tensor([place + one.start for place in one.at], device=output.device)
            value = one.value if one.value.ndim == 1 else one.value[list(one.at)]
            if value.shape[-1] not in (1, edited.shape[-1]):
                raise ReadingError(
                    f"what stands in for head {one.head} of {module} has {value.shape[-1]} numbers, where the head "
                    f"gives {edited.shape[-1]}: measure it on this model"
                )
            edited[one.text, one.head, rows] = value.to(output.device, output.dtype)
        return edited

    def refuse_choice(self, module: str) -> None:
        """Refuse to forbid a look in a layer that picks its keys itself.

        Raises:
            UnsupportedModel: something is forbidden in the layer whose call comes next.
        """
        layer = self._layers[module, self._begun[module] // self._parts[module]]
        if self._cuts.get((layer.stack, layer.number)):
            raise UnsupportedModel(
                f"{module} picks a few keys for each token by itself, and would pick others if one were forbidden: a "
                "look cannot be forbidden there"
            )

    def _next(self, module: str) -> tuple[str, int]:
        """The layer that the next call of a module belongs to, as (stack, number)."""
        self._begun[module] += 1
        return self._current(module)

    def _current(self, module: str) -> tuple[str, int]:
        """The layer that the last call of a module belongs to."""
        layer = self._layers[module, (self._begun[module] - 1) // self._parts[module]]
        return layer.stack, layer.number


@dataclass(frozen=True, slots=True, eq=False)
class _Replacement:
    """What one head gives in one text instead: [value_dim], or [token, value_dim]."""

    text: int
    head: int
    at: tuple[int, ...]
    start: int
    value: torch.Tensor


def _stand_in(removal: Removal, tokens: Tokens, at: tuple[int, ...], model: dict[str, Any]) -> torch.Tensor:
    """What stands in for a removed head, [value_dim] or [token, value_dim]; a single 0 for zero."""
    if removal.means is not None:
        removal.means.require_model(model)
        return removal.means.of(removal.layer, removal.head)
    if removal.text is None:
        return torch.zeros(1)
    other = removal.text
    if (removal.at is None and len(other.tokens) != len(tokens)) or max(at) >= len(other.tokens):
        raise ReadingError(
            f"the other text has {len(other.tokens)} tokens and this one {len(tokens)}: token i gets what its token i "
            "got, so give a text of as many tokens, or the tokens that both have (at=...)"
        )
    output = other.call(removal.layer).output
    if output is None:
        raise ReadingError("the other text was read without values: read it with model.read(text, values=True)")
    if removal.head >= output.shape[1]:
        raise OutOfRange(f"head {removal.head} is out of range: the other reading has {output.shape[1]} heads")
    return output[0, removal.head]


def places(tokens: Tokens, words: Words) -> tuple[int, ...]:
    """The indices of the tokens that some words mean, in order.

    Raises:
        WordNotFound, AmbiguousWord: a word is not in the text, or several times.
    """
    several = [words] if isinstance(words, str | int | Word) else list(words)
    return tuple(sorted({index for word in several for index in tokens.find(word).tokens}))


def refuse_own_code(module: nn.Module) -> None:
    """Refuse families whose attention code is not reached.

    Raises:
        UnsupportedModel: the model has attention code of its own.
    """
    if has_own_code(module):
        raise UnsupportedModel(
            f"{type(module).__name__} has attention code of its own: its weights are read, but what its heads give is "
            "not reached, so that it cannot be edited"
        )


def _refuse_empty_rows(call: AttentionCall, edited: AttentionCall, module: str) -> None:
    """Refuse edits after which a token that could look at something may look at nothing."""
    device = call.query.device
    columns = torch.arange(call.rule.keys, device=device)
    positions = sorted({place for cut in edited.rule.cuts for place in cut.queries})
    rows = torch.tensor([place - call.rule.query_offset for place in positions], device=device)
    rows = rows[(rows >= 0) & (rows < call.rule.queries)]
    could = call.rule.allowed(rows, columns).any(-1)
    emptied = (could & ~edited.rule.allowed(rows, columns).any(-1)).any(1).any(0)
    if bool(emptied.any()):
        place = int(rows[emptied][0]) + call.rule.query_offset
        raise ReadingError(
            f"token {place} may look at nothing any more in {module}: leave it at least one token (a causal model's "
            "first token has only itself)"
        )


def _stack(layers: Sequence[AttentionLayer], name: str) -> list[AttentionLayer]:
    """The layers of a stack."""
    found = [layer for layer in layers if layer.stack == name]
    if not found:
        there = list(dict.fromkeys(layer.stack for layer in layers))
        if there == [""]:
            raise OutOfRange(f"there is no stack {name!r}: this model has one, so leave stack= out")
        raise OutOfRange(f"there is no stack {name!r}: give stack=, one of {', '.join(there)}")
    return found


def _layer(stack: Sequence[AttentionLayer], number: int) -> AttentionLayer:
    """The layer of a number."""
    for layer in stack:
        if layer.number == number:
            return layer
    numbers = ", ".join(str(layer.number) for layer in stack)
    raise OutOfRange(f"layer {number} cannot be edited; layers with attention: {numbers}")


def _check_head(layer: AttentionLayer, head: int) -> None:
    """Refuse a head that the layer does not have."""
    if not 0 <= head < layer.heads:
        raise OutOfRange(
            f"head {head} is out of range: layer {layer.number} has {layer.heads} heads, 0 to {layer.heads - 1}"
        )
