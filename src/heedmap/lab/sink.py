"""The experiment `sink`: how much of the attention goes to the first token, and is it the place or the word?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model


@dataclass(frozen=True, kw_only=True)
class SinkSettings(Settings):
    """What `sink` can be told."""

    controls: bool = setting(True, "Also run the controls: another first word, a begin-of-text token, words before.")
    other_word: str = setting("Perhaps", "What the first word becomes in the first control.")
    before: str = setting("By the way,", "What is put before the sentence in the last control.")
    times_even: float = setting(2.0, "A sink has at least so many times the share that an even look gives.", least=1)
    positions: int = setting(512, "At most so many positions of a text count, evenly spread.", least=1)


class Sink:
    """See the module."""

    name: ClassVar[str] = "sink"
    verdicts: ClassVar[tuple[str, ...]] = ("sink", "no sink", "cannot tell")
    figures: ClassVar[tuple[str, ...]] = spelled(
        "{,layer*.}{median,lower_quartile,upper_quartile} even.median times_even median_of_layers layer*.head*.median",
        "best.layer positions curve.* follows {marker,shifted,other}.{place,word,difference}",
    )
    Settings: ClassVar[type[Settings]] = SinkSettings

    def items(self, settings: SinkSettings, data: DataSource) -> Sequence[Item]:
        """The sentences."""
        return [Item(sentence.id, len(sentence.text), sentence) for sentence in data.sentences()]

    def measure(self, model: Model, items: Sequence[Item], settings: SinkSettings) -> Iterator[Row]:
        """The shares at every position, and their means in the controls (`other.place`, `shifted.word` ...)."""
        from heedmap.lab.sink_measure import CONTROLS, measure_controls, measure_sentences, sentence_and_controls

        asked = (settings.special_tokens, settings.other_word, settings.before)
        variants = [sentence_and_controls(model, item.content.text, *asked) for item in items]
        rows = measure_sentences(model, [one["itself"] for one in variants], settings.positions)
        for name in CONTROLS if settings.controls else ():
            having = [number for number, one in enumerate(variants) if name in one]
            found = measure_controls(model, [variants[number][name] for number in having]) if having else []
            for number, shares in zip(having, found, strict=True):
                rows[number].update({f"{name}.{key}": values for key, values in shares.items()})
        layers = np.array([layer.number for layer in model.layers], np.int32)
        for item, row in zip(items, rows, strict=True):
            yield {"family": item.content.family, "text": item.content.text, "layers": layers, **row}

    def conclude(self, rows: Rows, settings: SinkSettings) -> Finding:
        """Quartiles over positions, with intervals over sentences; see `heedmap.lab.sink_conclude`."""
        from heedmap.lab.sink_conclude import conclude

        return conclude(rows, settings)
