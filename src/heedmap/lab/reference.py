"""The experiment `reference`: does the model know which noun a pronoun means?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from heedmap.errors import NumbersError
from heedmap.lab.data import Pair
from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model

WORDINGS = (
    "{What} does '{word}' refer to? Answer: the",
    "In this sentence, '{word}' means the",
    "Question: {what} is '{word}'? Answer: It is the",
)
"""Ways to ask; the first is the main one. Where the nouns take no article, the last "the" is left out."""


@dataclass(frozen=True, kw_only=True)
class ReferenceSettings(Settings):
    """What `reference` can be told."""

    wordings: tuple[str, ...] = setting(
        WORDINGS, "How to ask after the text, the main way first; {word} is the pronoun, {what} who or what."
    )
    other_order: bool = setting(True, "Also measure the texts in the other noun order, where it is known.")
    baseline: bool = setting(True, "Also measure the texts without the words that decide.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.wordings:
            raise NumbersError("wordings: expected one way to ask at least, such as \"What is '{word}'? It is the\"")
        for wording in self.wordings:
            try:
                wording.format(word="it", what="what", What="What")
            except (KeyError, IndexError, ValueError) as error:
                raise NumbersError(
                    f"wordings: {wording!r} has something else in braces than {{word}}, {{what}} or {{What}}"
                ) from error


class Reference:
    """See the module."""

    name: ClassVar[str] = "reference"
    verdicts: ClassVar[tuple[str, ...]] = ("resolves", "not shown", "cannot tell")
    figures: ClassVar[tuple[str, ...]] = spelled(
        "items pairs always_one_noun always.{a,b,first,second}",
        "{ask,whole,part}.{both_right,same_noun,right_way,wrong_way,sign_p,corrected_p}",
        "{ask,whole,part}.{,lowest_,highest_}{accuracy,difference}",
        "{ask,whole,part}.no_clue.{accuracy,kept,strength,first}",
    )
    Settings: ClassVar[type[Settings]] = ReferenceSettings

    def items(self, settings: ReferenceSettings, data: DataSource) -> Sequence[Item]:
        """The pairs, and the questions without a twin."""
        return [
            Item(unit.id, len(unit.texts[0] if isinstance(unit, Pair) else unit.text), unit) for unit in data.units()
        ]

    def measure(self, model: Model, items: Sequence[Item], settings: ReferenceSettings) -> Iterator[Row]:
        """The log-odds of noun A against noun B, in every version, order and way to ask."""
        from heedmap.lab.reference_measure import measure

        return measure(model, [item.content for item in items], settings)

    def conclude(self, rows: Rows, settings: ReferenceSettings) -> Finding:
        """Differences, accuracies and their tests; see `heedmap.lab.reference_conclude`."""
        from heedmap.lab.reference_conclude import conclude

        return conclude(rows, settings)
