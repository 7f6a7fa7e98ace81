"""The experiment `heads`: is there a head in which the word looks at one noun rather than the other?"""

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


@dataclass(frozen=True, kw_only=True)
class HeadsSettings(Settings):
    """What `heads` can be told."""

    exchange: bool = setting(
        True, "Make the other noun order by exchanging the nouns where no text with the same meaning is given."
    )
    query_rule: str = setting(
        "mean",
        "For a word of several tokens: the mean of their rows, or the row of the last.",
        choices=("mean", "last"),
    )
    after: int = setting(8, "How many tokens after the words that decide are asked whether they follow them.", least=1)
    layer: int | None = setting(None, "With --head: a head that was chosen before, to be tested without a search.")
    head: int | None = setting(None, "See --layer.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.layer is None) != (self.head is None):
            raise NumbersError("layer and head: give both, to test one head, or neither, to search among all")


class Heads:
    """See the module."""

    name: ClassVar[str] = "heads"
    verdicts: ClassVar[tuple[str, ...]] = ("found", "not found", "cannot tell")
    figures: ClassVar[tuple[str, ...]] = spelled(
        "pairs families searched left_out exchanged versions_differ p chance asked.p",
        "best.{layer,head} {best,asked}.{effect,place_effect,order1,order2,per_token,same_noun}",
        "place.{layer,head,effect,noun_effect} clue.{after,at_word}.{p,chance,best.layer,best.head,best.effect}",
        "{,clue.after.,clue.at_word.}{held_out,held_out_swapped}.{layer,head,chosen_effect,effect,p,random_head}",
    )
    Settings: ClassVar[type[Settings]] = HeadsSettings

    def items(self, settings: HeadsSettings, data: DataSource) -> Sequence[Item]:
        """The pairs: in a causal model both versions give the same row at the word, so that a pair is one unit."""
        return [Item(pair.id, len(pair.texts[0]), pair) for pair in data.pairs()]

    def measure(self, model: Model, items: Sequence[Item], settings: HeadsSettings) -> Iterator[Row]:
        """The weights on both nouns, of the word and of the tokens after the words that decide."""
        from heedmap.lab.heads_measure import measure

        return measure(model, [item.content for item in items], settings)

    def conclude(self, rows: Rows, settings: HeadsSettings) -> Finding:
        """The best head against chance, and on pairs that did not choose it; see `heedmap.lab.heads_conclude`."""
        from heedmap.lab.heads_conclude import conclude

        return conclude(rows, settings)
