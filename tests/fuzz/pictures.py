"""Pictures in six formats: drawn dot by dot, and damaged."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import SearchStrategy
from PIL import Image

from heedmap.reading.picture_input import as_pixels
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, with_sound
from tests.fuzz.target import GIBIBYTE, Target, answers

Dots = npt.NDArray[np.uint8]
_LOSSLESS: dict[str, dict[str, Any]] = {"PNG": {}, "BMP": {}, "TIFF": {}, "WEBP": {"lossless": True}}


def _file(dots: Dots, kind: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(dots).save(buffer, kind, **how)
    return buffer.getvalue()


def _sound() -> SearchStrategy[tuple[bytes, Dots]]:
    """Pictures in grey or colour, in formats that keep each dot, with the dots that must be read."""
    sizes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)
    drawn = hnp.arrays(np.uint8, sizes | sizes.map(lambda size: (*size, 3)))
    return st.tuples(drawn, st.sampled_from(sorted(_LOSSLESS))).map(
        lambda one: (_file(*one, **_LOSSLESS[one[1]]), one[0] if one[0].ndim == 3 else np.stack([one[0]] * 3, -1))
    )


def picture_cases() -> tuple[SearchStrategy[Any], Any]:
    """Sound pictures, and damaged ones; sizes in their headers too."""
    path = fresh_folder() / "picture"
    dots = np.random.default_rng(0).integers(0, 255, (9, 12, 3), dtype=np.uint8)
    files = [_file(dots, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")]

    def check(case: tuple[bytes, Dots | None]) -> None:
        content, expected = case
        path.write_bytes(content)
        with answers(sound=expected is not None):
            pixels = as_pixels(path)
        assert pixels.dtype == np.uint8
        assert pixels.ndim == 3
        assert expected is None or np.array_equal(pixels, expected)

    damage = st.sampled_from(files).flatmap(lambda content: damaged(content, 60))
    return with_sound(_sound(), st.tuples(damage, st.none())), check


TARGETS = (Target("pictures", "pictures in six formats, sound and damaged", picture_cases, 40, 5000, 2 * GIBIBYTE),)
