"""`heedmap lab matters`: is a head a reason for an answer? It is taken away, and so is every other head beside it."""

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

REASON, NO_REASON, CANNOT_TELL = "a reason", "no reason found", "cannot tell"


@dataclass(frozen=True, kw_only=True)
class MattersSettings(Settings):
    """What `matters` can be told."""

    layer: int | None = setting(None, "The layer, from 0; the middle one when not given.", least=0)
    head: int | None = setting(None, "The head, from 0; else the one that points most at one of the nouns.", least=0)
    edit: str = setting(
        "remove", "Remove the head, or forbid the pronoun in it to look at the nouns.", choices=("remove", "forbid")
    )
    by: str = setting(
        "mean",
        "What stands in for a removed head: its mean over the means' texts, zero (off the distribution), or what it "
        "gave in the pair's other version.",
        choices=("mean", "zero", "text"),
    )
    means: str | None = setting(None, "File of means (HeadMeans.save); else those of the built-in sentences.")
    scatter: int = setting(6, "In so many pairs every head of every layer is taken away; 0 leaves this out.", least=0)
    wording: str = setting(
        "{What} does '{word}' refer to? Answer: the", "How to ask; {word} is the pronoun, {what} who or what."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self.wording.format(word="it", what="what", What="What")
        except (KeyError, IndexError, ValueError) as error:
            raise NumbersError(
                f"wording: {self.wording!r} has something else in braces than {{word}}, {{what}} or {{What}}"
            ) from error


@dataclass(frozen=True, slots=True)
class Task:
    """A pair, and whether all heads of the model are taken away in it."""

    pair: Pair
    all_heads: bool


class Matters:
    """See the module."""

    name: ClassVar[str] = "matters"
    verdicts: ClassVar[tuple[str, ...]] = (REASON, NO_REASON, CANNOT_TELL)
    figures: ClassVar[tuple[str, ...]] = spelled(
        "head odds effect size rank direct others others_largest largest largest_size layer layer_size",
        "layer*.head* correlation.{word,last,direct}",
    )
    Settings: ClassVar[type[Settings]] = MattersSettings

    def items(self, settings: MattersSettings, data: DataSource) -> Sequence[Item]:
        """The pairs that can be asked about; those in which all heads are taken away come from as many families."""
        pairs = [pair for pair in data.pairs() if not pair.blank]
        chosen = {pair.id for pair in _spread(pairs, settings.scatter)}
        return [
            Item(pair.id, len(pair.texts[0]) + 1000 * (pair.id in chosen), Task(pair, pair.id in chosen))
            for pair in pairs
        ]

    def measure(self, model: Model, items: Sequence[Item], settings: MattersSettings) -> Iterator[Row]:
        """The log-odds with and without each head, weights and direct contributions; see `matters_measure`."""
        from heedmap.lab.matters_measure import measure

        for item in items:
            yield measure(model, item.content, settings)

    def conclude(self, rows: Rows, settings: MattersSettings) -> Finding:
        """The head's effect against the others of its layer, and weights against effects."""
        from heedmap.lab.matters_conclude import conclude

        return conclude(rows, settings)


def _spread(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """Some pairs, one from each family in turn."""
    families: dict[str, list[Pair]] = {}
    for pair in pairs:
        families.setdefault(pair.family, []).append(pair)
    longest = max((len(of) for of in families.values()), default=0)
    in_turn = [of[place] for place in range(longest) for of in families.values() if place < len(of)]
    return in_turn[:count]
