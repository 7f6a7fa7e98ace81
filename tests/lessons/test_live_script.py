"""The twenty lines of transformers that lesson 8 explains: they are twenty, and give Heedmap's own row."""

from __future__ import annotations

import numpy as np
import pytest

from heedmap.lessons.course import FOLDER
from heedmap.lessons.live import compute
from heedmap.lessons.live_script import output, source
from heedmap.reading.model import Model

TROPHY = "The trophy did not fit in the suitcase because it was too big."

ROUNDED = 6e-4
"""Three digits after the point, and what float32 kernels differ by."""


def test_the_twenty_lines_are_twenty() -> None:
    assert len(source("twenty_lines")) == 20
    assert compute("script-lines twenty_lines").value == 20
    assert compute("script twenty_lines").text.splitlines()[-1].startswith("20  ")
    lesson = (FOLDER / "08-read-a-real-model.md").read_text(encoding="utf-8")
    assert "::: live script twenty_lines" in lesson


@pytest.mark.slow
def test_a_row_is_that_of_transformers_eager(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedmap.lessons.live_model.load_once", lambda name, **options: smollm2)
    weights = compute(f'head-row "{TROPHY}" it').text.splitlines()
    by_hand = [line.rstrip() for line in output("twenty_lines").splitlines()]
    seen, later = by_hand[:11], by_hand[11:]
    assert [line.split() for line in later] == [[word, "0.000"] for word in ("was", "too", "big", ".")]
    assert [line.split()[0] for line in seen] == [line.split()[0] for line in weights[:-1]]
    np.testing.assert_allclose(
        [float(line.split()[1]) for line in seen], [float(line.split()[1]) for line in weights[:-1]], atol=0.0011
    )
    row = smollm2.read(TROPHY, layers=16).row("it", 16, 3)
    np.testing.assert_allclose([float(line.split()[1]) for line in seen], row.weights[row.allowed], atol=ROUNDED)
