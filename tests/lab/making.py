"""A made-up experiment that needs no model: its numbers depend on its items and on the batch they run in."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from heedmap.errors import TextError
from heedmap.lab.experiment import DataSource, Figure, Finding, Item, Table
from heedmap.lab.report import Report
from heedmap.lab.request import Request
from heedmap.lab.rows import Row, Rows
from heedmap.lab.run import RunPlace, perform
from heedmap.lab.settings import Settings, setting
from heedmap.reading.progress import Progress, silent

PAIR: dict[str, Any] = {
    "id": "cup",
    "family": "size",
    "texts": ["The cup is not in the bag as it is big.", "The cup is not in the bag as it is small."],
    "word": "it",
    "candidates": ["the cup", "the bag"],
    "answers": [0, 1],
}

TOY = ("tests.lab.making:Toy", "What do the tests need?")
"""What the registry says of it, while a test needs it; it is no experiment of the lab."""


@dataclass(frozen=True, kw_only=True)
class ToySettings(Settings):
    """What the made-up experiment can be told."""

    items: int = setting(40, "How many items there are.", least=0)
    pause: float = setting(0.0, "Seconds that a batch takes.", least=0)
    bad: str | None = setting(None, "The item that cannot be measured.")


class Toy:
    """Items `i000`, `i001` ...; their rows hold numbers that only the same batches can give."""

    name: ClassVar[str] = "toy"
    verdicts: ClassVar[tuple[str, ...]] = ("fine", "not fine")
    figures: ClassVar[tuple[str, ...]] = ("mean", "together", "numbers", "best", "absent", "true", "word")
    Settings: ClassVar[type[Settings]] = ToySettings

    def items(self, settings: ToySettings, data: DataSource) -> Sequence[Item]:
        return [Item(f"i{number:03}", 50 + (number * 37) % 100, f"text {number}") for number in range(settings.items)]

    def measure(self, model: Any, items: Sequence[Item], settings: ToySettings) -> Iterator[Row]:
        time.sleep(settings.pause)
        together = sum(item.length for item in items)
        for item in items:
            if item.id in (settings.bad, model.fails):
                raise TextError(f"{item.content} cannot be read")
            model.measured.append(item.id)
            numbers = np.random.default_rng(item.length).normal(size=(2, item.length % 5))
            yield {"text": item.content, "together": together, "numbers": numbers, "share": item.length / 150}

    def conclude(self, rows: Rows, settings: ToySettings) -> Finding:
        drawn = np.random.default_rng(settings.seed).integers(0, len(rows), (settings.draws, len(rows)))
        means = rows["share"][drawn].mean(1)
        low, high = np.quantile(means, (0.025, 0.975))
        figures = {
            "toy.mean": Figure(float(rows["share"].mean()), (float(low), float(high)), len(rows), "mean share"),
            "toy.together": Figure(int(rows["together"].sum()), None, len(rows), "sum over batches"),
            "toy.numbers": Figure(float(sum(one.sum() for one in rows.arrays("numbers"))), None, len(rows), "sum"),
            "toy.best": Figure("i003", None, len(rows), "the best item", searched=True),
            "toy.absent": Figure(float("nan"), None, None, "a number that is none"),
            "toy.true": Figure(True, None, len(rows), "whether it is"),
        }
        table = Table("Items", ("item", "share"), list(zip(rows.ids, rows["share"].tolist(), strict=True)))
        return Finding(figures, "fine", "It is fine.", ["that it runs"], ["anything else"], {"items": table})


@dataclass
class FakeModel:
    """What a run asks of a model, without one."""

    sha256: str = "f" * 64
    measured: list[str] = field(default_factory=list)
    fails: str | None = None
    tokenizer: None = None

    def describe(self) -> dict[str, Any]:
        return {
            "name": "fake", "class": "Fake", "kind": "wrapped", "location": "nowhere", "revision": None,
            "sha256": self.sha256, "dtype": "float32", "device": "cpu", "layers": 1, "heads": 1, "key_value_heads": 1,
        }  # fmt: skip


def toy_request(**options: Any) -> Request:
    """A request for the made-up experiment; its settings by name, everything else as `Request` takes it."""
    own = {option.name for option in ToySettings.options()}
    settings = ToySettings(**{name: options.pop(name) for name in list(options) if name in own})
    return Request("toy", {"toy": settings}, {"name": "fake"}, **{"batch_size": 4, **options})


def run_toy(
    folder: Path,
    *,
    model: FakeModel | None = None,
    resume: bool = False,
    notes: list[str] | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Report | None:
    """Run the made-up experiment into a folder."""
    told = [] if notes is None else notes
    place = RunPlace(toy_request(**options), cast(Any, model or FakeModel()), folder, progress, told.append)
    return perform(place, resume=resume)


def measured_part(report: Report | None) -> dict[str, Any]:
    """What two runs must have in common: all of a report but times and paths."""
    assert report is not None
    found = report.to_json()
    run = found.pop("run")
    return {**found, "data": run["data"], "seeds": run["seeds"], "model": run["model"]}
