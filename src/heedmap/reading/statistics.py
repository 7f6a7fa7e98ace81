"""Exact statistics of all heads of a text, reduced layer by layer: nothing but the table is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.reading.call import AttentionCall
from heedmap.reading.cost import estimate
from heedmap.reading.progress import Progress, counted
from heedmap.reading.statistics_columns import COLUMNS, STANDARD, chosen_columns
from heedmap.reading.statistics_measure import Measured, measure
from heedmap.reading.statistics_received import Received
from heedmap.reading.statistics_summary import COUNTS, MEDIAN, Numbers, summarise
from heedmap.reading.statistics_table import Statistics, StatisticsOfTexts, Table, combine
from heedmap.reading.tap import Heard
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.reading.reading import Reading

__all__ = [
    "COLUMNS",
    "COUNTS",
    "MEDIAN",
    "STANDARD",
    "Received",
    "Statistics",
    "StatisticsMeter",
    "StatisticsOfTexts",
    "Table",
    "chosen_columns",
    "combine",
    "stats_of_reading",
    "stats_of_tokens",
]


class StatisticsMeter:
    """Measures the attention calls of one text, layer by layer.

    Args:
        tokens: the tokens that run.
        only: the columns to compute, names of `COLUMNS`; None takes all but `largest`.
        largest: also the largest weight of each row, which costs about as much as everything else.
        received: also what each token receives.
        positions: also keep the values at each position.

    Raises:
        OutOfRange: there is no such column.
    """

    def __init__(
        self,
        tokens: Tokens,
        *,
        only: Collection[str] | None = None,
        largest: bool = False,
        received: bool = False,
        positions: bool = False,
    ) -> None:
        self.tokens = tokens
        self.columns = chosen_columns(only, largest=largest)
        self.received = received
        self.positions = positions
        self._special = torch.tensor([token.special for token in tokens])
        self._summaries: dict[int, dict[str, Numbers]] = {}
        self._values: dict[int, dict[str, Numbers]] = {}
        self._received: dict[int, tuple[Numbers, Numbers]] = {}

    def add(self, layer: int, call: AttentionCall) -> None:
        """Reduce the attention call of one layer; the call itself is not kept."""
        measured = measure(call, self.columns, self._special.to(call.query.device), received=self.received)
        self._summaries[layer] = summarise(measured)
        if self.positions:
            self._values[layer] = {name: value.cpu().numpy() for name, value in measured.values.items()}
        if self.received:
            self._received[layer] = _column_sums(measured)

    def table(self, model: dict[str, Any]) -> Statistics:
        """The table of what has been added, in the order of layers."""
        layers = sorted(self._summaries)
        summaries = [self._summaries[layer] for layer in layers]
        columns = {name: np.concatenate([summary[name] for summary in summaries]) for name in summaries[0]}
        heads = [len(summary["counted"]) for summary in summaries]
        received = [self._received[layer] for layer in layers] if self.received else None
        return Statistics(
            model=model,
            columns={
                "layer": np.repeat(layers, heads),
                "head": np.concatenate([np.arange(count) for count in heads]),
                **columns,
            },
            tokens=self.tokens,
            by_position={name: np.concatenate([self._values[layer][name] for layer in layers]) for name in self.columns}
            if self.positions
            else None,
            column_sums=None if received is None else np.concatenate([sums for sums, _ in received]),
            lookers=None if received is None else np.concatenate([lookers for _, lookers in received]),
        )


def _column_sums(measured: Measured) -> tuple[Numbers, Numbers]:
    """What each token receives and how many may look at it, both [head, token]."""
    assert measured.received is not None
    sums = measured.received.sums.cpu().numpy()
    return sums, np.broadcast_to(measured.received.lookers.cpu().numpy(), sums.shape)


def stats_of_tokens(
    model: Model,
    meter: StatisticsMeter,
    *,
    layers: int | Iterable[int] | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """The statistics of the meter's tokens, measured while they run once; errors as in `Model.stats`.

    Args:
        model: the model to run.
        meter: what is measured; a fresh one.
        layers: the layers to measure, from 0; None measures all.
        progress: told how many layers have run.
    """
    estimate(model.module, model.layers, len(meter.tokens)).require()

    def receive(layer: int, heard: Heard) -> None:
        meter.add(layer, heard.call)

    model.listen(meter.tokens, receive, layers=layers, progress=progress)
    return meter.table(model.describe())


def stats_of_reading(
    reading: Reading,
    meter: StatisticsMeter,
    *,
    layers: int | Iterable[int] | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """The statistics of what a reading kept; errors as in `Reading.stats`.

    Args:
        reading: whose calls are measured.
        meter: what is measured; a fresh one, of the reading's tokens.
        layers: the layers to measure, from 0; None measures all that were kept.
        progress: told how many layers have been measured.
    """
    numbers = sorted({reading.layer_number(one) for one in reading.kept_numbers(layers)})

    def receive(number: int) -> None:
        meter.add(number, reading.call(number))

    tell = counted(receive, len(numbers), "statistics", progress)
    for number in numbers:
        tell(number)
    return meter.table(reading.model)
