"""The experiment `causal`: does a word see later words? Two texts that part somewhere must agree before that point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model


@dataclass(frozen=True, kw_only=True)
class CausalSettings(Settings):
    """What `causal` can be told."""

    roundings: float = setting(
        8.0,
        "How many times what one rounding of the word vectors makes of a layer still counts as equal.",
        least=0,
    )


class Causal:
    """See the module."""

    name: ClassVar[str] = "causal"
    verdicts: ClassVar[tuple[str, ...]] = ("causal", "not causal", "not causal, as built", "cannot tell")
    figures: ClassVar[tuple[str, ...]] = spelled(
        "pairs usable same_length leaking seeing {,weights.,states.,logits.}largest_{before,after}",
        "layer*.{states,weights}_{before,after} layer*.head*.weights_{before,after}",
    )
    Settings: ClassVar[type[Settings]] = CausalSettings

    def items(self, settings: CausalSettings, data: DataSource) -> Sequence[Item]:
        """Two texts each that part somewhere."""
        return [Item(one.id, max(map(len, one.texts)), one) for one in data.contrasts()]

    def measure(self, model: Model, items: Sequence[Item], settings: CausalSettings) -> Iterator[Row]:
        """The largest differences before and after the texts part; each text runs alone, as it would anywhere."""
        from heedmap.lab.causal_measure import differences

        for item in items:
            yield {"family": item.content.family, **differences(model, item.content.texts, settings.special_tokens)}

    def conclude(self, rows: Rows, settings: CausalSettings) -> Finding:
        """The largest difference of all pairs, and what it means; see `heedmap.lab.causal_conclude`."""
        from heedmap.lab.causal_conclude import conclude

        return conclude(rows, settings)
