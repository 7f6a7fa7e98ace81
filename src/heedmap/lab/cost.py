"""`heedmap lab cost`: what a long prompt costs here, measured beside what the configuration predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from heedmap.errors import NumbersError
from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model

AS_PREDICTED, OTHERWISE, CANNOT_TELL = "as predicted", "otherwise", "cannot tell"


@dataclass(frozen=True, kw_only=True)
class CostSettings(Settings):
    """What `cost` can be told."""

    lengths: tuple[int, ...] = setting((128, 256, 512, 1024, 2048), "Tokens of the prompts.", least=2)
    repeats: int = setting(3, "How often each length is measured; the median counts.", least=1)
    further: int = setting(4, "Tokens that are written after each prompt.", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lengths:
            raise NumbersError("lengths: expected one at least, such as 1024")


class Cost:
    """Times the reading and writing of prompts of random tokens."""

    name: ClassVar[str] = "cost"
    verdicts: ClassVar[tuple[str, ...]] = (AS_PREDICTED, OTHERWISE, CANNOT_TELL)
    figures: ClassVar[tuple[str, ...]] = spelled(
        "length*.{first,next,cache,peak,attention_seconds,predicted_cache,predicted_attention,predicted_rest}",
        "{power,tenfold}.* fit.{linear,square} crossing.{predicted,fitted} writing_to_reading",
    )
    Settings: ClassVar[type[Settings]] = CostSettings

    def items(self, settings: CostSettings, data: DataSource) -> Sequence[Item]:
        """Each length as often as it is measured; tokens are random, and no data is needed."""
        del data
        return [
            Item(f"{length:08d}-{repeat}", length, {"length": length, "repeat": repeat})
            for repeat in range(settings.repeats)
            for length in sorted(set(settings.lengths))
        ]

    def measure(self, model: Model, items: Sequence[Item], settings: CostSettings) -> Iterator[Row]:
        """Times, memory and cache of one prompt at a time; see `cost_measure`."""
        from heedmap.lab.cost_measure import measure

        for item in items:
            yield measure(model, item.content["length"], item.content["repeat"] + settings.seed, settings.further)

    def conclude(self, rows: Rows, settings: CostSettings) -> Finding:
        """Growth, fits and crossings; see `cost_conclude`."""
        from heedmap.lab.cost_conclude import conclude

        return conclude(rows, settings)
