"""`heedmap lab dilution`: a fact's share, and its answer's odds, as irrelevant text grows around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from heedmap.errors import NumbersError
from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model

DILUTED, NOT_DILUTED, CANNOT_TELL = "diluted", "not diluted", "cannot tell"

NAMES = ("Maria", "Jonas", "Aisha", "Peter", "Helen", "Oscar", "Julia", "Victor", "Nadia", "Simon", "Clara", "Felix")
WORDS = (
    "tiger",
    "candle",
    "river",
    "pepper",
    "violin",
    "castle",
    "rocket",
    "garden",
    "window",
    "button",
    "forest",
    "basket",
)
"""Facts are made of these: the password of a name is a word; another name's word is the wrong answer."""


@dataclass(frozen=True, kw_only=True)
class DilutionSettings(Settings):
    """What `dilution` can be told."""

    amounts: tuple[int, ...] = setting((0, 128, 512, 2048), "Tokens of irrelevant text, about.", least=0)
    facts: int = setting(12, f"Facts that are asked for, {len(NAMES)} at most.", least=2)
    place: str = setting("middle", "Where the fact stands in the text.", choices=("begin", "middle", "end"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.amounts)) < 2:
            raise NumbersError("amounts: expected two different ones at least, such as 0 and 512")
        if self.facts > len(NAMES):
            raise NumbersError(f"facts: expected {len(NAMES)} at most, found {self.facts}")


@dataclass(frozen=True, slots=True)
class Hidden:
    """A fact in irrelevant text.

    Attributes:
        fact: its number.
        amount: tokens of irrelevant text, about.
        filler: the irrelevant sentences, in the order in which they are taken.
    """

    fact: int
    amount: int
    filler: tuple[str, ...]


class Dilution:
    """See the module."""

    name: ClassVar[str] = "dilution"
    verdicts: ClassVar[tuple[str, ...]] = (DILUTED, NOT_DILUTED, CANNOT_TELL)
    figures: ClassVar[tuple[str, ...]] = spelled(
        "head lost {share,odds}_slope amount*.{tokens,share,even,best,odds,gain,right}"
    )
    Settings: ClassVar[type[Settings]] = DilutionSettings

    def items(self, settings: DilutionSettings, data: DataSource) -> Sequence[Item]:
        """Each fact in each amount of text; the irrelevant sentences are those of the data, shuffled for each fact."""
        sentences = [sentence.text for sentence in data.sentences()]
        rng = np.random.default_rng(settings.seed)
        orders = [tuple(sentences[n] for n in rng.permutation(len(sentences))) for _ in range(settings.facts)]
        return [
            Item(f"fact-{fact:02d}-{amount:07d}", 40 + amount, Hidden(fact, amount, orders[fact]))
            for fact in range(settings.facts)
            for amount in sorted(set(settings.amounts))
        ]

    def measure(self, model: Model, items: Sequence[Item], settings: DilutionSettings) -> Iterator[Row]:
        """The share on the fact from the place that answers, and the answer's log-odds; see `dilution_measure`."""
        from heedmap.lab.dilution_measure import measure

        for item in items:
            yield measure(model, item.content, settings)

    def conclude(self, rows: Rows, settings: DilutionSettings) -> Finding:
        """How share and odds change with the amount of text."""
        from heedmap.lab.dilution_conclude import conclude

        return conclude(rows, settings)
