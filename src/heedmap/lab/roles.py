"""`heedmap lab roles`: heads that look at the token before, the first, themselves, or where a token stood before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.roles_names import VERDICTS
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model


@dataclass(frozen=True, kw_only=True)
class RolesSettings(Settings):
    """What `roles` can be told."""

    sequences: int = setting(20, "Sequences of random tokens; the mean is over them.", least=2)
    length: int = setting(50, "Random tokens before they repeat.", least=4)


class Roles:
    """Scores every head on random tokens that repeat, and on as many that do not."""

    name: ClassVar[str] = "roles"
    verdicts: ClassVar[tuple[str, ...]] = VERDICTS
    figures: ClassVar[tuple[str, ...]] = spelled(
        "{previous,first,self,duplicate,induction}.{best,second,chosen,score,unrepeated,even,layer*.head*}",
        "{duplicate,induction}.{p,gain,chance}",
    )
    Settings: ClassVar[type[Settings]] = RolesSettings

    def items(self, settings: RolesSettings, data: DataSource) -> Sequence[Item]:
        """The numbers of the sequences: tokens are drawn from the model's own vocabulary, and no data is needed."""
        del data
        return [
            Item(f"sequence-{number:04d}", 2 * settings.length, {"number": number + settings.seed * 1_000_003})
            for number in range(settings.sequences)
        ]

    def measure(self, model: Model, items: Sequence[Item], settings: RolesSettings) -> Iterator[Row]:
        """The scores of all heads, see `heedmap.lab.roles_measure`."""
        from heedmap.lab.random_tokens import random_tokens
        from heedmap.lab.roles_measure import measure_sequence

        for item in items:
            number = item.content["number"]
            drawn = random_tokens(model, settings.length, number, special_tokens=settings.special_tokens)
            yield measure_sequence(model, drawn)

    def conclude(self, rows: Rows, settings: RolesSettings) -> Finding:
        """The best heads of each role, see `heedmap.lab.roles_conclude`."""
        from heedmap.lab.roles_conclude import conclude

        return conclude(rows, settings)
