"""`heedmap.watch`: read the forward calls that somebody's own code makes, without changing what they do."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
    with tap(module, watched._receive, keep_mode=True) as session, watched._noticing_forward_calls(session):
        yield watched
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
        unheard: how often models ran, by class, without a call of an attention function that can be read.
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
        self.unheard: Counter[str] = Counter()

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

    @contextlib.contextmanager
    def _noticing_forward_calls(self, session: Session) -> Iterator[None]:
        """Notice when the module, or a part that is a model itself, runs; the outermost one makes a forward call.

        `forward` itself is wrapped: hooks miss who calls it without the module (sentence-transformers does).
        """
        with contextlib.ExitStack() as wrapped:
            for name, part in self._module.named_modules():
                if isinstance(part, PreTrainedModel) or part is self._module:
                    wrapped.callback(self._wrap_forward(session, name, part))
            yield

    def _wrap_forward(self, session: Session, name: str, part: nn.Module) -> Callable[[], None]:
        """Wrap the `forward` of a part; what comes back puts its own in place again."""
        own, run = part.__dict__.get("forward"), part.forward
        enter, leave = self._entering(session, name), self._leaving(session)

        @functools.wraps(run)
        def forward(*arguments: Any, **named: Any) -> Any:
            enter(part, arguments, named)
            output = None
            try:
                output = run(*arguments, **named)
                return output
            finally:
                leave(part, output)

        def unwrap() -> None:
            if part.__dict__.get("forward") is forward:
                del part.forward
                if own is not None:
                    part.forward = own  # another wrapper's, such as accelerate's

        part.forward = forward
        return unwrap

    def _entering(self, session: Session, name: str) -> Any:
        """What happens when a part begins to run."""
        started = self._open

        def enter(part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            if not session.is_heard_here:
                started.token = session.enter()
                if started.token is None:
                    return  # somebody else's tap, inside the block
            if started.depth == 0:
                session.switch_again()
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

        return enter

    def _leaving(self, session: Session) -> Any:
        """What happens when a part has run, or raised."""
        started = self._open

        def leave(part: nn.Module, output: Any) -> None:
            if not session.is_heard_here:
                return
            started.depth -= 1
            if started.depth:
                return
            forward, started.forward = started.forward, None
            if output is not None and forward is not None and not forward.heard:
                self.unheard[type(part).__name__] += 1
            elif output is not None and forward is not None:
                forward.logits = last_logits(part, output, forward) if self._tokenizer is not None else None
                if self._tokenizer is not None and forward.text_stacks:
                    forward.ran = replace(forward.ran, weights=weights_known_by(part))
                self.forwards.append(forward)
            if started.token is not None:
                session.leave(started.token)
                started.token = None

        return leave

    def _refuse_silence(self) -> None:
        """Refuse a model that ran and was never heard, so that nothing looks like an empty result."""
        if self.unheard and not self.forwards:
            ran = ", ".join(self.unheard)
            raise UnsupportedModel(f"{ran} ran, and never called an attention function that can be read")

    def _readings_maker(self) -> Any:
        """What makes readings of a forward call, None without a tokenizer."""
        if self._tokenizer is None:
            return None
        return lambda forward: readings_of(forward, self._module, self._tokenizer)

    def __str__(self) -> str:
        lines = [str(forward) for forward in self.forwards]
        lines += [
            f"{kind} ran {times} times without attention that can be read" for kind, times in self.unheard.items()
        ]
        return "\n".join(lines) or "no forward call yet"


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
