"""What an encoder-decoder did with a source and a target: its three stacks of layers, kept apart."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import torch

from heedmap.errors import ReadingError, TextError
from heedmap.reading.call import AttentionCall
from heedmap.reading.cost import estimate
from heedmap.reading.editor import EditedText
from heedmap.reading.forward import input_device, run, run_inputs
from heedmap.reading.layers import AttentionLayer, is_encoder_decoder
from heedmap.reading.listening import CROSS, DECODER, ENCODER, LayerListener
from heedmap.reading.map import Map
from heedmap.reading.odds import Odds, most_likely
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.progress import Progress, counted
from heedmap.reading.reading import Reading
from heedmap.reading.row import Row
from heedmap.reading.scores import ScoreMap
from heedmap.reading.short_input import refuse_text_alone
from heedmap.reading.tap import Heard, tap
from heedmap.text.pieces import Pieces
from heedmap.text.tokens import Token, Tokens

if TYPE_CHECKING:
    from heedmap.reading.listening_model import ListeningModel
    from heedmap.reading.model import Model

STACKS = (ENCODER, DECODER, CROSS)
"""The stacks of an encoder-decoder, in the order in which they run."""


class CrossReading(Reading):
    """The decoder's look at the source: rows and maps from target tokens (`tokens`) to source tokens (`keys`).

    What takes a token's place among those it looks at for granted (statistics, rollout, spans ...) is refused.
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise ReadingError(
            "this is not defined for cross-attention, whose queries and keys are different tokens: take .row(word) or "
            ".map(layer, head), or the stacks .encoder and .decoder"
        )

    rollout = stats = received = spans = top = explain = value_norms = _refuse

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refused: it is saved with the other stacks.

        Raises:
            ReadingError: always.
        """
        raise ReadingError(f"cross-attention is saved with both its texts: save the whole reading as {path}")


@dataclass(frozen=True, slots=True, eq=False)
class EncoderDecoderReading(OnAPage):
    """What an encoder-decoder did with a source and a target, as one reading a stack.

    Layers count from 0 in each stack; the numbers of layers and heads may differ between encoder and decoder.

    Attributes:
        encoder: the source's look at itself: a full `Reading`.
        decoder: the target's look at itself: a full `Reading`, with the odds of the next token.
        cross: the target's look at the source: rows and maps.
    """

    encoder: Reading
    decoder: Reading
    cross: CrossReading

    @property
    def source(self) -> Tokens:
        """The tokens that the encoder ran."""
        return self.encoder.tokens

    @property
    def target(self) -> Tokens:
        """The tokens that the decoder ran."""
        return self.decoder.tokens

    def stack(self, name: str) -> Reading:
        """The reading of a stack: "encoder", "decoder" or "cross".

        Raises:
            ReadingError: another name.
        """
        if name not in STACKS:
            raise ReadingError(f"there is no stack {name!r}: take one of {', '.join(STACKS)}")
        reading: Reading = getattr(self, name)
        return reading

    def row(
        self, word: str, layer: int | None = None, head: int | None = None, *, stack: str, query_rule: str = "mean"
    ) -> Row:
        """Where a word looks, in one stack: a word of the source in "encoder", of the target in the other two.

        Raises:
            ReadingError: no such stack; else as `Reading.row`.
        """
        return self.stack(stack).row(word, layer, head, query_rule=query_rule)

    @overload
    def map(
        self, layer: int | None = None, head: int | None = None, *, stack: str, scores: Literal[False] = False
    ) -> Map: ...
    @overload
    def map(
        self, layer: int | None = None, head: int | None = None, *, stack: str, scores: Literal[True]
    ) -> ScoreMap: ...
    def map(
        self, layer: int | None = None, head: int | None = None, *, stack: str, scores: bool = False
    ) -> Map | ScoreMap:
        """The map of one head of a stack, or the mean over heads; see `Reading.map`.

        Raises:
            ReadingError: no such stack; else as `Reading.map`.
        """
        reading = self.stack(stack)
        return reading.map(layer, head, scores=True) if scores else reading.map(layer, head)

    def next(self, top: int = 10) -> Odds:
        """The odds of the token after the target; see `Reading.next`."""
        return self.decoder.next(top)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all three stacks as one safetensors file that needs no model to open.

        Raises:
            FileError: the file cannot be written; one that was there stays as it was.
        """
        from heedmap.reading.storage import save_stacks

        save_stacks(self, path)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> EncoderDecoderReading:
        """Open a reading that was saved.

        Raises:
            FileError: the file cannot be read.
            ReadingError: it is not the reading of an encoder-decoder, or it is damaged.
        """
        from heedmap.reading.storage import load_stacks

        return load_stacks(path)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {len(self.stack(name).layers)} layers" for name in STACKS)
        return f"{self.encoder.model['name']}: {sizes}; {len(self.source)} source and {len(self.target)} target tokens"


def read_two_stacks(
    model: Model,
    source: Tokens,
    target: Tokens,
    *,
    layers: int | Iterable[int] | None = None,
    values: bool = False,
    progress: Progress | None = None,
    inputs: Mapping[str, torch.Tensor] | None = None,
) -> EncoderDecoderReading:
    """Read a source and a target (see `decoder_tokens`) in one ordinary forward pass; the rest as in `Model.read`.

    `inputs` is what the encoder runs, where it is not the source's ids: a sound, whose tokens name its stretches.
    """
    if inputs is None:
        refuse_text_alone(model.module, model.name)
    wanted = model.wanted(layers)
    estimate(model.module, model.layers, len(source) + len(target), kept=wanted, values=values).require()
    calls: dict[str, OrderedDict[int, AttentionCall]] = {name: OrderedDict() for name in STACKS}

    def keep(pair: tuple[AttentionLayer, Heard]) -> None:
        layer, heard = pair
        if layer.number in wanted:
            calls[layer.stack][layer.number] = heard.kept(values=values)

    tell = counted(keep, len(model.layers), "reading layers", progress)
    ids, decoder_ids = (torch.tensor([one.ids], device=input_device(model.module)) for one in (source, target))
    tokens = {ENCODER: source, DECODER: target, CROSS: target}
    editor = model.editor([EditedText(model.edit, tokens, {**tokens, CROSS: source})])
    with tap(model.module, LayerListener(model.layers, lambda layer, heard: tell((layer, heard))), editor=editor):
        if inputs is None:
            answer = run(model.module, ids, decoder_ids)
        else:
            answer = run_inputs(model.module, {**inputs, "decoder_input_ids": decoder_ids})
    logits = answer[0, -1] if model.module.can_generate() else None
    decoder = _stack_reading(model, DECODER, target, calls)
    if logits is not None:
        decoder = replace(decoder, logits=logits, candidates=most_likely(logits, model.tokenizer))
    cross = _stack_reading(model, CROSS, target, calls, keys=source)
    parts = {name: getattr(cross, name) for name in ("tokens", "layers", "calls", "model", "keys")}
    return EncoderDecoderReading(_stack_reading(model, ENCODER, source, calls), decoder, CrossReading(**parts))


def _stack_reading(
    model: Model,
    stack: str,
    tokens: Tokens,
    calls: dict[str, OrderedDict[int, AttentionCall]],
    keys: Tokens | None = None,
) -> Reading:
    """The reading of one stack; `keys` are the tokens looked at, where they are others."""
    from heedmap.reading.listening_model import describe

    layers = tuple(layer for layer in model.layers if layer.stack == stack)
    about = {**describe(model.module, model.loaded.source, layers), "stack": stack}
    if model.edit:
        about["edits"] = model.edit.to_json()
    return Reading(tokens=tokens, layers=layers, calls=calls[stack], model=about, keys=keys)


def decoder_tokens(model: Model, text: str, *, special_tokens: bool | None, truncate: bool) -> Tokens:
    """The tokens that the decoder runs for a target: moved one place to the right, behind the token it starts with.

    So row i chooses the target's token i + 1, as in training; what the tokenizer adds at the end is not run.

    Raises:
        ReadingError: the model is no encoder-decoder.
        TextError: the model's configuration does not say what its decoder starts with.
    """
    if not is_encoder_decoder(model.module):
        raise ReadingError(f"{model.name} is no encoder-decoder: read the text without a target")
    start = getattr(model.module.generation_config, "decoder_start_token_id", None)
    if start is None:
        start = getattr(model.module.config, "decoder_start_token_id", None)
    if not isinstance(start, int):
        raise TextError(
            f"{model.name} does not say which token its decoder starts with (decoder_start_token_id): set it"
        )
    found = model.tokenize(text, special_tokens=special_tokens, truncate=truncate)
    listed = list(found)
    if listed[0].id == start:
        listed = listed[1:]
    while len(listed) > 1 and listed[-1].special and listed[-1].start is None:
        listed.pop()
    pieces = Pieces(model.tokenizer)
    name = pieces.special.get(start, f"id {start}")
    label = pieces.label_special(start) if start in pieces.special else f"⟨id {start}⟩"
    first = Token(0, start, name, None, None, special=True, label=label)
    return Tokens(
        found.text,
        (first, *(replace(token, index=index) for index, token in enumerate(listed, 1))),
        cut_off=found.cut_off,
    )


def refuse_without_target(model: ListeningModel) -> None:
    """Refuse to run an encoder-decoder as if it had one stack.

    Raises:
        ReadingError: it has two; the message says how it is read.
    """
    if is_encoder_decoder(model.module):
        raise ReadingError(
            f"{model.name} has an encoder and a decoder: give what the decoder runs, model.read(text, target=...), "
            "on the command line --target"
        )
