"""The table of statistics: each can be shown everywhere, and an unknown one is named."""

from __future__ import annotations

import pytest

from heedmap.drawing.statistics import WHOLE_PART
from heedmap.errors import OutOfRange
from heedmap.reading.statistics_columns import COLUMNS, chosen_columns


def test_every_statistic_can_be_told_apart_and_shown() -> None:
    for part in ("title", "heading", "says"):
        assert len({getattr(column, part) for column in COLUMNS.values()}) == len(COLUMNS), part
    assert {column.unit for column in COLUMNS.values()} == set(WHOLE_PART)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(OutOfRange, match="there is no statistic 'fist': take first, itself, previous"):
        chosen_columns(["fist"])
