"""`heedmap lab compare`: two texts, two revisions or two models, head by head: where do they really differ?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from heedmap.errors import FileError, NumbersError
from heedmap.given_files import read_bytes
from heedmap.lab.data import Contrast
from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting

if TYPE_CHECKING:
    from heedmap.reading.model import Model

DIFFER, NO_DIFFERENCE, CANNOT_TELL = "differ", "no difference found", "cannot tell"

STATISTICS = ("first", "itself", "previous", "entropy", "distance")


@dataclass(frozen=True, kw_only=True)
class CompareSettings(Settings):
    """What `compare` can be told; without another model or two texts, the versions of each pair are compared."""

    other: str | None = setting(None, "Another model with the same tokenizer: name, Hub id, folder or .gguf.")
    other_revision: str | None = setting(None, "Another revision, of the other model or of the same one.")
    first: str | None = setting(None, "File with one text; goes with --second: the two are compared by sentences.")
    second: str | None = setting(None, "File with the other text.")
    statistics: tuple[str, ...] = setting(
        STATISTICS, "What is compared.", choices=(*STATISTICS, "special", "normalised_entropy", "effective_tokens")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.first is None) != (self.second is None):
            raise NumbersError("first and second: expected both texts, or none of them")
        if self.first is not None and self.of_models:
            raise NumbersError("first and second: expected no texts where models are compared (give --data)")
        if not self.statistics:
            raise NumbersError("statistics: expected one at least, such as first")

    @property
    def of_models(self) -> bool:
        """Whether two models, or two revisions of one, are compared."""
        return self.other is not None or self.other_revision is not None


class Compare:
    """See the module."""

    name: ClassVar[str] = "compare"
    verdicts: ClassVar[tuple[str, ...]] = (DIFFER, NO_DIFFERENCE, CANNOT_TELL)
    figures: ClassVar[tuple[str, ...]] = spelled(
        "units tests differing p surest surest_difference before control *.{difference,differing}"
    )
    Settings: ClassVar[type[Settings]] = CompareSettings

    def items(self, settings: CompareSettings, data: DataSource) -> Sequence[Item]:
        """Sentences for two models; the two texts; else pairs of texts that part somewhere."""
        if settings.first is not None and settings.second is not None:
            texts = _read(settings.first), _read(settings.second)
            return [Item("texts", len(texts[0]), Contrast("texts", "texts", texts))]
        if settings.of_models:
            return [Item(one.id, len(one.text), one) for one in data.sentences()]
        return [Item(one.id, len(one.texts[0]), one) for one in data.contrasts()]

    def measure(self, model: Model, items: Sequence[Item], settings: CompareSettings) -> Iterator[Row]:
        """The statistics of every head in both, over the tokens that both have; see `compare_measure`."""
        from heedmap.lab.compare_measure import measure_models, measure_texts

        for item in items:
            if isinstance(item.content, Contrast):
                yield measure_texts(model, item.content, settings)
            else:
                yield measure_models(model, item.content.text, settings)

    def conclude(self, rows: Rows, settings: CompareSettings) -> Finding:
        """Which heads and statistics differ, corrected for how many were looked at."""
        from heedmap.lab.compare_conclude import conclude

        return conclude(rows, settings)


def _read(path: str) -> str:
    """A text from a file.

    Raises:
        FileError: it cannot be read.
    """
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read {path}: {error}") from None
