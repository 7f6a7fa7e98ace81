"""`heedmap.watch`: read the forward calls that somebody's own code makes, without changing what they do."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.again import Ran, inputs_to_keep, weights_known_by
from heedmap.reading.call import AttentionCall
from heedmap.reading.forward_call import ForwardCall, WatchedCall, layer_number, stack_name
from heedmap.reading.forward_texts import (
    arguments_by_name,
    ids_and_presence,
    last_logits,
    pictures_and_sizes,
    readings_of,
)
from heedmap.reading.kept_calls import check_layer
from heedmap.reading.layers import (
    AttentionLayer,
    attention_layers,
    other_layers,
    reads_text_alone,
    refuse_wrong_weights,
)
from heedmap.reading.pictures import pictures_of
from heedmap.reading.reading import Reading
from heedmap.reading.tap import Heard, Session, outermost_models, tap
from heedmap.whole_numbers import one_or_several


@contextlib.contextmanager
def watch(
    module: nn.Module, tokenizer: Any = None, *, layers: int | Iterable[int] | None = None, values: bool = False
) -> Iterator[Watch]:
    """Read whatever forward calls are made inside the block: a processor's batch, a pipeline, generation, training.

    The model is not wrapped, and stays in its mode: outputs, gradients and random numbers are those without the
    watch, to rounding. In training mode the weights read are those before dropout. A forward call is the call of the
    module, or of a part that is itself a transformers model (an encoder, a vision tower), from any thread; what
    backward passes compute again is not one. At its first use a model of text is checked on a short input.

    Each forward call keeps query, key and one number a row, so memory grows with the number of calls and their
    lengths: ask for some layers, or `clear()` the list `forwards`, in a long loop.

    Args:
        module: a transformers model, or a module that holds one. Give the model itself: a pipeline's is `pipe.model`.
        tokenizer: its fast tokenizer, for `readings`.
        layers: the layers to keep, from 0; None keeps all.
        values: also keep each layer's values and output, for `explain` where the call cannot be run again.

    Raises:
        UnsupportedModel: its attention cannot be read rightly, or none was heard although it ran.
        OutOfRange: the model has no such layer.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> batch = model.tokenizer(["The cat sat", "A dog"], padding=True, return_tensors="pt")
        >>> with heedmap.watch(model.module, model.tokenizer, layers=[12]) as watched:
        ...     output = model.module(**batch)
        >>> [reading.text for reading in watched.readings]
        ['The cat sat', 'A dog']
        >>> watched.forwards[0].weights(layer=12, head=4).shape
        (2, 3, 3)
    """
    if not isinstance(module, nn.Module):
        raise UnsupportedModel(
            f"{type(module).__name__} is not a torch module: give the model itself (model.module of a heedmap model, "
            "pipe.model of a pipeline)"
        )
    watched = Watch(module, tokenizer, layers, values=values)
    with tap(module, watched._receive, keep_mode=True) as session:
        handles = watched._notice_forward_calls(session)
        try:
            yield watched
        finally:
            for handle in handles:
                handle.remove()
    watched._refuse_silence()


class _Open(threading.local):
    """The forward call that is going on in a thread."""

    depth = 0
    forward: ForwardCall | None = None
    token: Any = None


class Watch:
    """What was heard inside a `watch` block.

    Attributes:
        forwards: the forward calls, in the order in which they ended.
    """

    def __init__(
        self, module: nn.Module, tokenizer: Any, layers: int | Iterable[int] | None, *, values: bool = False
    ) -> None:
        self._values = values
        self.forwards: list[ForwardCall] = []
        self._module = module
        self._tokenizer = tokenizer
        self._layers = None if layers is None else set(one_or_several(layers))
        self._checked = _check(module, self._layers)
        self._models = outermost_models(module)
        self._open = _Open()
        self._silent = ""

    @property
    def readings(self) -> list[Reading]:
        """A full `Reading` of every text of every forward call that ran whole texts.

        Raises:
            ReadingError: there is none; the reason is that of the first forward call.
        """
        found: list[Reading] = []
        refused: ReadingError | None = None
        for forward in self.forwards:
            try:
                found += forward.readings
            except ReadingError as error:
                refused = refused or error
        if not found:
            raise refused or ReadingError("no forward call of the model was made inside the block")
        return found

    def _receive(self, heard: Heard) -> None:
        """Keep one attention call of the forward call that is going on."""
        if self._open.forward is None:
            return  # computed again by a backward pass, or a layer called by itself
        call = heard.call
        model = max((name for name in self._models if heard.module.startswith(f"{name}.")), key=len, default="")
        layer = AttentionLayer(layer_number(heard.module, model), heard.module, call.heads, call.key_value_heads)
        if heard.module not in self._checked:
            refuse_wrong_weights(self._module, layer, heard)
            self._checked.add(heard.module)
        wanted = self._layers is None or layer.number in self._layers
        kept = _with_own_keys(heard.kept(values=self._values)) if wanted else None
        self._open.forward.heard.append(WatchedCall(layer, stack_name(heard.module, model), kept, heard.dropout))

    def _notice_forward_calls(self, session: Session) -> list[Any]:
        """Hook the module and every part that is a model itself; the outermost one called makes a forward call."""
        handles = []
        for name, part in self._module.named_modules():
            if isinstance(part, PreTrainedModel) or part is self._module:
                handles.append(part.register_forward_pre_hook(self._entering(session, name), with_kwargs=True))
                handles.append(part.register_forward_hook(self._leaving(session), always_call=True))
        return handles

    def _entering(self, session: Session, name: str) -> Any:
        """A hook for the moment in which a part is called."""
        started = self._open

        def hook(part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            if not session.is_heard_here:
                started.token = session.enter()
                if started.token is None:
                    return  # somebody else's tap, inside the block
            if started.depth == 0:
                started.forward = ForwardCall(
                    name,
                    make_readings=self._readings_maker(),
                    make_pictures=lambda forward: pictures_of(forward, self._module),
                )
                inputs = inputs_to_keep(arguments_by_name(part, arguments, named))
                started.forward.ran = Ran(inputs=inputs)
            started.depth += 1
            if started.forward is not None and started.forward.ids is None:
                started.forward.ids, started.forward.present = ids_and_presence(part, arguments, named)
            if started.forward is not None and started.forward.pixels is None:
                started.forward.pixels = pictures_and_sizes(part, arguments, named)

        return hook

    def _leaving(self, session: Session) -> Any:
        """A hook for the moment in which a part has returned, or raised."""
        started = self._open

        def hook(part: nn.Module, _: tuple[Any, ...], output: Any) -> None:
            if not session.is_heard_here:
                return
            started.depth -= 1
            if started.depth:
                return
            forward, started.forward = started.forward, None
            if output is not None and forward is not None and not forward.heard:
                self._silent = type(part).__name__
            elif output is not None and forward is not None:
                forward.logits = last_logits(part, output, forward) if self._tokenizer is not None else None
                if self._tokenizer is not None and forward.text_stacks:
                    forward.ran = replace(forward.ran, weights=weights_known_by(part))
                self.forwards.append(forward)
            if started.token is not None:
                session.leave(started.token)
                started.token = None

        return hook

    def _refuse_silence(self) -> None:
        """Refuse a model that ran and was never heard, so that nothing looks like an empty result."""
        if self._silent and not self.forwards:
            raise UnsupportedModel(f"{self._silent} ran, and never called an attention function that can be read")

    def _readings_maker(self) -> Any:
        """What makes readings of a forward call, None without a tokenizer."""
        if self._tokenizer is None:
            return None
        return lambda forward: readings_of(forward, self._module, self._tokenizer)

    def __str__(self) -> str:
        return "\n".join(str(forward) for forward in self.forwards) or "no forward call yet"


def _check(module: nn.Module, layers: set[int] | None) -> set[str]:
    """The attention modules that need no check while they run: those of a model of text, checked on a short input."""
    if not (isinstance(module, PreTrainedModel) and reads_text_alone(module)):
        return set()
    known = attention_layers(module)
    others = {str(number): kind for number, kind in other_layers(module).items()}
    for number in sorted(layers or ()):
        check_layer(number, known, {"layers_without_attention": others})
    return {layer.module for layer in known}


def _with_own_keys(call: AttentionCall) -> AttentionCall:
    """The call with a copy of the keys that can be reached: a cache may write over its own, or be longer."""
    _, stop = call.rule.key_range(0, call.rule.queries)
    return replace(
        call,
        key=call.key[:, :, :stop].clone(),
        value=None if call.value is None else call.value[:, :, :stop].clone(),
        rule=call.rule.crop_keys(stop),
        bias=None if call.bias is None else call.bias[..., :stop],
    )
