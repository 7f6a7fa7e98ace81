"""What a page is asked to show first and to carry."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from heedmap.drawing.page.fill import MEGABYTE, Carried
from heedmap.drawing.page.layers import PRECISIONS
from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.generation import Generation
from heedmap.reading.picture_input import Picture
from heedmap.reading.reading import Reading
from heedmap.whole_numbers import one_or_several

DEFAULT_MEGABYTES = 20.0
"""How large a file may grow where neither layers nor a size were asked for."""

Layers: TypeAlias = int | Collection[int] | None


@dataclass(frozen=True, slots=True)
class View:
    """What a page shows first and what it carries.

    Attributes:
        word: the word that looks, see `Tokens.find`; None chooses none.
        layer: from 0; None is the middle one.
        head: from 0; None is the mean over heads.
        layers: the layers to carry, from 0; None carries all that were read, as far as the size allows.
        steps: the layers whose four steps unfold; None is the one shown first.
        precision: "float16", or "float32" for all numbers.
        max_mb: megabytes that the file may have; None allows 20, and any size where `layers` are given.
        compare: another reading, to show where it differs.
        picture: of a reading of patches, the picture.
        generation: what the model wrote, where the reading is of a prompt and what was written after it.
    """

    word: str | None = None
    layer: int | None = None
    head: int | None = None
    layers: Layers = None
    steps: Layers = None
    precision: str = "float16"
    max_mb: float | None = None
    compare: Reading | None = None
    picture: Picture | None = None
    generation: Generation | None = None

    def carried(self) -> Carried:
        """Which layers the page carries, and how.

        Raises:
            ReadingError: another precision, or a size that is no number.
        """
        if self.precision not in PRECISIONS:
            raise ReadingError(f"precision {self.precision!r} is not known: take {' or '.join(PRECISIONS)}")
        if self.max_mb is not None and not math.isfinite(self.max_mb):
            raise OutOfRange(f"max_mb is {self.max_mb}: give a number of megabytes, such as 20")
        megabytes = DEFAULT_MEGABYTES if self.max_mb is None and self.layers is None else self.max_mb
        budget = None if megabytes is None else int(megabytes * MEGABYTE)
        return Carried(
            numbers_of(self.layers), numbers_of(self.steps), self.precision, budget, strict=self.max_mb is not None
        )


def numbers_of(layers: Layers) -> set[int] | None:
    """Layers as a set; None stays None.

    Example:
        >>> numbers_of(3), numbers_of(None)
        ({3}, None)
    """
    return None if layers is None else set(one_or_several(layers))
