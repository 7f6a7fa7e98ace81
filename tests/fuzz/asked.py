"""Everything that can be asked of a reading that was opened: an answer that can be shown, or an error of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from heedmap.errors import HeedmapError
from heedmap.reading.reading import Reading
from heedmap.reading.two_stacks import CrossReading, EncoderDecoderReading
from tests.fuzz.target import about

mpl.use("agg")

STEERING = ("\x1b", "\u202e", "\x00")


TURNS = 30


def ask_everything(reading: Reading | EncoderDecoderReading, folder: Path, turn: int) -> None:
    """Ask all that a reading answers; what is shown or written can be shown and written.

    Args:
        reading: as it was opened.
        folder: for what is written.
        turn: from 0 to `TURNS`: which layer and word are asked about, so that not every case asks about all; in one
            turn of ten, figures and pages are drawn too.
    """
    pictures = turn % 10 == 0
    stacks = [reading] if isinstance(reading, Reading) else [reading.encoder, reading.decoder, reading.cross]
    for stack in stacks:
        with about(stack.model.get("stack", "one stack")):
            _ask_a_stack(stack, turn)
    _is_text(str(reading))
    repr(reading)
    with suppress(HeedmapError):
        _is_text(str(reading.next(3)))
        _is_json(reading.next(1).to_json())
    if pictures:
        with suppress(HeedmapError):
            reading.page().encode()
    path = folder / "again.safetensors"
    reading.save(path)
    assert str(type(reading).open(path)) == str(reading)


def _ask_a_stack(reading: Reading, turn: int) -> None:
    """All questions about one layer of a stack; what its rows sum to, of each layer."""
    for number in reading.calls:
        _rows_are_shares(reading, number)
    number = list(reading.calls)[turn % len(reading.calls)]
    with about(f"layer {number}"):
        for ask in _questions(reading, number, ("@0", "@-1", "@1")[turn // 10]):
            with suppress(HeedmapError):
                ask()
    if turn % 10 == 0:
        _draw(reading)


def _rows_are_shares(reading: Reading, number: int) -> None:
    """Each row of each head sums to 1 with what a sink takes, but for rows that look at nothing or are no numbers."""
    call = reading.call(number)
    weights = call.weights(slice(None), slice(None))[0]
    allowed = call.rule.allowed(*_all_cells(call))[0].any(-1).expand(weights.shape[:2])
    sink = call.sink_share(slice(None))
    sums = weights.sum(-1) + (0.0 if sink is None else sink[0])
    off = (sums - 1).abs()
    wrong = ((off > 0.1) | sums.isinf()) & (allowed | (sums != 0)) & ~sums.isnan()
    assert not wrong.any(), f"layer {number}: rows that sum to {sums[wrong].unique().tolist()[:5]}"


def _all_cells(call: Any) -> tuple[Any, Any]:
    import torch

    return torch.arange(call.rule.queries), torch.arange(call.rule.keys)


def _questions(reading: Reading, number: int, word: str) -> list[Callable[[], object]]:
    """The questions about one layer, its first and last head, and a word."""
    last = reading.call(number).heads - 1
    whole, one = reading.map(number), reading.map(number, last)
    return [
        lambda: _is_text(str(whole)),
        lambda: repr(one),
        lambda: np.asarray(one).sum(),
        lambda: (whole[0, -1], one[-1], one[1:, :2], len(one)),
        lambda: list(whole.blocks()),
        lambda: whole.allowed(),
        lambda: [whole.pool(2, 3, how) for how in ("mean", "max")],
        lambda: np.asarray(reading.map(number, 0, scores=True)),
        lambda: reading.attentions(layers=number),
        lambda: reading.not_a_number(),
        lambda: _ask_statistics(reading, number),
        lambda: _shown(reading.received(number, last)),
        lambda: reading.received(number).largest(3),
        lambda: reading.rollout(),
        lambda: _shown(reading.spans({"a": (0, 1)}, layers=number)),
        lambda: _shown(reading.spans(split="sentences", of="all")),
        lambda: reading.value_norms("@0", number, 0),
        lambda: reading.tokens.groups(),
        lambda: [reading.tokens.find(word.text) for word in reading.tokens.words()[:3]],
        lambda: _shown(reading.row(word, number)),
        lambda: _shown(reading.row(word, number, last, query_rule="last", scores=True)),
        lambda: _is_json(reading.top(word, 3, layers=number).to_json()),
        lambda: _shown(reading.rollout(word)),
        lambda: _shown(reading.explain(word, number, last)),
    ]


def _ask_statistics(reading: Reading, number: int) -> None:
    """All columns, and all that can be measured beside them."""
    _shown(reading.stats(layers=number))
    statistics = reading.stats(layers=number, received=True, largest=True, positions=True)
    _is_json(statistics.to_json())
    statistics.order("entropy")
    for column in statistics.by_position or {}:
        statistics.curve(column, number)


def _draw(reading: Reading) -> None:
    """The figures."""
    from matplotlib import pyplot

    drawn: list[Callable[[], object]] = [lambda: reading.row("@0").plot(), lambda: reading.map(None, 0).plot()]
    if not isinstance(reading, CrossReading):
        drawn += [lambda: reading.stats(positions=True, layers=reading.middle).plot(), lambda: reading.page()]
    for draw in drawn:
        with suppress(HeedmapError):
            draw()
        pyplot.close("all")


def _shown(answer: Any) -> None:
    """It can be printed, and written as strict JSON."""
    _is_text(str(answer))
    if hasattr(answer, "to_json"):
        _is_json(answer.to_json())


def _is_json(value: Any) -> None:
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def _is_text(text: str) -> None:
    text.encode()
    assert not any(sign in text for sign in STEERING), text
