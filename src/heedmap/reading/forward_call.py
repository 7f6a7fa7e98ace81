"""What one forward call of somebody's own code did: its attention calls, and the texts that it ran."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.again import Ran
from heedmap.reading.attentions import attention_tensors, batch_map
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.progress import Progress
from heedmap.reading.word_row import Floats

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

_NUMBER = re.compile(r"(?:^|(?<=\.))(\d+)(?=\.|$)")


@dataclass(frozen=True, slots=True, eq=False)
class WatchedCall:
    """One attention call of a forward call.

    Attributes:
        layer: the layer it belongs to, numbered within its stack.
        stack: the stack of layers it belongs to: the module's name with `*` for the layer's number. A model of text
            has one; an encoder-decoder has three (encoder, decoder, cross-attention).
        call: what went into it; None for a layer that was not to be kept.
        dropout: the share of weights that the model then dropped in training mode; the weights here are before it.
    """

    layer: AttentionLayer
    stack: str
    call: AttentionCall | None
    dropout: float = 0.0


@dataclass(slots=True, eq=False)
class ForwardCall:
    """One forward call, as it was watched.

    Attributes:
        part: name of the module that was called; empty for the watched module itself.
        heard: its attention calls, in the order in which they ran.
        ids: [text, token] the token ids that went in; None when none were seen.
        present: [text, token] False for padding; None when nothing said so.
        pixels: how many pictures went in, and their height and width; None when none were seen.
        logits: [text, vocabulary] after each text's last token; None for models that predict no next token.
        ran: how the outermost module ran, for a second pass.
    """

    part: str
    heard: list[WatchedCall] = field(default_factory=list)
    ids: torch.Tensor | None = None
    present: torch.Tensor | None = None
    pixels: tuple[int, int, int] | None = None
    logits: torch.Tensor | None = None
    ran: Ran = field(default=Ran(), repr=False)
    make_pictures: Callable[[ForwardCall], list[Reading]] | None = field(default=None, repr=False)
    make_readings: Callable[[ForwardCall], list[Reading]] | None = field(default=None, repr=False)

    @property
    def calls(self) -> list[WatchedCall]:
        """The attention calls that were kept."""
        return [one for one in self.heard if one.call is not None]

    @property
    def stacks(self) -> list[str]:
        """The stacks of layers whose attention was heard, in the order in which they ran."""
        return list(dict.fromkeys(one.stack for one in self.heard))

    @property
    def text_stacks(self) -> list[str]:
        """The stacks that every token of every text ran through: one, but for encoder-decoders of equal lengths."""
        if self.ids is None:
            return []
        texts, length = self.ids.shape
        whole = (texts, length, length)
        fitting = [one.stack for one in self.calls if one.call is not None and _sizes(one.call) == whole]
        return list(dict.fromkeys(fitting))

    @property
    def dropout(self) -> float:
        """The largest share of weights that was dropped; the weights here are those before it. 0 for none."""
        return max((one.dropout for one in self.heard), default=0.0)

    @property
    def readings(self) -> list[Reading]:
        """One full `Reading` for each text of the batch, without its padding.

        Raises:
            ReadingError: no tokenizer was given, no token ids were seen, or no stack ran whole texts (a step of
                generation runs one new token).
            EmptyText: a text is nothing but padding.
        """
        if self.make_readings is None:
            raise ReadingError(
                "readings need the tokenizer: heedmap.watch(module, tokenizer); the weights are in .weights(layer)"
            )
        return self.make_readings(self)

    @property
    def pictures(self) -> list[Reading]:
        """One full `Reading` for each picture that a vision model, or the vision tower of a larger one, ran.

        Its tokens are the patches by row and column, "r0c0", "r0c1" ..., after the class token ("class"), where there
        is one: `forward.pictures[0].row("class", layer=3)`.

        Raises:
            ReadingError: no pictures were seen, or the order of the model's tokens is not known.
        """
        assert self.make_pictures is not None
        return self.make_pictures(self)

    def call(self, layer: int, *, stack: str | None = None) -> AttentionCall:
        """The attention call of a layer, [text] rows together as they ran.

        Args:
            layer: from 0, within its stack.
            stack: a part of the stack's name; needed only where there are several.

        Raises:
            OutOfRange: no such layer.
            ReadingError: the stack is not clear, or the layer was not kept.
        """
        candidates = self._stack(stack)
        found = [one for one in candidates if one.layer.number == layer]
        if not found:
            numbers = sorted({one.layer.number for one in candidates})
            raise OutOfRange(f"layer {layer} was not heard in this forward call: there are {_listed(numbers)}")
        if len(found) > 1:
            raise ReadingError(
                f"layer {layer} called attention {len(found)} times in this forward call: take one of them from .calls"
            )
        if found[0].call is None:
            kept = [one.layer.number for one in candidates if one.call is not None]
            raise ReadingError(f"layer {layer} was not kept (kept: {_listed(kept)}): watch with layers={layer}")
        return found[0].call.made_exact()

    def weights(self, layer: int, head: int | None = None, *, stack: str | None = None) -> Floats:
        """The whole maps of a layer, [text, query, key] in float64; 0 where forbidden and in padding.

        Args:
            layer: from 0, within its stack.
            head: from 0; None is the mean over heads.
            stack: a part of the stack's name; needed only where there are several.

        Raises:
            OutOfRange: no such layer or head.
            ReadingError: the stack is not clear, or the layer was not kept.
            TooLarge: the maps do not fit the memory.
        """
        call = self.call(layer, stack=stack)
        if head is not None and not 0 <= head < call.heads:
            raise OutOfRange(
                f"head {head} is out of range: layer {layer} has {call.heads} heads, 0 to {call.heads - 1}"
            )
        instead = "ask its call for a tile, .call(layer).weights(rows, columns)"
        weights = batch_map(call, head, instead=instead)
        padding = self._padding(self._stack(stack)[0].stack)
        if padding is not None:
            weights[padding.to(weights.device)] = 0.0
        return np.asarray(weights.cpu().numpy())

    def attentions(self, *, stack: str | None = None, progress: Progress | None = None) -> tuple[torch.Tensor, ...]:
        """All maps in transformers' shape: one [text, head, query, key] tensor a layer that was kept.

        Raises:
            ReadingError: the stack is not clear.
            TooLarge: they do not fit the memory.
        """
        heard = self._stack(stack)
        calls = [one.call.made_exact() for one in heard if one.call is not None]
        instead = "watch some layers (layers=...), or ask for .weights(layer)"
        found = attention_tensors(calls, progress, instead=instead)
        padding = self._padding(heard[0].stack)
        for weights in found:
            if padding is not None:
                weights.masked_fill_(padding[:, None, :, None].to(weights.device), 0.0)
        return found

    def _padding(self, stack: str) -> torch.Tensor | None:
        """[text, query] True for the rows of padding in a stack, which are absent; None where there are none."""
        return None if self.present is None or self.text_stacks != [stack] else ~self.present

    def _stack(self, stack: str | None) -> list[WatchedCall]:
        """The attention calls of one stack."""
        names = [name for name in self.stacks if stack is None or stack in name]
        if len(names) != 1:
            given = "several stacks of layers ran" if stack is None else f"{stack!r} names {len(names)} stacks"
            raise ReadingError(f"{given}: give stack=, a part of one of {_listed(self.stacks)}")
        return [one for one in self.heard if one.stack == names[0]]

    def __str__(self) -> str:
        sizes = {f"{call.rule.queries} x {call.rule.keys}" for one in self.calls if (call := one.call) is not None}
        after = f"; weights before a dropout of {self.dropout:g}" if self.dropout else ""
        name = self.part or "the model"
        return f"forward call of {name}: {len(self.calls)} attention calls kept, {_listed(sorted(sizes))}{after}"


def _sizes(call: AttentionCall) -> tuple[int, int, int]:
    """How many texts, queries and keys a call has."""
    return call.query.shape[0], call.rule.queries, call.rule.keys


def layer_number(module: str, model: str = "") -> int:
    """The layer's number in the name of an attention module: the first number, or 0 where there is none.

    Args:
        module: the name of the attention module.
        model: the name of the transformers model that it is in: numbers in it (`torch.nn.Sequential`) are no layers.

    Example:
        >>> layer_number("0.model.layers.12.self_attn", "0"), layer_number("pooler.attention")
        (12, 0)
    """
    found = _NUMBER.search(module, len(model))
    return 0 if found is None else int(found.group(1))


def stack_name(module: str, model: str = "") -> str:
    """The stack that an attention module belongs to; arguments as in `layer_number`.

    Example:
        >>> stack_name("decoder.block.3.layer.1.EncDecAttention")
        'decoder.block.*.layer.1.EncDecAttention'
    """
    return module[: len(model)] + _NUMBER.sub("*", module[len(model) :], count=1)


def _listed(items: object) -> str:
    """Some items in words."""
    return ", ".join(str(one) for one in items) if isinstance(items, list) and items else "none"
