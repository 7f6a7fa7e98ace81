"""What was asked for: experiments, model, data and how to run them; a report keeps it, so that it can run again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap.json_form import Every, Maybe, Only, check_form
from heedmap.lab.data import BadRows
from heedmap.lab.experiment import DataSource
from heedmap.lab.plan import ALL, Part, Shard, make_part
from heedmap.lab.registry import experiment
from heedmap.lab.settings import Settings

if TYPE_CHECKING:
    from heedmap.reading.model import Model

BATCH_SIZE = 8

_FORM = {
    "name": str,
    "settings": Every(dict),
    "model": Only(
        {
            "name": str,
            "revision": Maybe(str),
            "dtype": Maybe(str),
            "device": Maybe(str),
            "allow_random": Maybe(bool),
        }
    ),
    "data": (str, type(None)),
    "form": (str, type(None)),
    "skip_bad": bool,
    "limit": (int, type(None)),
    "batch_size": int,
    "shard": str,
}


@dataclass(frozen=True)
class Request:
    """A run as it was asked for.

    Attributes:
        name: "sink", "causal" ..., or "all".
        settings: of each experiment, by its name, in the order they run.
        model: name, revision, dtype and device, as `heedmap.load` takes them.
        data: the data file; None for what is built in.
        form: its format; None finds it.
        skip_bad: leave out bad rows, and items that cannot be measured.
        limit: only the first so many items.
        batch_size: how many items run together at most.
        shard: which share of the items.
    """

    name: str
    settings: Mapping[str, Settings]
    model: Mapping[str, Any] = field(default_factory=lambda: {"name": "smollm2"})
    data: Path | None = None
    form: str | None = None
    skip_bad: bool = False
    limit: int | None = None
    batch_size: int = BATCH_SIZE
    shard: Shard = ALL

    def load(self) -> Model:
        """Load the model.

        Raises:
            ModelError: it cannot be found, fetched, loaded or read.
        """
        from heedmap.reading.loading import load

        given = dict(self.model)
        return load(given.pop("name"), **given)

    def parts(self) -> list[Part]:
        """What each experiment measures.

        Raises:
            DataError: a bad row, or nothing to measure.
            FileError: the data cannot be read.
            OutOfRange: no such experiment.
        """
        return [self._part(name, settings) for name, settings in self.settings.items()]

    def _part(self, name: str, settings: Settings) -> Part:
        """What one experiment measures; each reads the data anew, and its bad rows with them."""
        one, skipped = experiment(name), BadRows()
        source = DataSource(self.data, self.form, skipped if self.skip_bad else None)
        items = one.items(settings, source)[: self.limit]
        return make_part(one, settings, items, self.batch_size, skipped)

    def to_json(self) -> dict[str, Any]:
        """The request as JSON."""
        return {
            "name": self.name,
            "settings": {name: settings.to_json() for name, settings in self.settings.items()},
            "model": dict(self.model),
            "data": None if self.data is None else str(self.data),
            "form": self.form,
            "skip_bad": self.skip_bad,
            "limit": self.limit,
            "batch_size": self.batch_size,
            "shard": str(self.shard),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Request:
        """The request that `to_json` wrote.

        Raises:
            FileError: it is of another form.
            OutOfRange: an experiment that is not there any more.
            NumbersError: a setting that is not there any more.
        """
        check_form(given, _FORM, "the request")
        settings = {name: experiment(name).Settings.from_json(values) for name, values in given["settings"].items()}
        return cls(
            name=given["name"],
            settings=settings,
            model=given["model"],
            data=None if given["data"] is None else Path(given["data"]),
            form=given["form"],
            skip_bad=given["skip_bad"],
            limit=given["limit"],
            batch_size=given["batch_size"],
            shard=Shard.parse(given["shard"]),
        )
