"""The plan of a run: which items, in which batches, with which settings, on which model and data.

The batches come from all items and nothing else, so that a resumed run, a shard and a worker on another machine run
the very same batches as one uninterrupted run: rounding depends on what runs together, and nothing else may.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from heedmap.cut_text import cut_text
from heedmap.errors import DataError, OutOfRange
from heedmap.lab.data import BadRows
from heedmap.lab.experiment import Experiment, Item
from heedmap.lab.settings import Settings
from heedmap.whole_numbers import whole_number

_LONGEST = 120
"""Characters of a value that differs, in an error."""

LIKE_LENGTH = 1.25
"""Items run together while the longest is no longer than this many times the shortest."""

SHORT = 80
"""Items of up to so many characters are of like length."""


@dataclass(frozen=True)
class Part:
    """What one experiment of a run measures.

    Attributes:
        experiment: what runs.
        settings: its settings.
        items: all items of the whole run, whichever shard this is.
        batches: places in `items` of those that run together, in the order they run.
        skipped: the bad rows of the data that were left out, where that was asked for.
    """

    experiment: Experiment
    settings: Settings
    items: Sequence[Item]
    batches: list[list[int]]
    skipped: BadRows = field(default_factory=BadRows)

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.experiment.name

    def of_shard(self, shard: Shard) -> list[list[Item]]:
        """The batches of one shard: every n-th, so that each has short and long ones."""
        return [[self.items[place] for place in batch] for batch in self.batches[shard.number - 1 :: shard.of]]

    def to_json(self) -> dict[str, Any]:
        """What must be the same for rows to belong together."""
        return {
            "experiment": self.name,
            "settings": self.settings.to_json(),
            "items": len(self.items),
            "items_sha256": items_sha256(self.items),
        }


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several equal shares of a run.

    Attributes:
        number: from 1.
        of: how many shards there are.
    """

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that `2/3` names.

        Raises:
            OutOfRange: it is not of this form, or there is no such shard.

        Example:
            >>> Shard.parse("2/3")
            Shard(number=2, of=3)
        """
        number, of = (whole_number(part) for part in text.partition("/")[::2])
        if number is None or of is None or not 1 <= number <= of:
            raise OutOfRange(f"{text!r} is no shard: give NUMBER/OF such as 1/4 (the first of four) or 4/4 (the last)")
        return cls(number, of)

    @property
    def is_all(self) -> bool:
        """Whether it is the whole run."""
        return self.of == 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


ALL = Shard()
"""The whole run."""


def make_part(
    experiment: Experiment,
    settings: Settings,
    items: Sequence[Item],
    batch_size: int,
    skipped: BadRows | None = None,
) -> Part:
    """Put items of like length together.

    Raises:
        DataError: there are no items, or two have one id.
        OutOfRange: a batch of less than one item.
    """
    if batch_size < 1:
        raise OutOfRange(f"a batch of {batch_size} items was asked for: take 1 or more")
    if not items:
        raise DataError(
            f"the data hold nothing that {experiment.name} can measure: leave --data out to see it on what is built in"
        )
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"two items have the id {item.id!r}: ids must differ, or nothing could be counted once")
        seen.add(item.id)
    return Part(experiment, settings, items, _batches(items, batch_size), skipped or BadRows())


def _batches(items: Sequence[Item], batch_size: int) -> list[list[int]]:
    """Places of items that run together, shortest first; equal lengths in the order of their ids."""
    batches: list[list[int]] = []
    for place in sorted(range(len(items)), key=lambda place: (items[place].length, items[place].id)):
        shortest = items[batches[-1][0]].length if batches else 0
        fits = items[place].length <= max(shortest * LIKE_LENGTH, SHORT)
        if batches and fits and len(batches[-1]) < batch_size:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


def items_sha256(items: Sequence[Item]) -> str:
    """The hash of all items, whatever order they stand in.

    Example:
        >>> one, two = Item("a", 3, "The"), Item("b", 3, "cat")
        >>> items_sha256([one, two]) == items_sha256([two, one]) != items_sha256([one])
        True
    """
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda item: item.id):
        content = asdict(item.content) if is_dataclass(item.content) else item.content  # type: ignore[arg-type]
        digest.update(json.dumps([item.id, content], ensure_ascii=True, sort_keys=True).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In words, what differs between two JSON objects, nested ones by their path.

    Example:
        >>> differences({"settings": {"seed": 1}}, {"settings": {"seed": 2}})
        ['settings.seed was 1 and is 2']
    """
    found = []
    for name in dict.fromkeys([*one, *other]):
        before, after = one.get(name), other.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += [f"{name}.{line}" for line in differences(before, after)]
        elif before != after:
            found.append(f"{name} was {cut_text(str(before), _LONGEST)} and is {cut_text(str(after), _LONGEST)}")
    return found
