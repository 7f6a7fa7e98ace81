"""Many texts read in few forward passes: those of like length run together, and each is read as if it were alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from heedmap.errors import OutOfRange, ReadingError, UnsupportedModel
from heedmap.reading.again import Ran, weights_known_by
from heedmap.reading.batch import text_call
from heedmap.reading.call import AttentionCall
from heedmap.reading.editor import edited_text
from heedmap.reading.forward import predicts_next_token
from heedmap.reading.kept_calls import refuse_other_positions
from heedmap.reading.layers import is_encoder_decoder
from heedmap.reading.listening import AttentionLayer, LayerListener
from heedmap.reading.odds import most_likely
from heedmap.reading.own_code import has_own_code
from heedmap.reading.padded import SIDES, Padded, Side, check_padding, pad, padding_id, run_padded
from heedmap.reading.progress import Progress
from heedmap.reading.reading import Reading
from heedmap.reading.short_input import refuse_text_alone
from heedmap.reading.tap import Heard, tap
from heedmap.text.tokens import Tokens
from heedmap.whole_numbers import one_or_several

if TYPE_CHECKING:
    from heedmap.reading.model import Model


_LIKE_LENGTH = 1.25
"""Texts run together while the longest is no longer than this many times the shortest: padding costs a run's time."""

_SHORT = 16
"""Texts of up to so many tokens are of like length."""


def read_together(
    model: Model,
    texts: Sequence[Tokens],
    *,
    layers: int | Iterable[int] | None = None,
    batch_size: int = 8,
    padding: Side = "right",
    values: bool = False,
    progress: Progress | None = None,
) -> list[Reading]:
    """One reading for each text, in the order given; see `Model.read_batch`.

    Raises:
        ReadingError: another side of padding.
        OutOfRange: a batch of less than one text, or no such layer.
        UnsupportedModel: the model reads a padded text otherwise than the text alone.
    """
    if padding not in SIDES:
        raise ReadingError(f"padding {padding!r} is not known: take 'right' or 'left'")
    if batch_size < 1:
        raise OutOfRange(f"a batch of {batch_size} texts was asked for: take 1 or more")
    refuse_text_alone(model.module, model.name)
    if is_encoder_decoder(model.module):
        raise UnsupportedModel(
            f"{model.name} has an encoder and a decoder: read its texts one by one, each with a target"
        )
    if has_own_code(model.module):
        # Such a model is read from its eager weights, a layer at a time: a batch would hold a map for each text.
        return [model.read_tokens(tokens, layers=layers, values=values) for tokens in texts]
    wanted = None if layers is None else one_or_several(layers)
    found: dict[int, Reading] = {}
    for places in _of_like_length([len(tokens) for tokens in texts], batch_size):
        if progress is not None:
            progress(len(found), len(texts), "reading texts")
        batch = [texts[place] for place in places]
        found.update(zip(places, _read(model, batch, wanted, padding, values), strict=True))
    if progress is not None:
        progress(len(found), len(texts), "reading texts")
    return [found[place] for place in range(len(texts))]


def _of_like_length(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Places of texts that run together, shortest first."""
    together: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        too_long = together and lengths[place] > max(lengths[together[0]] * _LIKE_LENGTH, _SHORT)
        if too_long or len(together) == batch_size:
            yield together
            together = []
        together.append(place)
    if together:
        yield together


def _read(
    model: Model, texts: Sequence[Tokens], layers: list[int] | None, padding: Side, values: bool
) -> list[Reading]:
    """The readings of one batch."""
    batch = pad([tokens.ids for tokens in texts], padding_id(model.module), padding)
    if not bool(batch.present.all()):
        check_padding(model.module, padding)
    model.cost(batch.ids.numel(), layers=layers, values=values).require()
    heard, answer = _listen(model, texts, batch, layers, values)
    has_odds = predicts_next_token(model.module)
    weights = weights_known_by(model.module)
    about = {**model.describe(), "padding": {"side": padding, "texts": len(texts)}}
    readings = []
    for row, (tokens, (start, stop)) in enumerate(zip(texts, batch.places, strict=True)):
        logits = answer[row] if has_odds else None
        readings.append(
            Reading(
                tokens=tokens,
                layers=model.layers,
                calls=OrderedDict((number, text_call(call, row, start, stop)) for number, call in heard.items()),
                model={**about, "padding": {**about["padding"], "tokens": batch.ids.shape[1] - len(tokens)}},
                logits=logits,
                candidates=() if logits is None else most_likely(logits, model.tokenizer),
                reader=model,
                ran=Ran(weights),
            )
        )
    return readings


def _listen(
    model: Model, texts: Sequence[Tokens], batch: Padded, layers: list[int] | None, values: bool
) -> tuple[OrderedDict[int, AttentionCall], torch.Tensor]:
    """The attention calls of the layers wanted, for the whole batch, and the model's answer."""
    wanted = model.wanted(layers)
    calls: OrderedDict[int, AttentionCall] = OrderedDict()

    def keep(layer: AttentionLayer, heard: Heard) -> None:
        refuse_other_positions(layer.number, heard.call, batch.ids.shape[1], batch.ids.shape[1])
        if layer.number in wanted:
            calls[layer.number] = heard.kept(values=values)

    editor = model.editor(
        [edited_text(model.edit, tokens, start) for tokens, (start, _) in zip(texts, batch.places, strict=True)]
    )
    with tap(model.module, LayerListener(model.layers, keep), editor=editor):
        return calls, run_padded(model.module, batch)
