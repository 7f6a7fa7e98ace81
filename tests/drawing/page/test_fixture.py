"""The numbers that the page's own tests are held to are Python's, as it computes them now."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.drawing.page.making import FIXTURE, fixture

HINT = "write it again: python -m tests.drawing.page.making"
# Other processors add up in another order: float32 work on scores around 30.
TOLERANCE = 2e-5


def numbers(value: Any) -> Any:
    """Every number of a nested list; what is no number as it stands."""
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return np.nan if value in (None, "NaN") else value


def test_the_fixture_is_fresh() -> None:
    stored, fresh = json.loads(FIXTURE.read_text(encoding="utf-8")), json.loads(json.dumps(fixture()))
    assert len(stored["blocks"]) == len(fresh["blocks"]), HINT
    assert stored["header"]["texts"] == fresh["header"]["texts"], HINT
    assert stored["header"]["rules"] == fresh["header"]["rules"], HINT
    for kind in ("rows", "tiles", "vectors"):
        assert len(stored[kind]) == len(fresh[kind]), HINT
        for old, new in zip(stored[kind], fresh[kind], strict=True):
            for name, value in new.items():
                if isinstance(value, list):
                    close = np.isclose(numbers(old[name]), numbers(value), rtol=0, atol=TOLERANCE, equal_nan=True)
                    assert close.all(), HINT
                elif not isinstance(value, float):
                    assert old[name] == value, HINT
